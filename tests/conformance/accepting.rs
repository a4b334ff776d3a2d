//! § 2: what is said of an ask that is accepted, and how long a client may wait.

use std::time::{Duration, Instant};

use holdfast_tests::mock::Script;

use crate::support::{Api, Ask, outcome};

#[tokio::test]
async fn an_ask_is_accepted_with_its_outcome_and_where_to_look_it_up() {
    let api = Api::start().await;
    api.mock.otherwise(Script::gated("half ", "go", "whole"));
    let ask = Ask::new("a question");
    let answer = api.ask(&ask).await;
    let pending = outcome(&answer, 202, &ask);
    assert!(["accepted", "running"].contains(&pending["state"].as_str().unwrap()));
    assert_eq!(pending["question"], "a question");
    assert_eq!(pending["seq"], 1);
    assert!(pending["asked_at"].as_str().is_some_and(|time| time.ends_with('Z')));
    let location = format!("requests/{}?conversation_id={}", ask.id(), ask.conversation());
    assert_eq!(answer.header("location"), Some(location.as_str()));
    assert_eq!(answer.header("preference-applied"), Some("wait=0"));
    // Relative to the ask's own address, it leads to the lookup.
    let looked_up = api.get(&format!("/api/v1/{location}")).await;
    assert_eq!(looked_up.status(), 202);

    let running = api
        .outcome_when(&ask, "half an answer", |outcome| outcome["answer"]["text"] == "half ")
        .await;
    assert_eq!((&running["status"], &running["state"]), (&"pending".into(), &"running".into()));
    api.mock.open("go");
    let settled = api.settled(&ask).await;
    assert_eq!(settled["status"], "completed");
    assert_eq!(settled["answer"]["text"], "half whole");
    assert_eq!(settled["answer"]["format"], "markdown");
    assert_eq!(settled["answer"]["bytes"], 10);
    assert_eq!(settled["answer"]["offset"], 0);
    assert_eq!(settled["answer"]["finish"], "stop");
    assert_eq!(settled["route"], "provider");
    assert_eq!(settled["capture"]["stored"], false);
    assert_eq!(settled["capture"]["reason"], "memory-off");
    assert!(settled["state"].is_null() && settled["queue"].is_null());
    let receipt = &settled["receipt"];
    assert_eq!(receipt["provider"], "openai");
    assert_eq!(receipt["model"], "mock");
    assert_eq!(receipt["provider_calls"], 1);
    assert_eq!((&receipt["input_tokens"], &receipt["output_tokens"]), (&11.into(), &22.into()));
    assert_eq!(receipt["submissions"], 1);
    assert!(receipt["run_ms"].as_u64() >= receipt["first_token_ms"].as_u64());
    assert_eq!(api.settled(&ask).await, settled, "a settled outcome never changes");
    assert_eq!(api.calls(&ask), 1);
}

#[tokio::test]
async fn an_answer_within_the_wait_comes_with_the_first_reply() {
    let api = Api::start().await;
    for prefer in [None, Some("wait=20"), Some("wait=99"), Some("nonsense"), Some("wait=soon")] {
        let ask = Ask::new("quick");
        let request = api.asking(&ask).without("Prefer");
        let request = match prefer {
            Some(prefer) => request.header("Prefer", prefer),
            None => request,
        };
        let answer = request.send().await.unwrap();
        assert_eq!(outcome(&answer, 200, &ask)["status"], "completed", "{prefer:?}");
        if prefer == Some("wait=99") {
            assert_eq!(answer.header("preference-applied"), Some("wait=25"));
        }
    }
}

#[tokio::test]
async fn a_wait_ends_when_its_time_is_up_or_when_the_ask_settles() {
    let api = Api::start().await;
    api.mock.otherwise(Script::gated("half ", "go", "whole"));
    let ask = Ask::new("slow");
    let began = Instant::now();
    let answer = api.asking(&ask).header("Prefer", "wait=1").send().await.unwrap();
    outcome(&answer, 202, &ask);
    assert_eq!(answer.header("preference-applied"), Some("wait=1"));
    assert!(began.elapsed() >= Duration::from_secs(1));

    let waiting = api.looking_up(&ask).header("Prefer", "wait=20");
    let waiting = tokio::spawn(async move { waiting.send().await });
    let began = Instant::now();
    api.mock.open("go");
    let answer = waiting.await.unwrap().unwrap();
    assert_eq!(outcome(&answer, 200, &ask)["answer"]["text"], "half whole");
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn an_id_of_any_version_will_do() {
    let api = Api::start().await;
    let ask = Ask::new("q")
        .with("request_id", "9b2f6d3e-1c4a-4f7b-8e21-5a6b7c8d9e0f")
        .with("conversation_id", "00000000-0000-0000-0000-000000000001");
    assert_eq!(api.ask_and_settle(&ask).await["status"], "completed");
}
