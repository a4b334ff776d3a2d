//! The page, embedded: finding a file of it and answering a request for one.
//!
//! Here belong content types, encodings, validators, caching and the page's security headers. Not
//! here: routes (the router asks [`find`] for what no route took, and answers 404 itself), and the
//! embedding, which `build.rs` does.
//!
//! ```
//! use axum::http::{HeaderMap, Method};
//! use holdfast::page;
//!
//! let index = page::find("/").expect("a build always embeds an index.html");
//! let response = page::respond(index, &Method::GET, &HeaderMap::new());
//! assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
//! ```

mod csp;
mod encoding;

use std::sync::LazyLock;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

pub use self::embedded::IS_PLACEHOLDER;
use self::encoding::Encoding;

/// What `serve` says when it was built without the page.
pub const PLACEHOLDER_REFUSAL: &str =
    "this binary was built without the page; build it with `cargo xtask run`";

/// The table that `build.rs` wrote.
mod embedded {
    pub(crate) struct File {
        pub(crate) path: &'static str,
        pub(crate) identity: &'static [u8],
        pub(crate) brotli: Option<&'static [u8]>,
        pub(crate) gzip: Option<&'static [u8]>,
    }

    include!(concat!(env!("OUT_DIR"), "/page.rs"));
}

static ASSETS: LazyLock<Vec<Asset>> =
    LazyLock::new(|| embedded::FILES.iter().map(Asset::new).collect());

/// One file of the page, in each encoding that is smaller than the file itself.
#[derive(Debug)]
pub struct Asset {
    /// Relative to the mount, with `/` between its parts: `index.html`, `public/icon.svg`.
    pub path: &'static str,
    /// The value of `Content-Type`.
    pub content_type: &'static str,
    /// The file as it is.
    pub identity: &'static [u8],
    /// Compressed with brotli, quality 11.
    pub brotli: Option<&'static [u8]>,
    /// Compressed with gzip, level 9.
    pub gzip: Option<&'static [u8]>,
    /// The opaque part of the entity tag; each encoding adds its own suffix to it.
    etag: String,
    /// Only on documents, which are the only place where a browser looks for one.
    content_security_policy: Option<HeaderValue>,
}

impl Asset {
    fn new(file: &embedded::File) -> Self {
        let content_type = content_type(file.path);
        let is_document = content_type.starts_with("text/html");
        // 96 bits are beyond any accident, and nobody gains by forging the tag of a public file.
        let digest = Sha256::digest(file.identity);
        let etag = URL_SAFE_NO_PAD.encode(digest.get(..12).unwrap_or(&digest));
        Self {
            path: file.path,
            content_type,
            identity: file.identity,
            brotli: file.brotli,
            gzip: file.gzip,
            etag,
            content_security_policy: is_document
                .then(|| csp::policy(&String::from_utf8_lossy(file.identity)))
                .and_then(|policy| HeaderValue::try_from(policy).ok()),
        }
    }

    fn body(&self, encoding: Encoding) -> Option<&'static [u8]> {
        match encoding {
            Encoding::Brotli => self.brotli,
            Encoding::Gzip => self.gzip,
            Encoding::Identity => Some(self.identity),
        }
    }

    /// The entity tag of one encoding: a strong validator names bytes, and these differ.
    fn entity_tag(&self, encoding: Encoding) -> String {
        match encoding.token() {
            Some(token) => format!("\"{}-{token}\"", self.etag),
            None => format!("\"{}\"", self.etag),
        }
    }

    fn cache_control(&self) -> &'static str {
        if has_hashed_name(self.path) { "public, max-age=31536000, immutable" } else { "no-cache" }
    }
}

/// The file at `path`, which is relative to the mount; a leading `/` is ignored. Only the mount
/// itself and `index.html` find the document, so that a path nobody knows, or a stale script's,
/// never gets HTML in the place of what it asked for.
pub fn find(path: &str) -> Option<&'static Asset> {
    let path = match path.strip_prefix('/').unwrap_or(path) {
        "" => "index.html",
        path => path,
    };
    ASSETS.iter().find(|asset| asset.path == path)
}

/// Answers a `GET` or `HEAD` for `asset`: 304 where the client's copy is current, else the file in
/// the encoding that the client likes best. The caller refuses other methods.
pub fn respond(asset: &'static Asset, method: &Method, request: &HeaderMap) -> Response {
    let encoding = encoding::preferred(request, |encoding| asset.body(encoding).is_some());
    let body = asset.body(encoding).unwrap_or(asset.identity);
    let entity_tag = asset.entity_tag(encoding);
    let is_current = is_current(request, &entity_tag);

    let mut response = Response::new(match (is_current, method == Method::HEAD) {
        (false, false) => Body::from(body),
        _ => Body::empty(),
    });
    let headers = response.headers_mut();
    let mut insert = |name: HeaderName, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    insert(header::CACHE_CONTROL, asset.cache_control());
    insert(header::VARY, "accept-encoding");
    insert(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    insert(header::REFERRER_POLICY, "no-referrer");
    if !is_current {
        insert(header::CONTENT_TYPE, asset.content_type);
        if let Some(token) = encoding.token() {
            insert(header::CONTENT_ENCODING, token);
        }
        // Also where no body goes with it: HEAD says what GET would.
        headers.insert(header::CONTENT_LENGTH, body.len().into());
    }
    if let Ok(entity_tag) = HeaderValue::try_from(entity_tag) {
        headers.insert(header::ETAG, entity_tag);
    }
    if let Some(policy) = &asset.content_security_policy {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    }
    if is_current {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    response
}

/// `If-None-Match` (RFC 9110, § 13.1.2): a list of tags, compared weakly, or `*`.
fn is_current(request: &HeaderMap, entity_tag: &str) -> bool {
    request
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == entity_tag)
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        // Anything else makes browsers fall back from streaming compilation.
        "wasm" => "application/wasm",
        "webmanifest" => "application/manifest+json",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Whether the name carries a hash of the content: `app-0123456789abcdef.js`, or of all parts of the
/// page: `app-0123456789abcdef_bg.wasm`. Only such a name can be cached for ever.
fn has_hashed_name(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let stem = stem.split_once('_').map_or(stem, |(stem, _)| stem);
    stem.rsplit_once('-').is_some_and(|(_, hash)| {
        hash.len() >= 12 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests;
