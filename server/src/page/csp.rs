//! The document's Content-Security-Policy. Scripts and styles written into the document (Trunk's
//! start-up script, the sentinel) are allowed by their hashes, so that nothing else inline can ever
//! run, whatever an answer contains. Not here: the other headers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The policy for `html`, as one header value.
pub(super) fn policy(html: &str) -> String {
    let scripts = sources(html, "script");
    let styles = sources(html, "style");
    [
        "default-src 'none'",
        // The second source lets WebAssembly compile; it allows no JavaScript from text.
        &format!("script-src 'self' 'wasm-unsafe-eval'{scripts}"),
        &format!("style-src 'self'{styles}"),
        "connect-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    .join("; ")
}

/// The hash sources of the document's inline `element`s, each after a space.
fn sources(html: &str, element: &str) -> String {
    inline(html, element).fold(String::new(), |sources, text| {
        sources + " 'sha256-" + &STANDARD.encode(Sha256::digest(text)) + "'"
    })
}

/// The texts of the document's `element`s that have no `src`. The document is the build's own, so
/// this reads HTML as Trunk and people write it; a form it did not know would be refused by the
/// browser, never allowed.
fn inline<'a>(html: &'a str, element: &'a str) -> impl Iterator<Item = String> + 'a {
    let mut rest = html;
    std::iter::from_fn(move || {
        loop {
            let (attributes, after) = open(rest, element)?;
            let (text, after) = match find_tag(after, &format!("</{element}")) {
                Some(end) => after.split_at(end),
                None => (after, ""),
            };
            rest = after;
            if !has_src(attributes) {
                // Browsers hash what their parser saw, and it turns every line end into one \n.
                return Some(text.replace("\r\n", "\n").replace('\r', "\n"));
            }
        }
    })
}

/// The attributes of the first `element` in `html`, and what follows its start tag. Comments hold
/// no elements.
fn open<'a>(mut html: &'a str, element: &str) -> Option<(&'a str, &'a str)> {
    let start_tag = format!("<{element}");
    loop {
        let start = find_tag(html, &start_tag)?;
        if let Some((_, comment)) = html.get(..start)?.rsplit_once("<!--")
            && !comment.contains("-->")
        {
            html = html.get(start..)?.split_once("-->")?.1;
            continue;
        }
        return html.get(start + start_tag.len()..)?.split_once('>');
    }
}

/// Where `tag` begins, in any case, followed by what ends a tag's name.
fn find_tag(html: &str, tag: &str) -> Option<usize> {
    html.char_indices().map(|(at, _)| at).find(|at| {
        let Some(found) = html.get(*at..at + tag.len()) else {
            return false;
        };
        found.eq_ignore_ascii_case(tag)
            && html
                .get(at + tag.len()..)
                .is_some_and(|rest| rest.starts_with([' ', '\t', '\r', '\n', '>', '/']))
    })
}

fn has_src(attributes: &str) -> bool {
    attributes.split_ascii_whitespace().any(|attribute| {
        let name = attribute.split('=').next().unwrap_or_default();
        name.eq_ignore_ascii_case("src")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(html: &str) -> Vec<String> {
        inline(html, "script").collect()
    }

    #[test]
    fn finds_the_inline_scripts_alone() {
        let html = r#"<!doctype html><head><!-- <script>no()</script> -->
            <SCRIPT type="module">import a from './a.js';</SCRIPT>
            <script src="./b.js"></script><script
              SRC='c.js' defer></script>
            <script>if (a > b) "</scripty>"</script><scripting>no</scripting>
            <link data-src="x"><script data-src="y">last()</script >"#;
        assert_eq!(texts(html), ["import a from './a.js';", "if (a > b) \"</scripty>\"", "last()"]);
    }

    #[test]
    fn hashes_what_the_parser_sees() {
        assert_eq!(texts("<script>\r\none\rtwo\n</script>"), ["\none\ntwo\n"]);
        assert_eq!(texts("<script>never closed"), ["never closed"]);
        assert!(texts("<p>none</p>").is_empty());
    }

    #[test]
    fn writes_the_policy() {
        // The digests are those of `printf … | openssl dgst -sha256 -binary | base64`.
        assert_eq!(
            policy("<style>p{}</style><script>alert(1)</script>"),
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' \
             'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='; \
             style-src 'self' 'sha256-gG2yISYereRMiG2lMXrbiUgi0Ubw9p7QCeWcroOvy9Y='; connect-src 'self'; img-src 'self' data:; \
             font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'"
        );
    }
}
