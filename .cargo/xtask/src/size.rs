//! What a first visit costs: the bytes of every file that the browser fetches before the first
//! question can be asked, as they travel. Not here: compressing for the binary, which
//! `server/build.rs` does with the same settings.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::failure::{Context as _, Failure, Result};
use crate::folder::{files, read};
use crate::split;

/// Bytes, brotli where it helps.
const LIMIT: usize = 150_000;

/// One file of the page.
#[derive(Debug, PartialEq, Eq)]
struct Weighed {
    file: PathBuf,
    raw: usize,
    travels: usize,
}

/// Prints the table for the page in `dir`; a failure if it weighs more than the limit.
pub(crate) fn check(dir: &Path) -> Result<()> {
    let cold = cold(dir)?;
    let is_later =
        |file: &PathBuf| file.extension() == Some("wasm".as_ref()) && !cold.contains(file);
    let later = files(dir)?.into_iter().filter(is_later).collect();
    let total = weigh(dir, &cold, "fetched cold until a question can be asked")?;
    println!("{total:>10} {:>10}  of {LIMIT} allowed", "");
    weigh(dir, &later, "fetched then")?;
    if total > LIMIT {
        return Err(Failure::new(format!(
            "the page weighs {total} bytes, {} more than the {LIMIT} allowed",
            total - LIMIT
        )));
    }
    Ok(())
}

/// Prints the files, the heaviest first; returns what they weigh together.
fn weigh(dir: &Path, files: &BTreeSet<PathBuf>, when: &str) -> Result<usize> {
    let mut weighed = Vec::new();
    for file in files {
        let bytes = read(&dir.join(file))?;
        weighed.push(Weighed { file: file.clone(), raw: bytes.len(), travels: travels(&bytes)? });
    }
    weighed.sort_by_key(|file| std::cmp::Reverse(file.travels));
    println!("{:>10} {:>10}  {when}", "brotli", "raw");
    for Weighed { file, raw, travels } in &weighed {
        println!("{travels:>10} {raw:>10}  {}", file.display());
    }
    Ok(weighed.iter().map(|file| file.travels).sum())
}

/// The files that loading `index.html` fetches: those it names, and those that the scripts and
/// style sheets among them name. Rather one too many: what is named in a comment counts. The script
/// that loads the later parts of the page is fetched, and they are only once it is called.
fn cold(dir: &Path) -> Result<BTreeSet<PathBuf>> {
    let all = files(dir)?;
    let mut cold = BTreeSet::new();
    let mut fetched = vec![PathBuf::from("index.html")];
    while let Some(file) = fetched.pop() {
        if !cold.insert(file.clone()) || !names_others(&file) {
            continue;
        }
        let text = read(&dir.join(&file))?;
        let text = String::from_utf8_lossy(&text);
        fetched.extend(all.iter().filter(|other| is_named(&text, other)).cloned());
    }
    Ok(cold)
}

fn names_others(file: &Path) -> bool {
    if split::is_loader(file) {
        return false;
    }
    let extension = file.extension().and_then(|extension| extension.to_str());
    // Not the manifest: a browser reads it when the page is installed.
    matches!(extension, Some("html" | "js" | "css"))
}

fn is_named(text: &str, file: &Path) -> bool {
    file.file_name().and_then(|name| name.to_str()).is_some_and(|name| text.contains(name))
}

fn travels(bytes: &[u8]) -> Result<usize> {
    let params = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 22,
        size_hint: bytes.len(),
        ..Default::default()
    };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut &*bytes, &mut compressed, &params).doing("compress the page")?;
    Ok(compressed.len().min(bytes.len()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::folder::Folder;

    /// Bytes that do not compress.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1_u64;
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        })
        .take(length)
        .collect()
    }

    #[test]
    fn counts_what_loading_fetches() {
        let page = Folder::new(
            "cold",
            &[
                ("index.html", b"<link href=./main-1.css><script>import './app-1.js'</script>"),
                ("main-1.css", b"@font-face { src: url(public/face.woff2) }"),
                ("app-1.js", b"import './app-1_split.js'; fetch('app-1_bg.wasm')"),
                ("app-1_split.js", b"() => fetch('app-1_viewing.wasm')"),
                ("app-1_viewing.wasm", b""),
                ("app-1_bg.wasm", b"\0asm later.js"),
                ("public/face.woff2", b""),
                ("public/app.webmanifest", b"large.png"),
                ("public/large.png", b""),
                ("later.js", b""),
            ],
        );
        let cold: Vec<_> = cold(&page.0).unwrap().into_iter().collect();
        let expected = [
            "app-1.js",
            "app-1_bg.wasm",
            "app-1_split.js",
            "index.html",
            "main-1.css",
            "public/face.woff2",
        ];
        assert_eq!(cold, expected.map(PathBuf::from));
    }

    #[test]
    fn travels_compressed_where_that_is_smaller() {
        assert!(travels(&[b'a'; 10_000]).unwrap() < 100);
        assert_eq!(travels(&noise(1000)).unwrap(), 1000);
    }

    #[test]
    fn fails_above_the_limit() {
        let named = b"app.wasm".as_slice();
        let light = Folder::new("light", &[("index.html", named), ("app.wasm", &noise(149_000))]);
        assert!(check(&light.0).is_ok());
        let heavy = Folder::new("heavy", &[("index.html", named), ("app.wasm", &noise(150_001))]);
        let failure = check(&heavy.0).unwrap_err().to_string();
        assert!(failure.contains("more than the 150000 allowed"), "{failure}");
    }
}
