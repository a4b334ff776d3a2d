//! Where calls go: how a URL is read, and what the host behind it is known to want otherwise.
//!
//! The rule, for whoever sets `--provider-url`: name the server alone (`http://127.0.0.1:8080`) and
//! `/v1` is filled in; name a path (`https://host/v1`, `https://host/openai/v1/`) and it is taken as
//! the base that the dialect's paths follow; the whole `…/chat/completions` is taken as it is. A query
//! stays.

use reqwest::Url;
use thiserror::Error;

/// The hosted API, where a call goes when no URL is named.
pub const HOSTED: &str = "https://api.openai.com/v1";

const CHAT: &str = "/chat/completions";

/// Why a text is no endpoint. Each is the sentence that a wrong start says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// It does not parse.
    #[error("the provider's URL is not a URL such as http://127.0.0.1:8080")]
    NotUrl,
    /// It is neither http nor https, or names no host.
    #[error("the provider's URL does not begin with http:// or https:// and a host")]
    NotHttp,
    /// It holds a user name or a password.
    #[error(
        "the provider's URL holds a name or a password: take it out, and give the key in \
         HOLDFAST_PROVIDER_KEY"
    )]
    Credentials,
}

/// Where a provider is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    chat: Url,
    models: Url,
}

impl Endpoint {
    /// Reads a URL by the rule of this module.
    pub fn new(text: &str) -> Result<Self, EndpointError> {
        let mut url = Url::parse(text.trim()).map_err(|_| EndpointError::NotUrl)?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(EndpointError::NotHttp);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EndpointError::Credentials);
        }
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/');
        let base = match path.strip_suffix(CHAT).unwrap_or(path) {
            "" if path.is_empty() => "/v1".to_owned(),
            base => base.to_owned(),
        };
        let at = |rest: &str| {
            let mut url = url.clone();
            url.set_path(&format!("{base}{rest}"));
            url
        };
        Ok(Self { chat: at(CHAT), models: at("/models") })
    }

    /// Where an answer is asked for.
    pub const fn chat(&self) -> &Url {
        &self.chat
    }

    /// Where the models are listed.
    pub const fn models(&self) -> &Url {
        &self.models
    }

    /// Scheme, host and port: all of the URL that is ever shown. A path may name a tenant, a query may
    /// hold a key.
    pub fn origin(&self) -> String {
        self.chat.origin().ascii_serialization()
    }

    /// Whether the connection is plain, so that no certificate is needed.
    pub fn is_plain(&self) -> bool {
        self.chat.scheme() == "http"
    }

    /// Whether it is the hosted API itself: it cannot be asked without a key.
    pub fn is_hosted(&self) -> bool {
        self.host() == "api.openai.com"
    }

    /// Whether it is on this machine.
    pub fn is_loopback(&self) -> bool {
        match self.chat.host_str().map(|host| host.trim_matches(['[', ']'])) {
            Some("localhost") => true,
            Some(host) => host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback()),
            None => false,
        }
    }

    /// The field that bounds an answer's tokens. Compatible servers know the old name; the hosted
    /// API's newer models refuse it.
    pub fn bound_field(&self) -> &'static str {
        if self.is_hosted() { "max_completion_tokens" } else { "max_tokens" }
    }

    /// Whether `stream_options` may be sent. What does not know it ignores it, except for one host
    /// that refuses fields it does not know, and counts tokens unasked.
    pub fn takes_stream_options(&self) -> bool {
        self.host() != "api.mistral.ai"
    }

    fn host(&self) -> &str {
        self.chat.host_str().unwrap_or_default()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn chat(text: &str) -> String {
        Endpoint::new(text).unwrap().chat().to_string()
    }

    #[test]
    fn every_usual_form_leads_to_the_same_place() {
        for text in [
            "http://host:8080",
            "http://host:8080/",
            "http://host:8080/v1",
            "http://host:8080/v1/",
            "http://host:8080/v1/chat/completions",
            "http://host:8080/v1/chat/completions/",
            " http://host:8080/v1#models ",
            "HTTP://HOST:8080",
        ] {
            let endpoint = Endpoint::new(text).unwrap();
            assert_eq!(endpoint.chat().as_str(), "http://host:8080/v1/chat/completions", "{text}");
            assert_eq!(endpoint.models().as_str(), "http://host:8080/v1/models", "{text}");
        }
    }

    #[test]
    fn a_path_is_the_base_and_a_query_stays() {
        for (text, expected) in [
            ("https://h/openai/v1", "https://h/openai/v1/chat/completions"),
            ("https://h/v1beta/openai/", "https://h/v1beta/openai/chat/completions"),
            ("https://h/chat/completions", "https://h/chat/completions"),
            ("https://h/d/x/chat/completions?v=1", "https://h/d/x/chat/completions?v=1"),
            ("https://h/d/x?v=1", "https://h/d/x/chat/completions?v=1"),
            ("http://[::1]:9", "http://[::1]:9/v1/chat/completions"),
        ] {
            assert_eq!(chat(text), expected);
        }
    }

    #[test]
    fn what_is_no_endpoint_is_refused() {
        for (text, error) in [
            ("", EndpointError::NotUrl),
            ("host", EndpointError::NotUrl),
            ("http://", EndpointError::NotUrl),
            ("localhost:8080", EndpointError::NotHttp),
            ("file:///etc/passwd", EndpointError::NotHttp),
            ("http://user@host", EndpointError::Credentials),
            ("http://:pass@host", EndpointError::Credentials),
        ] {
            assert_eq!(Endpoint::new(text), Err(error), "{text}");
        }
    }

    #[test]
    fn only_the_origin_is_shown() {
        let endpoint = Endpoint::new("https://h:444/tenant/v1?key=x").unwrap();
        assert_eq!(endpoint.origin(), "https://h:444");
    }

    #[test]
    fn hosts_are_told_apart() {
        let hosted = Endpoint::new(HOSTED).unwrap();
        assert!(hosted.is_hosted() && !hosted.is_loopback() && !hosted.is_plain());
        assert_eq!(hosted.bound_field(), "max_completion_tokens");
        assert!(hosted.takes_stream_options());
        assert!(!Endpoint::new("https://api.mistral.ai/v1").unwrap().takes_stream_options());
        for text in ["http://127.0.0.1:1", "http://localhost", "http://[::1]", "http://127.9.9.9"] {
            let local = Endpoint::new(text).unwrap();
            assert!(local.is_loopback() && local.is_plain() && !local.is_hosted(), "{text}");
            assert_eq!(local.bound_field(), "max_tokens");
        }
        assert!(!Endpoint::new("http://127.0.0.1.example.org").unwrap().is_loopback());
        assert!(!Endpoint::new("https://api.openai.com.evil.example").unwrap().is_hosted());
    }
}
