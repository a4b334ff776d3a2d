//! Who may talk to a server without sign-in: programs and pages on this very machine.
//!
//! A page of another site can make a browser send requests to a loopback address, and can make its
//! own name resolve to one. `Host` gives away the second, `Sec-Fetch-Site` and `Origin` the first.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use axum::http::request::Parts;
use axum::http::uri::{Authority, Scheme};
use axum::http::{HeaderMap, HeaderName, Method, Uri, header};
use holdfast_protocol::Code;

use super::problem::{Fault, Result};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Where people find the server when that is not its own address: `https://example.org/chat/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    scheme: Scheme,
    host: String,
    port: u16,
}

impl FromStr for PublicUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let refusal = "must be an http or https URL such as https://example.org/chat/";
        let uri: Uri = text.parse().map_err(|_| refusal)?;
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(refusal);
        };
        let port = default_port(scheme).ok_or(refusal)?;
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err(refusal);
        }
        Ok(Self {
            scheme: scheme.clone(),
            host: authority.host().to_ascii_lowercase(),
            port: authority.port_u16().unwrap_or(port),
        })
    }
}

impl PublicUrl {
    fn is_host(&self, authority: &Authority) -> bool {
        let port = authority.port_u16().or_else(|| default_port(&self.scheme));
        authority.host().eq_ignore_ascii_case(&self.host) && port == Some(self.port)
    }

    fn is_origin(&self, origin: &Uri) -> bool {
        origin.scheme() == Some(&self.scheme)
            && origin.authority().is_some_and(|authority| self.is_host(authority))
    }
}

fn default_port(scheme: &Scheme) -> Option<u16> {
    match scheme.as_str() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

/// Checks the `Host` of every request. The target's own authority, which proxies use, counts too.
pub(super) fn check_host(parts: &Parts, public_url: Option<&PublicUrl>) -> Result<()> {
    let is_ours = |authority: &Authority| {
        is_loopback(authority.host()) || public_url.is_some_and(|url| url.is_host(authority))
    };
    let named = parts.uri.authority().is_none_or(is_ours);
    let host = host(&parts.headers).is_some_and(|host| is_ours(&host));
    if named && host {
        return Ok(());
    }
    Err(Fault::new(
        Code::HostRejected,
        "Holdfast does not answer under this name; start it with --public-url to allow it.",
    ))
}

/// Checks where a request that changes something comes from.
pub(super) fn check_origin(parts: &Parts, public_url: Option<&PublicUrl>) -> Result<()> {
    if [Method::GET, Method::HEAD, Method::OPTIONS].contains(&parts.method) {
        return Ok(());
    }
    let headers = &parts.headers;
    let allowed = if headers.contains_key(SEC_FETCH_SITE) {
        is_only(headers, &SEC_FETCH_SITE, |site| site == "same-origin")
    } else if headers.contains_key(header::ORIGIN) {
        is_only(headers, &header::ORIGIN, |origin| is_own_origin(origin, headers, public_url))
    } else {
        // No browser, and no cookie says who it is: a program on this machine.
        true
    };
    if allowed {
        return Ok(());
    }
    Err(Fault::new(
        Code::OriginRejected,
        "The request comes from another site's page. If this is Holdfast's own address, start it \
         with --public-url.",
    ))
}

fn is_own_origin(origin: &str, headers: &HeaderMap, public_url: Option<&PublicUrl>) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else { return false };
    if public_url.is_some_and(|url| url.is_origin(&uri)) {
        return true;
    }
    // The server itself speaks plain HTTP.
    let own = host(headers);
    let theirs = uri.authority().map(Authority::as_str);
    uri.scheme() == Some(&Scheme::HTTP)
        && own.is_some_and(|own| theirs.is_some_and(|it| own.as_str().eq_ignore_ascii_case(it)))
}

/// The one `Host`; two are none.
fn host(headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next()?;
    if hosts.next().is_some() {
        return None;
    }
    let authority: Authority = host.to_str().ok()?.parse().ok()?;
    (!authority.as_str().contains('@')).then_some(authority)
}

fn is_only(headers: &HeaderMap, name: &HeaderName, is: impl Fn(&str) -> bool) -> bool {
    headers.get_all(name).iter().all(|value| value.to_str().is_ok_and(&is))
}

/// `localhost` and names below it (RFC 6761), and the loopback addresses.
fn is_loopback(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .and_then(|host| host.parse::<Ipv6Addr>().ok())
            .is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use axum::http::Request;

    use super::*;

    fn parts(target: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::post(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn public() -> PublicUrl {
        "https://Example.org/chat/".parse().unwrap()
    }

    #[test]
    fn only_loopback_names_and_the_public_one_are_hosts() {
        let public = public();
        for (host, alone, with_public) in [
            ("localhost", true, true),
            ("LOCALHOST:8787", true, true),
            ("localhost.:1", true, true),
            ("chat.localhost", true, true),
            ("127.0.0.1:8787", true, true),
            ("127.255.0.9", true, true),
            ("[::1]:8787", true, true),
            ("example.org", false, true),
            ("EXAMPLE.org:443", false, true),
            ("example.org:8443", false, false),
            ("example.org.evil.test", false, false),
            ("localhost.evil.test", false, false),
            ("evil.test", false, false),
            ("10.0.0.1", false, false),
            ("0.0.0.0", false, false),
            ("127.1", false, false),
            ("2130706433", false, false),
            ("[::ffff:127.0.0.1]", false, false),
            ("user@localhost", false, false),
            ("", false, false),
            ("<script>", false, false),
        ] {
            let parts = parts("/", &[("host", host)]);
            assert_eq!(check_host(&parts, None).is_ok(), alone, "{host:?} alone");
            assert_eq!(check_host(&parts, Some(&public)).is_ok(), with_public, "{host:?}");
        }
    }

    #[test]
    fn a_request_names_one_host_in_one_way() {
        assert!(check_host(&parts("/", &[]), None).is_err(), "no host");
        let two = [("host", "localhost"), ("host", "localhost")];
        assert!(check_host(&parts("/", &two), None).is_err(), "two hosts");
        let absolute = parts("http://evil.test/", &[("host", "localhost")]);
        assert!(check_host(&absolute, None).is_err(), "the target names another");
        let absolute = parts("http://localhost/", &[("host", "localhost")]);
        assert!(check_host(&absolute, None).is_ok());
    }

    #[test]
    fn a_change_comes_from_here() {
        let public = public();
        for (headers, allowed) in [
            (&[][..], true),
            (&[("sec-fetch-site", "same-origin")], true),
            // Present, it decides: a proxy may have changed the rest.
            (&[("sec-fetch-site", "same-origin"), ("origin", "https://evil.test")], true),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "none")], false),
            (&[("sec-fetch-site", "")], false),
            (&[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")], false),
            (&[("origin", "http://localhost:8787")], true),
            (&[("origin", "http://LOCALHOST:8787")], true),
            (&[("origin", "https://localhost:8787")], false),
            (&[("origin", "http://localhost")], false),
            (&[("origin", "http://localhost:8788")], false),
            (&[("origin", "null")], false),
            (&[("origin", "")], false),
            (&[("origin", "http://evil.test")], false),
            (&[("origin", "https://example.org")], true),
            (&[("origin", "https://example.org:443")], true),
            (&[("origin", "http://example.org")], false),
            (&[("origin", "https://example.org.evil.test")], false),
        ] {
            let mut all = vec![("host", "localhost:8787")];
            all.extend(headers);
            let parts = parts("/", &all);
            assert_eq!(check_origin(&parts, Some(&public)).is_ok(), allowed, "{headers:?}");
        }
    }

    #[test]
    fn reading_is_left_to_the_browsers_own_rules() {
        let mut parts = parts("/", &[("host", "localhost"), ("origin", "http://evil.test")]);
        parts.method = Method::GET;
        assert!(check_origin(&parts, None).is_ok());
    }

    #[test]
    fn a_public_url_is_an_absolute_one() {
        for text in ["", "/chat/", "example.org", "ftp://example.org/", "https://me@example.org/"] {
            assert!(text.parse::<PublicUrl>().is_err(), "{text:?}");
        }
        assert!("http://example.org:8080".parse::<PublicUrl>().is_ok());
    }
}
