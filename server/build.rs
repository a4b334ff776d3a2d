//! Embeds the page: every file of the folder named by `HOLDFAST_PAGE` (Trunk's `dist`), with the
//! brotli and gzip forms of those that get smaller, as the table `page::FILES`. Without
//! `HOLDFAST_PAGE` a placeholder is embedded, so that a clean clone builds, lints and tests without
//! the page's toolchain. How a file is served is decided in `src/page/`, not here.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PLACEHOLDER: &str = "src/page/placeholder";

fn main() -> Result<()> {
    println!("cargo::rerun-if-env-changed=HOLDFAST_PAGE");
    let named = std::env::var_os("HOLDFAST_PAGE").filter(|dir| !dir.is_empty());
    let is_placeholder = named.is_none();
    let page = named.map_or_else(|| PathBuf::from(PLACEHOLDER), PathBuf::from);
    println!("cargo::rerun-if-changed={}", page.display());
    if !page.join("index.html").is_file() {
        return Err(format!(
            "HOLDFAST_PAGE names {}, which holds no index.html: build the page with `cargo xtask run`",
            page.display()
        )
        .into());
    }

    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let embedded = out.join("page");
    // Hashed names change with their content: what an earlier page left would only pile up.
    if embedded.exists() {
        fs::remove_dir_all(&embedded)?;
    }
    fs::create_dir_all(&embedded)?;

    let mut files = Vec::new();
    walk(&page, &mut files)?;
    files.sort();
    let mut table = format!(
        "/// Whether this build embeds the placeholder instead of the page.\n\
         pub const IS_PLACEHOLDER: bool = {is_placeholder};\n\
         pub(crate) static FILES: &[File] = &[\n"
    );
    for (index, file) in files.iter().enumerate() {
        let path = file.strip_prefix(&page)?;
        let path = path.to_str().ok_or_else(|| format!("{} is not UTF-8", path.display()))?;
        let identity = fs::read(file)?;
        let stem = embedded.join(index.to_string());
        let (brotli, gzip) = if is_compressed_already(file) {
            (None, None)
        } else {
            (
                Some(brotli(&identity)?).filter(|bytes| bytes.len() < identity.len()),
                Some(gzip(&identity)?).filter(|bytes| bytes.len() < identity.len()),
            )
        };
        writeln!(
            table,
            "File {{ path: {path:?}, identity: {}, brotli: {}, gzip: {} }},",
            include(&stem.with_extension("identity"), &identity)?,
            include_some(&stem.with_extension("br"), brotli)?,
            include_some(&stem.with_extension("gz"), gzip)?,
        )?;
    }
    table.push_str("];\n");
    fs::write(out.join("page.rs"), table)?;
    Ok(())
}

fn walk(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        // Trunk's staging folder and editors' leftovers begin with a dot; no page file does.
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn is_compressed_already(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("png" | "jpg" | "jpeg" | "webp" | "avif" | "gif" | "woff2"))
}

/// The strongest setting: this runs once per page, and every byte is fetched before the first
/// question. `cargo xtask size` counts with the same one.
fn brotli(identity: &[u8]) -> Result<Vec<u8>> {
    let params = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 22,
        size_hint: identity.len(),
        ..Default::default()
    };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut &*identity, &mut compressed, &params)?;
    Ok(compressed)
}

fn gzip(identity: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(identity)?;
    Ok(encoder.finish()?)
}

/// Writes `bytes` to `file` and returns the expression that embeds it.
fn include(file: &Path, bytes: &[u8]) -> Result<String> {
    fs::write(file, bytes)?;
    let file = file.to_str().ok_or("OUT_DIR is not UTF-8")?;
    Ok(format!("include_bytes!({file:?})"))
}

fn include_some(file: &Path, bytes: Option<Vec<u8>>) -> Result<String> {
    bytes.map_or_else(
        || Ok("None".to_owned()),
        |bytes| Ok(format!("Some({})", include(file, &bytes)?)),
    )
}
