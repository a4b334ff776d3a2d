//! Questions that came back and are not in the composer yet: a reload must not lose them either.

use holdfast_protocol::ObjectWriter;
use serde_json::Value;

use super::Area;
use crate::screen::Offer;

const OFFERED: &str = "holdfast.offered";

/// What the last page in this tab left.
pub(crate) fn load_offers() -> Vec<Offer> {
    let list: Vec<Value> = Area::Session.value(OFFERED).unwrap_or_default();
    list.iter().filter_map(read).collect()
}

/// Keeps these and no others.
pub(crate) fn store_offers(offers: &[Offer]) {
    // Where it fails they stand on the screen all the same.
    let _ = if offers.is_empty() {
        Area::Session.remove(OFFERED)
    } else {
        Area::Session.put(OFFERED, &Value::Array(offers.iter().map(write).collect()))
    };
}

fn read(value: &Value) -> Option<Offer> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    Some(Offer {
        request_id: text("request_id")?.parse().ok()?,
        question: text("question")?.to_owned(),
        reason: text("reason")?.to_owned(),
    })
}

fn write(offer: &Offer) -> Value {
    ObjectWriter::default()
        .with_text("request_id", &offer.request_id)
        .with_text("question", &offer.question)
        .with_text("reason", &offer.reason)
        .finish()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn an_offer_comes_back_as_it_was_kept() {
        let offer = Offer {
            request_id: "018f2b6e-7c11-7cc3-9d5a-0123456789ab".parse().unwrap(),
            question: "Why?\n".into(),
            reason: "Taken back".into(),
        };
        assert_eq!(read(&write(&offer)), Some(offer));
        assert_eq!(read(&Value::Null), None);
    }
}
