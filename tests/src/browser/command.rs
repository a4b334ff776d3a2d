//! `WebDriver` commands that fantoccini does not know: `DevTools`, logs, accessible names.

use fantoccini::wd::WebDriverCompatibleCommand;
use http::Method;
use serde_json::Value;
use url::{ParseError, Url};

/// A command of the current session.
#[derive(Debug)]
pub(super) struct Command {
    /// The path below `session/{id}/`.
    path: String,
    /// What is posted; nothing makes it a GET.
    body: Option<Value>,
}

impl Command {
    pub(super) fn get(path: &str) -> Command {
        Command { path: path.to_owned(), body: None }
    }

    pub(super) fn post(path: &str, body: Value) -> Command {
        Command { path: path.to_owned(), body: Some(body) }
    }
}

impl WebDriverCompatibleCommand for Command {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _url: &Url) -> (Method, Option<String>) {
        match &self.body {
            Some(body) => (Method::POST, Some(body.to_string())),
            None => (Method::GET, None),
        }
    }
}
