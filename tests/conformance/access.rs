//! § 8: which hosts are answered, and where a change may come from. There is no sign-in yet.

use crate::support::{Api, Ask, assert_problem};

#[tokio::test]
async fn only_loopback_hosts_are_answered_on_every_route() {
    let api = Api::start().await;
    let port = api.holdfast.address().port();
    for host in [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("[::1]:{port}"),
        "LOCALHOST".to_owned(),
    ] {
        let answer = api.request("GET", "/api/v1/session").header("Host", &host);
        assert_eq!(answer.send().await.unwrap().status(), 200, "{host}");
    }
    let id = "018f2b6e-7c11-7cc3-9d5a-0123456789ab";
    for target in [
        "/".to_owned(),
        "/api/v1/session".to_owned(),
        "/api/v1/nothing".to_owned(),
        format!("/api/v1/conversations/{id}"),
        format!("/api/v1/requests/{id}?conversation_id={id}"),
    ] {
        for host in ["evil.test", "localhost.evil.test", "10.0.0.1", "127.0.0.1.evil.test", "<b>"] {
            let answer = api.request("GET", &target).header("Host", host).send().await.unwrap();
            assert_eq!(answer.status(), 421, "{target} under {host}");
            assert_eq!(answer.code(), "host_rejected");
            assert!(!answer.text().contains(host), "not reflected: {}", answer.text());
        }
    }
}

#[tokio::test]
async fn the_public_url_is_a_host_and_an_origin_as_well() {
    let public = "https://chat.example.org/holdfast/";
    let api = Api::start_with(|start| start.argument("--public-url", public)).await;
    for (host, origin, status) in [
        ("chat.example.org", "https://chat.example.org", 202),
        ("localhost", "https://chat.example.org", 202),
        ("chat.example.org", "https://evil.example.org", 403),
        ("evil.example.org", "https://chat.example.org", 421),
    ] {
        let answer = api.asking(&Ask::new("q")).header("Host", host).header("Origin", origin);
        let answer = answer.send().await.unwrap();
        // The provider may have answered already.
        let accepted = if answer.status() == 200 { 202 } else { answer.status() };
        assert_eq!(accepted, status, "{host} from {origin}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_change_must_come_from_here() {
    let api = Api::start().await;
    let host = api.holdfast.address().to_string();
    let own = format!("http://{host}");
    let https = format!("https://{host}");
    for (headers, allowed) in [
        (vec![], true),
        (vec![("Sec-Fetch-Site", "same-origin")], true),
        (vec![("Sec-Fetch-Site", "same-origin"), ("Origin", "http://evil.test")], true),
        (vec![("Sec-Fetch-Site", "cross-site"), ("Origin", own.as_str())], false),
        (vec![("Sec-Fetch-Site", "same-site")], false),
        (vec![("Sec-Fetch-Site", "none")], false),
        (vec![("Origin", own.as_str())], true),
        (vec![("Origin", https.as_str())], false),
        (vec![("Origin", "http://evil.test")], false),
        (vec![("Origin", "http://127.0.0.1")], false),
        (vec![("Origin", "null")], false),
    ] {
        let asked = Ask::new("q");
        let with = |mut request: holdfast_tests::client::Request| {
            for (name, value) in &headers {
                request = request.header(name, value);
            }
            request
        };
        let ask = with(api.asking(&asked)).send().await.unwrap();
        let cancel = with(api.cancelling(&Ask::new("q"))).send().await.unwrap();
        if allowed {
            assert!([200, 202].contains(&ask.status()), "{headers:?}: {}", ask.text());
            assert_eq!(cancel.status(), 200, "{headers:?}: {}", cancel.text());
        } else {
            assert_problem(&ask, 403, "origin_rejected");
            assert_problem(&cancel, 403, "origin_rejected");
            assert_eq!(api.look_up(&asked).await.json()["state"], "unknown");
        }
    }
}

#[tokio::test]
async fn no_other_origin_is_granted_anything() {
    let api = Api::start().await;
    for method in ["GET", "OPTIONS"] {
        let answer = api
            .request(method, "/api/v1/session")
            .header("Origin", "http://evil.test")
            .header("Access-Control-Request-Method", "POST")
            .send()
            .await
            .unwrap();
        let granted = answer.head.headers.iter().map(|(name, _)| name.to_ascii_lowercase());
        let granted: Vec<_> = granted.filter(|name| name.starts_with("access-control")).collect();
        assert!(granted.is_empty(), "{method}: {granted:?}");
    }
}
