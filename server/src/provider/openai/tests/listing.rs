//! Finding out which models there are.

use std::sync::Arc;

use holdfast_protocol::FailureCode::{ProviderRejected, ProviderRequired, ProviderUnreachable};
use serde_json::{Value, json};

use super::mock::{Seen, header};
use super::*;

/// A server that replies to a listing with these steps, and answers to any name.
async fn listing(steps: Vec<Step>) -> Mock {
    Mock::serving(move |request| {
        if request.starts_with("GET ") { steps.clone() } else { vec![Step::send(answer("a"))] }
    })
    .await
}

/// A server that has these models, and answers to any name.
async fn serving(list: Value) -> Mock {
    listing(vec![Step::send(reply("200 OK", "", &list.to_string()))]).await
}

fn unnamed(mock: &Mock) -> Config {
    Config { model: None, key: None, ..config(mock) }
}

/// The model that each call named.
fn asked(seen: &Seen) -> Vec<String> {
    let model = |request: &&String| -> Value {
        let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
        body["model"].clone()
    };
    seen.calls().iter().map(|call| model(call).as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_first_model_of_a_local_server_is_asked() {
    let mock = serving(json!({"data": [{"id": "gemma"}, {"id": "llama"}]})).await;
    let provider = OpenAi::new(unnamed(&mock)).unwrap();
    assert_eq!(provider.models()[0].name, "default");
    for _ in 0..2 {
        assert_eq!(ask(&provider).await.1, Ok(stopped_as(Some("gemma"))));
    }
    let names: Vec<_> =
        provider.models().into_iter().map(|model| (model.name, model.default)).collect();
    assert_eq!(names, [("gemma".to_owned(), true), ("llama".to_owned(), false)]);
    assert_eq!(asked(&mock.seen()), ["gemma", "gemma"]);
    assert_eq!(mock.seen().requests.len(), 3, "the list is fetched once");
}

#[tokio::test]
async fn the_model_an_ask_names_is_asked() {
    let mock = serving(json!({"data": [{"id": "gemma"}, {"id": "llama"}]})).await;
    let provider = OpenAi::new(unnamed(&mock)).unwrap();
    for name in ["llama", "default"] {
        let call = Call { model: Some(name.to_owned()), ..call() };
        provider.generate(&call, &mut |_| {}).await.unwrap();
    }
    assert_eq!(asked(&mock.seen()), ["llama", "gemma"]);
}

#[tokio::test]
async fn discovery_happens_once_in_the_background() {
    let mock = serving(json!({"data": [{"id": "gemma"}]})).await;
    let provider =
        Arc::new(OpenAi::new(Config { key: Secret::new(KEY), ..unnamed(&mock) }).unwrap());
    provider.discover_in_background();
    let seen = mock.until(|seen| seen.requests.len() == 1).await;
    assert!(seen.requests[0].starts_with("GET /v1/models HTTP/1.1\r\n"), "{seen:?}");
    assert_eq!(header(&seen.requests[0], "authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(ask(&provider).await.1, Ok(stopped_as(Some("gemma"))));
    assert_eq!(asked(&mock.seen()), ["gemma"]);
}

#[tokio::test]
async fn a_server_without_a_list_is_asked_by_the_placeholder() {
    for list in [
        reply("404 Not Found", "", ""),
        reply("200 OK", "", "<html>"),
        reply("200 OK", "", "{"),
        reply("200 OK", "", &json!({"data": []}).to_string()),
        "nonsense".to_owned(),
    ] {
        let mock = listing(vec![Step::send(list)]).await;
        let provider = OpenAi::new(unnamed(&mock)).unwrap();
        assert_eq!(ask(&provider).await.1, Ok(stopped_as(None)));
        assert_eq!(asked(&mock.seen()), ["default"]);
        assert_eq!(state(&provider), ModelState::Ready);
    }
}

#[tokio::test]
async fn a_list_without_end_is_bounded() {
    let flood = Step::Repeat(vec![b' '; 8192], Duration::ZERO);
    let mock = listing(vec![Step::send("HTTP/1.1 200 OK\r\n\r\n["), flood]).await;
    assert_eq!(ask(&OpenAi::new(unnamed(&mock)).unwrap()).await.1, Ok(stopped_as(None)));

    let mock = listing(vec![Step::Hang]).await;
    let mut config = unnamed(&mock);
    config.timeouts.aside = MOMENT;
    assert_eq!(ask(&OpenAi::new(config).unwrap()).await.1, Ok(stopped_as(None)));
}

#[tokio::test]
async fn a_list_is_not_fetched_by_redirect() {
    let elsewhere = serving(json!({"data": [{"id": "stolen"}]})).await;
    let fields = format!("Location: {}/v1/models\r\n", elsewhere.url());
    let mock = listing(vec![Step::send(reply("302 Found", &fields, ""))]).await;
    assert_eq!(ask(&OpenAi::new(unnamed(&mock)).unwrap()).await.1, Ok(stopped_as(None)));
    assert_eq!(elsewhere.seen().connections, 0);
}

#[tokio::test]
async fn where_the_list_cannot_be_reached_nothing_was_called() {
    let mock = serving(json!({})).await;
    let config = unnamed(&mock);
    drop(mock);
    let provider = Arc::new(OpenAi::new(config).unwrap());
    let error = ask(&provider).await.1.unwrap_err();
    assert_eq!((error.code, error.called), (ProviderUnreachable, false), "{error}");
    assert_eq!(state(&provider), ModelState::Unreachable);
}

#[tokio::test]
async fn a_model_that_has_gone_is_looked_for_anew() {
    let mock = Mock::serving(|request| {
        vec![Step::send(if request.starts_with("GET ") {
            reply("200 OK", "", &json!({"data": [{"id": "gemma"}]}).to_string())
        } else {
            reply("404 Not Found", "", r#"{"error": "model 'gemma' not found"}"#)
        })]
    })
    .await;
    let provider = OpenAi::new(unnamed(&mock)).unwrap();
    for lists in 1..=2 {
        assert_eq!(ask(&provider).await.1.unwrap_err().code, ProviderRejected);
        let seen = mock.seen();
        assert_eq!(seen.requests.len() - seen.calls().len(), lists);
    }
}

#[tokio::test]
async fn where_money_is_at_stake_nobody_chooses_but_the_operator() {
    // Nothing listens there, and the name is never looked up: the choice comes first.
    let config = Config {
        url: Some("https://models.invalid".to_owned()),
        key: Secret::new(KEY),
        ..Config::default()
    };
    let provider = OpenAi::new(config).unwrap();
    provider.catalog.listed(&json!({"data": [{"id": "cheap"}, {"id": "dear"}]}));
    let error = ask(&provider).await.1.unwrap_err();
    assert_eq!((error.code, error.called), (ProviderRequired, false), "{error}");
    assert!(error.message.contains("--model NAME"), "{error}");
}
