//! Text is text: whatever a question, an answer or an error contains, the page only shows it.

use holdfast_tests::mock::Script;

use crate::stage::on_stage;

const HOSTILE: &str = "Before <img src=x onerror=\"window.__hit=1\"> <script>window.__hit=2</script> \
    <svg onload=window.__hit=3> <iframe srcdoc=\"<script>parent.__hit=4</script>\"></iframe>\n\n\
    [a link](javascript:window.__hit=5) ![an image](http://127.0.0.1:9/secret.png)\n\n\
    ```\"><img src=x onerror=window.__hit=6>\ncode </code></pre><img src=x onerror=window.__hit=7>\n\
    ```\n\nAfter.";

#[tokio::test]
async fn hostile_text_is_shown_and_does_nothing() {
    on_stage("hostile_text", async |stage| {
        stage.mock.next(Script::dripped(HOSTILE, 7, std::time::Duration::ZERO));
        stage.mock.next(Script::refuse(400, HOSTILE));
        let answered = stage.browser.ask("<img src=x onerror=window.__hit=8> first").await;
        let turn = stage.browser.turn_with(&answered.request_id, "completed", "After.").await;
        assert!(turn.text.contains("<img src=x onerror=window.__hit=8>"), "{}", turn.text);
        assert!(turn.text.contains("onerror=\"window.__hit=1\""), "{}", turn.text);
        let failed = stage.browser.ask("second").await;
        stage
            .browser
            .turn_when("a failure", &failed.request_id, |turn| turn.status == "failed")
            .await;
        for _ in 0..2 {
            let found = stage
                .browser
                .run(
                    "return [window.__hit ?? null,
                        document.querySelectorAll('article img, article script, article iframe, \
                            article svg:not(.icon)').length,
                        [...document.querySelectorAll('article a')]
                            .filter(a => !/^https?:/.test(a.href)).length]",
                )
                .await;
            assert_eq!(found, serde_json::json!([null, 0, 0]));
            // The same from the archive.
            stage.browser.reload().await;
            stage.browser.turn_with(&answered.request_id, "completed", "After.").await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_long_answer_is_shown_whole() {
    on_stage("a_long_answer", async |stage| {
        let paragraph = "All work and no play makes a long paragraph in no time. ".repeat(8);
        let long = format!("{paragraph}\n\n").repeat(400);
        stage.mock.next(Script::new().delta(&long).delta("The very end.").end());
        let id = stage.browser.ask("at length").await.request_id;
        let turn = stage.browser.turn_with(&id, "completed", "The very end.").await;
        assert_eq!(turn.text.matches("All work").count(), 3_200);
        stage.browser.reload().await;
        let turn = stage.browser.turn_with(&id, "completed", "The very end.").await;
        assert_eq!(turn.text.matches("All work").count(), 3_200, "and again from the archive");
    })
    .await;
}
