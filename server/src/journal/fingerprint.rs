//! What makes two submissions of one id the same ask.

use std::fmt;

use holdfast_protocol::AskBody;
use sha2::{Digest as _, Sha256};

/// SHA-256 over the fields of an ask as they were sent, before trimming and defaults: question,
/// conversation, current, remember, model, `retry_of`. Not the language: a browser's setting may
/// change between two attempts. Not the system prompt: it is the conversation's.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of a body. `null` counts as absent, and absent is not the explicit default.
    pub fn of(body: &AskBody) -> Self {
        let mut digest = Sha256::new();
        // A version, so that a later field can be added without old fingerprints meaning new things.
        digest.update(b"holdfast ask 1\n");
        field(&mut digest, Some(body.question.as_bytes()));
        field(&mut digest, Some(body.conversation_id.uuid().as_bytes()));
        field(&mut digest, flag(body.current));
        field(&mut digest, flag(body.remember));
        field(&mut digest, body.model.as_deref().map(str::as_bytes));
        field(
            &mut digest,
            body.retry_of
                .as_ref()
                .map(|id| id.uuid().into_bytes())
                .as_ref()
                .map(<[u8; 16]>::as_slice),
        );
        Self(digest.finalize().into())
    }

    /// The fingerprint with these bytes, as [`Self::as_bytes`] gave them.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The fingerprint that is written like this: 64 lower-case digits of base 16.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        let read = Self(bytes);
        (read.to_string() == text).then_some(read)
    }

    /// Its bytes, for a store.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// Each field with its presence and its length, so that no two lists of fields share their bytes.
fn field(digest: &mut Sha256, bytes: Option<&[u8]>) {
    match bytes {
        None => digest.update([0]),
        Some(bytes) => {
            digest.update([1]);
            digest.update((bytes.len() as u64).to_be_bytes());
            digest.update(bytes);
        }
    }
}

fn flag(flag: Option<bool>) -> Option<&'static [u8]> {
    flag.map(|flag| if flag { &[1][..] } else { &[0][..] })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use serde_json::{Value, json};

    use super::*;

    fn of(change: impl FnOnce(&mut Value)) -> Fingerprint {
        let mut value = json!({
            "request_id": "018f2b6e-7c11-7cc3-9d5a-0123456789ab",
            "conversation_id": "018f2b6e-7c11-7cc3-9d5a-0123456789ac",
            "question": "Why?",
        });
        change(&mut value);
        Fingerprint::of(&AskBody::from_json(&value).unwrap())
    }

    #[test]
    fn language_null_and_the_order_of_fields_change_nothing() {
        let plain = of(|_| {});
        assert_eq!(plain, of(|value| value["language"] = json!("de")));
        assert_eq!(plain, of(|value| value["current"] = Value::Null));
        assert_eq!(plain, of(|value| value["system_prompt"] = json!("Be brief.")));
        assert_eq!(plain, of(|value| value["colour"] = json!("blue")));
    }

    #[test]
    fn every_other_field_counts_as_it_was_sent() {
        let variants = [
            of(|_| {}),
            of(|value| value["question"] = json!("Why? ")),
            of(|value| {
                value["conversation_id"] = json!("018f2b6e-7c11-7cc3-9d5a-0123456789ad");
            }),
            of(|value| value["current"] = json!(false)),
            of(|value| value["current"] = json!(true)),
            of(|value| value["remember"] = json!(true)),
            of(|value| value["remember"] = json!(false)),
            of(|value| value["model"] = json!("a")),
            of(|value| value["retry_of"] = json!("018f2b6e-7c11-7cc3-9d5a-0123456789ae")),
        ];
        for (at, one) in variants.iter().enumerate() {
            for (other_at, other) in variants.iter().enumerate() {
                assert_eq!(at == other_at, one == other, "{at} and {other_at}");
            }
        }
    }

    #[test]
    fn it_is_the_same_in_every_release() {
        // Stored in archives: a change of this value would turn honest resubmissions into mismatches.
        insta::assert_snapshot!(
            format!("{:?}", of(|value| value["remember"] = json!(true))),
            @"27a0089ec564ffd7c0b7f7ca7934bcea2644d6c3bab7cc74cb5256e71f5e9276"
        );
    }
}
