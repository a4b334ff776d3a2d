//! § 8: the session and the health routes.

use holdfast_tests::server::Start;

use crate::support::{Api, Ask};

#[tokio::test]
async fn the_session_says_who_is_asking_and_how() {
    let mut api = Api::start().await;
    let answer = api.get("/api/v1/session").await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let session = answer.json();
    assert_eq!(session["signed_in"], true);
    assert!(session["principal"]["name"].is_string());
    let owner = session["owner"].as_str().unwrap();
    let (principal, archive) = owner.split_once('.').unwrap();
    assert!(!principal.is_empty() && !archive.is_empty() && !archive.contains('.'));
    assert_eq!(session["limits"]["question"], 32_768);
    let model = &session["models"][0];
    assert_eq!((&model["name"], &model["provider"]), (&"mock".into(), &"openai".into()));
    assert_eq!(model["default"], true);
    assert!(["ready", "unreachable", "key_missing"].contains(&model["state"].as_str().unwrap()));
    assert!(session["offers"].is_array());
    let recovery = &session["recovery"];
    assert_eq!(recovery["submit_attempts"], 45);
    assert_eq!(recovery["startup_attempts"], 15);
    assert_eq!(recovery["resubmissions"], 5);
    assert!(session["build"].as_str().is_some_and(|build| !build.is_empty()));

    api.holdfast.restart().await;
    assert_eq!(api.get("/api/v1/session").await.json()["owner"], owner, "the same archive");
    let other = Api::start().await;
    assert_ne!(other.get("/api/v1/session").await.json()["owner"], owner, "another archive");
}

#[tokio::test]
async fn health_needs_nothing_and_tells_nothing() {
    let api = Api::start().await;
    for target in ["/healthz", "/readyz"] {
        let answer = api.get(target).await;
        assert_eq!(answer.status(), 200, "{target}");
        let data = api.holdfast.data().display().to_string();
        assert!(!answer.text().contains(&data));
        assert!(!answer.text().contains(env!("CARGO_PKG_VERSION")));
    }
    assert_eq!(api.get("/healthz").await.body, api.get("/healthz").await.body);
}

#[tokio::test]
async fn a_key_in_the_environment_is_offered_and_never_used_unasked() {
    let key = "sk-found-by-chance-0123456789";
    let api = Api::start_with(|_| Start::plain().environment("OPENAI_API_KEY", key)).await;
    let session = api.get("/api/v1/session").await;
    assert_ne!(session.json()["offers"], serde_json::json!([]), "it is offered");
    assert_eq!(session.json()["models"][0]["provider"], "notes");
    assert!(!session.text().contains(key));
    let outcome = api.ask_and_settle(&Ask::new("What does Holdfast cost?")).await;
    assert_eq!(outcome["receipt"]["provider_calls"], 0);
    assert!(!api.holdfast.stderr().contains(key));
}
