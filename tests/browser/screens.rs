//! Sizes and lights. The pictures are for people; what can be said without eyes is asserted.

use holdfast_tests::mock::Script;

use crate::stage::on_stage;

const ANSWER: &str = "A paragraph that is long enough to be broken into several lines on a phone, \
    with `inline code` in it.\n\n```rust\nfn a_long_line_of_code_that_does_not_fit_on_a_phone() -> \
    Result<(), std::boxed::Box<dyn std::error::Error>> { Ok(()) }\n```\n\nAnd an end.";

#[tokio::test]
async fn the_page_fits_phones_and_desks_by_day_and_by_night() {
    on_stage("the_page_fits", async |stage| {
        stage.mock.next(Script::answer(ANSWER));
        let id = stage.browser.ask("Show me a paragraph and some code.").await.request_id;
        stage.browser.turn_with(&id, "completed", "And an end.").await;
        for (name, width, height, dark) in [
            ("phone-light", 390, 844, false),
            ("phone-dark", 390, 844, true),
            ("narrow", 320, 568, false),
            ("desk-light", 1280, 800, false),
            ("desk-dark", 1280, 800, true),
        ] {
            stage.browser.screen(width, height, dark).await;
            let measured = stage
                .browser
                .run(
                    "const box = document.querySelector('textarea').getBoundingClientRect();
                     return [document.documentElement.scrollWidth <= innerWidth,
                             box.left >= 0 && box.right <= innerWidth && box.bottom <= innerHeight]",
                )
                .await;
            assert_eq!(measured[0], true, "{name}: nothing sticks out sideways");
            assert_eq!(measured[1], true, "{name}: the composer is in view");
            let picture = stage.browser.screenshot(&format!("page-{name}")).await;
            assert!(std::fs::metadata(picture).is_ok_and(|file| file.len() > 5_000));
        }
    })
    .await;
}
