//! One turn: the question, the answer so far, how it stands, what a person can do.

mod actions;
mod answer;
mod article;
mod chain;
mod copy;
mod reasoning;
mod receipt;
mod state;
mod state_line;

pub(super) use self::actions::Actions;
pub(super) use self::article::TurnArticle;
use super::Page;
