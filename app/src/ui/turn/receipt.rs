//! What an answer was and what it took: one small line, and all of it for who opens that.

use holdfast_protocol::{Outcome, Receipt, Route, Timestamp};
use holdfast_recovery::Turn;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::copy::copy_button;
use crate::screen::TurnCell;
use crate::text;
use crate::ui::part::part;

/// The line under a settled answer, and the receipt behind it.
#[component]
pub(super) fn ReceiptLine(cell: TurnCell) -> impl IntoView {
    let turn = cell.turn;
    part(move || {
        let (line, asked_at, entries) =
            turn.with(|turn| Some((describe(turn)?, turn.asked_at, entries(turn))))?;
        let time = asked_at.map(|asked_at| {
            let (local, exact) = (local_time(asked_at), asked_at.to_string());
            view! { <time datetime=exact>{local}</time> }
        });
        let id = turn.with_untracked(|turn| turn.request_id.to_string());
        let copy = copy_button(id);
        let entries = entries.into_iter().map(|(name, value)| {
            view! {
                <dt>{name}</dt>
                <dd>{value}</dd>
            }
        });
        Some(
            view! {
                <details class="receipt">
                    <summary>{line}{time}</summary>
                    <dl>{entries.collect_view()}</dl>
                    {copy}
                </details>
            }
            .into_any(),
        )
    })
}

/// What the receipt says, line by line; the id of the ask last.
fn entries(turn: &Turn) -> Vec<(&'static str, String)> {
    let mut entries = Vec::new();
    let mut enter = |name, value: Option<String>| entries.extend(value.map(|value| (name, value)));
    let outcome = turn.outcome.as_deref();
    if let Some(receipt) = outcome.and_then(|outcome| outcome.receipt.as_ref()) {
        enter(text::ASKED, turn.asked_at.map(|asked_at| asked_at.to_string()));
        enter(text::SUBMITTED, Some(text::times(receipt.submissions)));
        enter(text::MODEL_CALLS, Some(receipt.provider_calls.to_string()));
        let recovered = if turn.recovered { text::BY_LOOKUP } else { text::NOT_NEEDED };
        enter(text::RECOVERY, Some(recovered.to_owned()));
        let tokens = receipt.input_tokens.zip(receipt.output_tokens);
        let estimated = receipt.usage_estimated == Some(true);
        enter(text::TOKENS, tokens.map(|(input, output)| text::tokens(input, output, estimated)));
        enter(text::FIRST_TOKEN, receipt.first_token_ms.map(text::run_time));
        enter(text::RUN, receipt.run_ms.map(text::run_time));
    }
    enter(text::REQUEST_ID, Some(turn.request_id.to_string()));
    entries
}

fn describe(turn: &Turn) -> Option<String> {
    let outcome = turn.outcome.as_deref().filter(|outcome| outcome.status.is_settled())?;
    let mut parts =
        outcome.receipt.as_ref().map(|receipt| spent(outcome, receipt)).unwrap_or_default();
    if turn.recovered {
        parts.push(text::RECOVERED.to_owned());
    }
    Some(parts.into_iter().fold(String::new(), |line, part| line + &part + " · "))
}

fn spent(outcome: &Outcome, receipt: &Receipt) -> Vec<String> {
    let mut parts = Vec::new();
    match (outcome.route, &receipt.model, &receipt.provider) {
        (Some(Route::Notes), ..) => parts.push(text::FROM_HANDBOOK.to_owned()),
        (_, Some(name), _) | (_, None, Some(name)) => parts.push(name.clone()),
        _ => {}
    }
    parts.push(text::calls(receipt.provider_calls));
    if let Some(millis) = receipt.run_ms.filter(|_| receipt.provider_calls > 0) {
        parts.push(text::run_time(millis));
    }
    if let (Some(micros), Some(currency)) = (receipt.cost_micros, &receipt.currency) {
        parts.push(format!("{}.{:06} {currency}", micros / 1_000_000, micros % 1_000_000));
    }
    parts
}

/// The time as the browser's own settings have it; with the date unless it is today.
fn local_time(moment: Timestamp) -> String {
    #[expect(clippy::cast_precision_loss, reason = "dates that JavaScript can hold are exact")]
    let date = js_sys::Date::new(&JsValue::from_f64(moment.millis() as f64));
    let options = js_sys::Object::new();
    let set = |name: &str, value: &str| {
        let _ = js_sys::Reflect::set(&options, &name.into(), &value.into());
    };
    set("hour", "numeric");
    set("minute", "2-digit");
    let today = js_sys::Date::new_0().to_date_string();
    if date.to_date_string() != today {
        set("day", "numeric");
        set("month", "short");
    }
    date.to_locale_string("default", &options).into()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use holdfast_protocol::Status;

    use super::*;

    fn settled(change: impl FnOnce(&mut Outcome)) -> Turn {
        let id = "018f2b6e-7c11-7cc3-9d5a-0123456789ab";
        let mut outcome =
            Outcome::bare(id.parse().unwrap(), id.parse().unwrap(), Status::Completed, None);
        change(&mut outcome);
        Turn::of_outcome(outcome)
    }

    #[test]
    fn the_line_says_who_answered_and_what_it_took() {
        let mut turn = settled(|outcome| {
            outcome.route = Some(Route::Provider);
            outcome.receipt = Some(Receipt {
                model: Some("gemma".into()),
                provider: Some("openai".into()),
                provider_calls: 1,
                run_ms: Some(4_260),
                cost_micros: Some(120),
                currency: Some("USD".into()),
                ..Receipt::default()
            });
        });
        turn.recovered = true;
        let line = "gemma · 1 call · 4.2 s · 0.000120 USD · recovered · ";
        assert_eq!(describe(&turn).as_deref(), Some(line));
    }

    #[test]
    fn the_receipt_says_how_often_it_was_sent_and_what_was_called() {
        let turn = settled(|outcome| {
            outcome.receipt = Some(Receipt {
                provider_calls: 1,
                submissions: 3,
                input_tokens: Some(10),
                output_tokens: Some(1_200),
                usage_estimated: Some(true),
                first_token_ms: Some(310),
                ..Receipt::default()
            });
        });
        let id = turn.request_id.to_string();
        let expected = [
            (text::SUBMITTED, "3 times"),
            (text::MODEL_CALLS, "1"),
            (text::RECOVERY, text::NOT_NEEDED),
            (text::TOKENS, "10 in, 1,200 out, estimated"),
            (text::FIRST_TOKEN, "0.3 s"),
            (text::REQUEST_ID, &id),
        ];
        assert_eq!(entries(&turn), expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn the_handbook_costs_nothing() {
        let turn = settled(|outcome| {
            outcome.route = Some(Route::Notes);
            outcome.receipt = Some(Receipt { run_ms: Some(3), ..Receipt::default() });
        });
        assert_eq!(describe(&turn).as_deref(), Some("from the handbook · no model call · "));
    }
}
