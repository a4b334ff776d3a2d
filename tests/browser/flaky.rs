//! What `cargo xtask run --flaky` is made of, as a newcomer sees it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use holdfast_tests::browser::Browser;
use holdfast_tests::server::Start;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// Starts `holdfast-flaky` and gives it with the URL of the first line it prints.
async fn flaky(arguments: &[&str], says: &str) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_holdfast-flaky"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = tokio::time::timeout(holdfast_tests::PATIENCE, lines.next_line()).await;
    let line = line.unwrap().unwrap().unwrap();
    let url = line.strip_prefix(says).unwrap_or_else(|| panic!("“{line}” is not “{says}…”"));
    (child, url.to_owned())
}

#[tokio::test]
async fn an_answer_is_seen_to_be_cut_off_and_recovered_within_a_minute() {
    let (_model, model) = flaky(&["--mock", "127.0.0.1:0"], "mock provider on ").await;
    let holdfast = Start::with_provider_at(&model).start().await;
    let (_line, line) = flaky(&["--upstream", &holdfast.url()], "listening on ").await;
    let browser = Browser::start().await;
    browser.open(&line).await;
    let began = Instant::now();
    let id = browser.ask("Will I see my answer?").await.request_id;
    browser
        .wait_for_within(Duration::from_mins(1), "the end of the answer", async |page| {
            page.turns().await.into_iter().find(|turn| turn.text.contains("paid for once"))
        })
        .await;
    let turn = browser.turn_with(&id, "completed", "paid for once").await;
    assert!(turn.recovered, "{turn:?}");
    // Three seconds without a line, a respite, and three more: it was worth watching.
    assert!(began.elapsed() > Duration::from_secs(6), "{:?}", began.elapsed());
    browser.close().await;
}
