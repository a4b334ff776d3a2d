#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::Read as _;

use axum::body::to_bytes;

use super::*;

/// A file whose encodings can be told apart.
fn asset(path: &'static str) -> &'static Asset {
    Box::leak(Box::new(Asset::new(&embedded::File {
        path,
        identity: b"<script>go()</script>",
        brotli: Some(b"brotli"),
        gzip: Some(b"gzip"),
    })))
}

fn request(headers: &[(HeaderName, &str)]) -> HeaderMap {
    headers
        .iter()
        .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
        .collect()
}

fn get(asset: &'static Asset, headers: &[(HeaderName, &str)]) -> Response {
    respond(asset, &Method::GET, &request(headers))
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name).map(|value| value.to_str().unwrap())
}

async fn body(response: Response) -> Vec<u8> {
    to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()
}

#[tokio::test]
async fn sends_the_encoding_asked_for() {
    for (accept, encoding, length, bytes) in [
        ("br", Some("br"), "6", &b"brotli"[..]),
        ("gzip", Some("gzip"), "4", b"gzip"),
        ("zstd", None, "21", b"<script>go()</script>"),
    ] {
        let response = get(asset("a.js"), &[(header::ACCEPT_ENCODING, accept)]);
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(header(&response, "content-encoding"), encoding);
        assert_eq!(header(&response, "content-length"), Some(length));
        assert_eq!(header(&response, "vary"), Some("accept-encoding"));
        assert_eq!(header(&response, "x-content-type-options"), Some("nosniff"));
        assert_eq!(header(&response, "referrer-policy"), Some("no-referrer"));
        assert_eq!(body(response).await, bytes);
    }
}

#[tokio::test]
async fn head_says_what_get_would_without_a_body() {
    let headers = request(&[(header::ACCEPT_ENCODING, "br")]);
    let response = respond(asset("index.html"), &Method::HEAD, &headers);
    let same = respond(asset("index.html"), &Method::GET, &headers);
    assert_eq!(response.headers(), same.headers());
    assert!(body(response).await.is_empty());
}

#[tokio::test]
async fn a_current_copy_is_not_sent_again() {
    let first = get(asset("a.js"), &[(header::ACCEPT_ENCODING, "br")]);
    let tag = header(&first, "etag").unwrap().to_owned();
    for held in [tag.clone(), format!("W/{tag}"), format!("\"other\" , {tag}"), "*".to_owned()] {
        let headers = [(header::ACCEPT_ENCODING, "br"), (header::IF_NONE_MATCH, &held)];
        let response = get(asset("a.js"), &headers);
        assert_eq!(response.status(), StatusCode::NOT_MODIFIED, "{held}");
        assert_eq!(header(&response, "etag"), Some(&*tag));
        assert_eq!(header(&response, "cache-control"), Some("no-cache"));
        assert_eq!(header(&response, "vary"), Some("accept-encoding"));
        assert_eq!(header(&response, "content-length"), None);
        assert!(body(response).await.is_empty());
    }
    let stale = get(asset("a.js"), &[(header::IF_NONE_MATCH, "\"other\"")]);
    assert_eq!(stale.status(), StatusCode::OK);
}

#[test]
fn each_encoding_has_its_own_tag() {
    let tag = |accept| {
        let response = get(asset("a.js"), &[(header::ACCEPT_ENCODING, accept)]);
        header(&response, "etag").unwrap().to_owned()
    };
    assert_ne!(tag("br"), tag("gzip"));
    assert_ne!(tag("br"), tag("identity"));
    // A brotli copy does not make the gzip one current.
    let headers = [(header::ACCEPT_ENCODING, "gzip"), (header::IF_NONE_MATCH, &*tag("br"))];
    assert_eq!(get(asset("a.js"), &headers).status(), StatusCode::OK);
}

#[test]
fn only_documents_carry_a_policy() {
    let document = get(asset("index.html"), &[]);
    let policy = header(&document, "content-security-policy").unwrap();
    assert!(policy.contains("script-src 'self' 'wasm-unsafe-eval' 'sha256-"), "{policy}");
    assert_eq!(header(&document, "cache-control"), Some("no-cache"));
    assert_eq!(header(&get(asset("a.js"), &[]), "content-security-policy"), None);
}

#[test]
fn hashed_names_are_cached_for_ever() {
    for (path, hashed) in [
        ("holdfast-app-0123456789abcdef.js", true),
        ("holdfast-app-0123456789abcdef_bg.wasm", true),
        ("deep/main-0123456789abcdef.css", true),
        ("index.html", false),
        ("holdfast-app.js", false),
        ("apple-touch-icon-180.png", false),
        ("0123456789abcdef/icon.svg", false),
        ("snippets/leptos-0123456789abcdef/inline0.js", false),
    ] {
        let cached = header(&get(asset(path), &[]), "cache-control").unwrap().to_owned();
        assert_eq!(cached.contains("immutable"), hashed, "{path}: {cached}");
    }
}

#[test]
fn only_the_mount_and_its_index_find_the_document() {
    for path in ["", "/", "index.html", "/index.html"] {
        assert_eq!(find(path).unwrap().path, "index.html", "{path}");
    }
    for path in ["//", "/chat", "/holdfast-app.js", "/gone.wasm", "/../index.html", "index.html/"] {
        assert!(find(path).is_none(), "{path}");
    }
}

#[test]
fn the_placeholder_says_that_it_is_one() {
    let index = String::from_utf8_lossy(find("/").unwrap().identity).into_owned();
    let says_so = index.contains("built without the page");
    assert_eq!(says_so, IS_PLACEHOLDER, "{index}");
    let names_a_script = index.contains(".wasm");
    assert_ne!(names_a_script, IS_PLACEHOLDER, "{index}");
}

#[test]
fn embedded_encodings_hold_the_same_file() {
    for asset in ASSETS.iter() {
        let (mut from_brotli, mut from_gzip) = (Vec::new(), Vec::new());
        if let Some(bytes) = asset.brotli {
            assert!(bytes.len() < asset.identity.len());
            brotli::Decompressor::new(bytes, 4096).read_to_end(&mut from_brotli).unwrap();
            assert_eq!(from_brotli, asset.identity, "{}", asset.path);
        }
        if let Some(bytes) = asset.gzip {
            assert!(bytes.len() < asset.identity.len());
            flate2::read::GzDecoder::new(bytes).read_to_end(&mut from_gzip).unwrap();
            assert_eq!(from_gzip, asset.identity, "{}", asset.path);
        }
        assert!(content_type(asset.path) != "application/octet-stream", "{}", asset.path);
    }
    assert!(find("index.html").unwrap().brotli.is_some());
}
