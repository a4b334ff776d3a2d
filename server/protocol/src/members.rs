//! Reading the members of a JSON object one by one, and writing them.
//!
//! What serde derives reads from any format at all, and the page pays for that generality before its
//! first question: reading and writing the wire's types by hand, by way of a [`Value`],
//! makes it a tenth smaller.
//! Unknown members are ignored, `null` counts as absent, an absent list as empty, and a member of the
//! wrong type makes the whole unreadable.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

/// What cannot be read: no object, or a member that is missing or of the wrong type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// A member that may be absent.
type Maybe<T> = Result<Option<T>, Unreadable>;

/// The members of an object.
#[derive(Clone, Copy)]
pub(crate) struct Members<'a>(&'a Map<String, Value>);

impl<'a> Members<'a> {
    /// Those of `value`.
    pub(crate) fn of(value: &'a Value) -> Result<Self, Unreadable> {
        value.as_object().map(Self).ok_or(Unreadable)
    }

    /// A member, unless it is absent or `null`.
    pub(crate) fn get(self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A string.
    pub(crate) fn text(self, name: &str) -> Maybe<&'a str> {
        let read = |value: &'a Value| value.as_str().ok_or(Unreadable);
        self.get(name).map(read).transpose()
    }

    /// A string of one's own.
    pub(crate) fn string(self, name: &str) -> Maybe<String> {
        Ok(self.text(name)?.map(str::to_owned))
    }

    /// A whole number from 0.
    pub(crate) fn number(self, name: &str) -> Maybe<u64> {
        let read = |value: &Value| value.as_u64().ok_or(Unreadable);
        self.get(name).map(read).transpose()
    }

    /// A smaller whole number from 0.
    pub(crate) fn small(self, name: &str) -> Maybe<u32> {
        let read = |number: u64| u32::try_from(number).map_err(|_| Unreadable);
        self.number(name)?.map(read).transpose()
    }

    /// True or false.
    pub(crate) fn flag(self, name: &str) -> Maybe<bool> {
        let read = |value: &Value| value.as_bool().ok_or(Unreadable);
        self.get(name).map(read).transpose()
    }

    /// A string in a form of its own, or one of the words of an enumeration.
    pub(crate) fn parsed<T: FromStr>(self, name: &str) -> Maybe<T> {
        let read = |text: &str| text.parse().map_err(|_| Unreadable);
        self.text(name)?.map(read).transpose()
    }

    /// Another object.
    pub(crate) fn object<T: FromJson>(self, name: &str) -> Maybe<T> {
        self.get(name).map(T::from_json).transpose()
    }

    /// A list; an absent one is empty.
    pub(crate) fn list<T: FromJson>(self, name: &str) -> Result<Vec<T>, Unreadable> {
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => items.iter().map(T::from_json).collect(),
            Some(_) => Err(Unreadable),
        }
    }
}

/// What is read from JSON by hand.
pub(crate) trait FromJson: Sized {
    /// Reads it.
    fn from_json(value: &Value) -> Result<Self, Unreadable>;
}

impl FromJson for String {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        value.as_str().map(str::to_owned).ok_or(Unreadable)
    }
}

/// Writes an object member by member; what is absent is left out.
#[derive(Debug, Default)]
pub struct ObjectWriter(Map<String, Value>);

impl ObjectWriter {
    /// Adds a member, if there is a value for it.
    #[must_use]
    pub fn with(mut self, name: &str, value: Option<Value>) -> Self {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value);
        }
        self
    }

    /// Adds a member in the form it is shown in.
    #[must_use]
    pub fn with_text(self, name: &str, text: &dyn fmt::Display) -> Self {
        self.with(name, Some(Value::String(text.to_string())))
    }

    /// The object.
    pub fn finish(self) -> Value {
        Value::Object(self.0)
    }
}

/// Lets serde read what [`FromJson`] reads, by way of a [`Value`].
macro_rules! deserialize_from_json {
    ($($name:ident),*) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                crate::members::FromJson::from_json(&value).map_err(|_| {
                    serde::de::Error::custom(concat!("cannot be read as ", stringify!($name)))
                })
            }
        }
    )*};
}
pub(crate) use deserialize_from_json;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;
    use crate::{RequestId, Status};

    #[test]
    fn absent_and_null_are_nothing_and_another_type_is_unreadable() {
        let value =
            json!({"n": null, "t": "x", "u": 5, "b": true, "l": ["a"], "big": 5_000_000_000_u64});
        let members = Members::of(&value).unwrap();
        for name in ["none", "n"] {
            assert_eq!(members.text(name), Ok(None));
            assert_eq!(members.number(name), Ok(None));
            assert_eq!(members.flag(name), Ok(None));
            assert_eq!(members.list::<String>(name), Ok(Vec::new()));
            assert_eq!(members.parsed::<Status>(name), Ok(None));
        }
        assert_eq!(members.text("t"), Ok(Some("x")));
        assert_eq!(members.small("u"), Ok(Some(5)));
        assert_eq!(members.flag("b"), Ok(Some(true)));
        assert_eq!(members.list::<String>("l"), Ok(vec!["a".to_owned()]));
        assert_eq!(members.text("u"), Err(Unreadable));
        assert_eq!(members.number("t"), Err(Unreadable));
        assert_eq!(members.small("big"), Err(Unreadable));
        assert_eq!(members.flag("u"), Err(Unreadable));
        assert_eq!(members.parsed::<RequestId>("t"), Err(Unreadable));
        assert_eq!(members.parsed::<Status>("t"), Err(Unreadable));
        assert_eq!(members.list::<String>("t"), Err(Unreadable));
        assert!(Members::of(&json!([])).is_err());
    }
}
