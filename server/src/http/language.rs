//! The language of a browser, for asks that name none.

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use holdfast_protocol::is_language_tag;

/// The first of `Accept-Language`, if it is a language tag.
pub(super) struct Language(pub(super) Option<String>);

impl<S: Sync> FromRequestParts<S> for Language {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let header = parts.headers.get(header::ACCEPT_LANGUAGE);
        Ok(Self(header.and_then(|value| value.to_str().ok()).and_then(first)))
    }
}

fn first(header: &str) -> Option<String> {
    let tag = header.split([',', ';']).next()?.trim();
    // `*`, and whatever else somebody wrote there, is no language.
    is_language_tag(tag).then(|| tag.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_language_counts() {
        assert_eq!(first("de-CH;q=0.9, en").as_deref(), Some("de-CH"));
        assert_eq!(first(" fr ").as_deref(), Some("fr"));
        for none in ["", "*", "\"><script>", ", en"] {
            assert_eq!(first(none), None, "{none}");
        }
    }
}
