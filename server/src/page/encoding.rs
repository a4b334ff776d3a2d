//! Which encoding of a file a client likes best (`Accept-Encoding`, RFC 9110 § 12.5.3). Not here:
//! the encodings' bytes.

use axum::http::{HeaderMap, header};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Brotli,
    Gzip,
    Identity,
}

impl Encoding {
    /// The best first: the order in which equal wishes are met.
    const ALL: [Self; 3] = [Self::Brotli, Self::Gzip, Self::Identity];

    /// The value of `Content-Encoding`, which the file as it is does not get.
    pub(super) fn token(self) -> Option<&'static str> {
        match self {
            Self::Brotli => Some("br"),
            Self::Gzip => Some("gzip"),
            Self::Identity => None,
        }
    }
}

/// The encoding that the client wants most among those that are `there`; `Identity`, which always
/// is, also where the client wants none of them: RFC 9110 allows it, and an answer beats a 406.
pub(super) fn preferred(request: &HeaderMap, there: impl Fn(Encoding) -> bool) -> Encoding {
    let wishes = wishes(request);
    let mut best = (Encoding::Identity, 0.0);
    for encoding in Encoding::ALL {
        let quality = quality(&wishes, encoding);
        if quality > best.1 && there(encoding) {
            best = (encoding, quality);
        }
    }
    best.0
}

/// The listed codings with their quality values; elements that cannot be read are left out.
fn wishes(request: &HeaderMap) -> Vec<(String, f32)> {
    request
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(wish)
        .collect()
}

fn wish(element: &str) -> Option<(String, f32)> {
    let (coding, parameter) = match element.split_once(';') {
        Some((coding, parameter)) => (coding, Some(parameter)),
        None => (element, None),
    };
    let quality = match parameter {
        None => 1.0,
        Some(parameter) => {
            let (name, value) = parameter.split_once('=')?;
            let value: f32 = value.trim().parse().ok()?;
            if !name.trim().eq_ignore_ascii_case("q") || !(0.0..=1.0).contains(&value) {
                return None;
            }
            value
        }
    };
    Some((coding.trim().to_ascii_lowercase(), quality))
}

fn quality(wishes: &[(String, f32)], encoding: Encoding) -> f32 {
    let listed =
        |name: &str| wishes.iter().find(|(coding, _)| coding == name).map(|(_, quality)| *quality);
    let own = match encoding {
        Encoding::Brotli => listed("br"),
        Encoding::Gzip => listed("gzip").or_else(|| listed("x-gzip")),
        Encoding::Identity => listed("identity"),
    };
    own.or_else(|| listed("*")).unwrap_or(match encoding {
        // Acceptable without being named, but behind everything that was.
        Encoding::Identity => f32::MIN_POSITIVE,
        Encoding::Brotli | Encoding::Gzip => 0.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn chosen(accept: &[&'static str]) -> Encoding {
        let mut request = HeaderMap::new();
        for value in accept {
            request.append(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
        }
        preferred(&request, |_| true)
    }

    #[test]
    fn meets_the_wishes_of_clients() {
        use Encoding::{Brotli, Gzip, Identity};
        for (accept, expected) in [
            (&[][..], Identity),
            (&[""], Identity),
            (&["gzip, deflate, br, zstd"], Brotli),
            (&["gzip, deflate"], Gzip),
            (&["GZIP"], Gzip),
            (&["x-gzip"], Gzip),
            (&["deflate"], Identity),
            (&["br;q=0.5, gzip"], Gzip),
            (&["br ; q=0.5 , gzip;Q=0.4"], Brotli),
            (&["gzip;q=0.5, identity"], Identity),
            (&["identity;q=0.5, gzip;q=0.2"], Identity),
            (&["br;q=0, gzip;q=0"], Identity),
            (&["br;q=0, *"], Gzip),
            (&["*"], Brotli),
            (&["*;q=0"], Identity),
            (&["identity;q=0"], Identity),
            (&["gzip;q=0.001"], Gzip),
            (&["gzip", "br"], Brotli),
            (&["br;q=2, gzip"], Gzip),
            (&["br;q=nan, gzip"], Gzip),
            (&["br;level=3, gzip"], Gzip),
            (&["br;q, gzip;q=0.1"], Gzip),
        ] {
            assert_eq!(chosen(accept), expected, "Accept-Encoding: {accept:?}");
        }
    }

    #[test]
    fn passes_over_an_encoding_that_is_not_there() {
        let mut request = HeaderMap::new();
        request.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("br, gzip;q=0.1"));
        let there = |encoding| encoding != Encoding::Brotli;
        assert_eq!(preferred(&request, there), Encoding::Gzip);
        let none = |encoding| encoding == Encoding::Identity;
        assert_eq!(preferred(&request, none), Encoding::Identity);
    }
}
