//! Who is asking, what there is to ask, and the numbers recovery keeps to.

use serde::Serialize;
use serde_json::Value;

use crate::Owner;
use crate::limits::QUESTION_CHARS;
use crate::members::{FromJson, Members, Unreadable, deserialize_from_json};
use crate::words::words;

/// The reply of `GET api/v1/session`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Session {
    /// Whether somebody is signed in (without sign-in: the local owner always is).
    pub signed_in: bool,
    /// Who.
    pub principal: Principal,
    /// The principal in this archive; pointers carry it.
    pub owner: Owner,
    /// What fits.
    pub limits: Limits,
    /// What can be asked; the default first.
    pub models: Vec<Model>,
    /// Sentences about what the operator could name and has not: a key, a model server.
    pub offers: Vec<String>,
    /// How often recovery tries.
    pub recovery: RecoveryPolicy,
    /// Which build this is; opaque.
    pub build: String,
}

/// Whoever is asking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Principal {
    /// A name for people.
    pub name: String,
}

/// What fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// The longest question, in Unicode scalar values.
    pub question: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { question: QUESTION_CHARS }
    }
}

/// One model that can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// The provider's name.
    pub provider: String,
    /// Whether it can answer now.
    pub state: ModelState,
    /// Whether it is asked when an ask names none.
    pub default: bool,
}

/// Whether a model can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    /// As far as is known.
    Ready,
    /// The last call could not reach it.
    Unreachable,
    /// It needs a key that is not there.
    KeyMissing,
}

/// How often recovery tries before it asks a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RecoveryPolicy {
    /// Lookups without a reply from Holdfast after a submission.
    pub submit_attempts: u32,
    /// The same after a start of the page.
    pub startup_attempts: u32,
    /// Resubmissions of an ask the journal has never heard of.
    pub resubmissions: u32,
}

impl Default for RecoveryPolicy {
    fn default() -> Self {
        Self { submit_attempts: 45, startup_attempts: 15, resubmissions: 5 }
    }
}

words!(ModelState { Ready = "ready", Unreachable = "unreachable", KeyMissing = "key_missing" });
deserialize_from_json!(Session, Principal, Limits, Model, RecoveryPolicy);

impl FromJson for Session {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        Ok(Self {
            signed_in: members.flag("signed_in")?.ok_or(Unreadable)?,
            principal: members.object("principal")?.ok_or(Unreadable)?,
            owner: members.parsed("owner")?.ok_or(Unreadable)?,
            limits: members.object("limits")?.ok_or(Unreadable)?,
            models: members.list("models")?,
            offers: members.list("offers")?,
            recovery: members.object("recovery")?.unwrap_or_default(),
            build: members.string("build")?.ok_or(Unreadable)?,
        })
    }
}

impl FromJson for Principal {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        Ok(Self { name: Members::of(value)?.string("name")?.ok_or(Unreadable)? })
    }
}

impl FromJson for Limits {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let question = Members::of(value)?.number("question")?.ok_or(Unreadable)?;
        Ok(Self { question: usize::try_from(question).map_err(|_| Unreadable)? })
    }
}

impl FromJson for Model {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        Ok(Self {
            name: members.string("name")?.ok_or(Unreadable)?,
            provider: members.string("provider")?.ok_or(Unreadable)?,
            state: members.parsed("state")?.ok_or(Unreadable)?,
            default: members.flag("default")?.ok_or(Unreadable)?,
        })
    }
}

impl FromJson for RecoveryPolicy {
    fn from_json(value: &Value) -> Result<Self, Unreadable> {
        let members = Members::of(value)?;
        Ok(Self {
            submit_attempts: members.small("submit_attempts")?.ok_or(Unreadable)?,
            startup_attempts: members.small("startup_attempts")?.ok_or(Unreadable)?,
            resubmissions: members.small("resubmissions")?.ok_or(Unreadable)?,
        })
    }
}
