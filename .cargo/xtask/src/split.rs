//! The page in two parts: what is needed to ask, and what is drawn from then on. rustc makes one
//! module of both; `wasm-split-cli` takes it apart at the functions marked with `wasm_split`, before
//! wasm-bindgen writes its glue. Trunk knows nothing of that: xtask is called in the place of its
//! wasm-bindgen, and afterwards puts the second part, and what loads it, beside what Trunk wrote.
//!
//! A plain `trunk build` makes a page in one part, which works as well and is only heavier to begin
//! with: it passes none of [`RUSTFLAGS`].

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::failure::{Context as _, Failure, Result};
use crate::folder::{files, read};
use crate::stand_in::{self, StandIn};

/// Relocations say what refers to what; the flag lets the page's source mark where to split.
pub(crate) const RUSTFLAGS: &str = "-Clink-args=--emit-relocs --cfg=split";

/// The page's crate.
const APP: &str = "holdfast-app";
/// The script that loads the later part, as `wasm-split-cli` names it.
const LOADER: &str = "__wasm_split.js";
/// How `wasm-split-cli` begins a later part's name.
const PART: &str = "split_";
/// Tells both stand-ins where the later parts are kept while Trunk works.
const FOLDER: &str = "XTASK_PAGE_PARTS";

/// Where the later parts are kept while Trunk works: as they were split off, and optimised.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) split: PathBuf,
    pub(crate) optimised: PathBuf,
}

impl Parts {
    /// In this folder.
    pub(crate) fn within(folder: &Path) -> Self {
        Self { split: folder.join("split"), optimised: folder.join("optimised") }
    }

    /// Where the build that calls this stand-in keeps them.
    pub(crate) fn of_this_build() -> Result<Self> {
        let folder = env::var_os(FOLDER);
        let folder = folder.ok_or_else(|| {
            Failure::usage(format!("{FOLDER} does not say where the page's parts are kept"))
        })?;
        Ok(Self::within(Path::new(&folder)))
    }

    /// Tells the stand-ins.
    pub(crate) fn tell<'a>(folder: &Path, command: &'a mut Command) -> &'a mut Command {
        command.env(FOLDER, folder)
    }
}

/// Stands in for wasm-bindgen: splits the module, and has the glue written for its first part.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let value = |flag| arguments.iter().find_map(|argument| argument.strip_prefix(flag));
    let module = arguments.iter().find(|argument| is_module(argument));
    let (Some(module), Some(name)) = (module, value("--out-name=")) else {
        // Asked for its version, say.
        let failed = StandIn::WasmBindgen.run_real(arguments)?;
        return Ok(failed.unwrap_or(ExitCode::SUCCESS));
    };
    let parts = Parts::of_this_build()?.split;
    empty(&parts)?;
    let split = ["--out-name", name, module].map(Path::new).into_iter().chain([&*parts]);
    if let Some(failed) = stand_in::split(split)? {
        return Ok(failed);
    }
    let first = parts.join(format!("{name}.wasm"));
    let first_argument = first.display().to_string();
    let glued = arguments.iter().map(
        |argument| {
            if argument == module { &first_argument } else { argument }
        },
    );
    // What only the later part uses looks unused to wasm-bindgen.
    let keep = "--keep-lld-exports".to_owned();
    let failed = StandIn::WasmBindgen.run_real(glued.chain([&keep]))?;
    fs::remove_file(&first).doing(format_args!("remove {}", first.display()))?;
    Ok(failed.unwrap_or(ExitCode::SUCCESS))
}

/// Whether a file of the page is the script that loads the later parts.
pub(crate) fn is_loader(file: &Path) -> bool {
    file.to_str().is_some_and(|name| name.ends_with("_split.js"))
}

/// Whether an argument names a module to be read.
pub(crate) fn is_module(argument: &str) -> bool {
    !argument.starts_with('-') && Path::new(argument).extension() == Some("wasm".as_ref())
}

/// The later parts in a folder, by file name.
pub(crate) fn modules(dir: &Path) -> Result<Vec<PathBuf>> {
    let files = if dir.is_dir() { files(dir)? } else { Vec::new() };
    Ok(files.into_iter().filter(|file| file.extension() == Some("wasm".as_ref())).collect())
}

/// Makes `dir` an empty folder: a part of an earlier build must not pass for one of this.
pub(crate) fn empty(dir: &Path) -> Result<()> {
    if dir.is_dir() {
        fs::remove_dir_all(dir).doing(format_args!("empty {}", dir.display()))?;
    }
    fs::create_dir_all(dir).doing(format_args!("create {}", dir.display()))
}

/// Puts the later parts beside the first in `dist`, and names all files after the content of all of
/// them: parts of two builds do not fit together, and each may be cached for ever.
pub(crate) fn join(dist: &Path, parts: &Parts) -> Result<()> {
    let old = trunks_name(dist)?;
    let glue = text(&dist.join(format!("{old}.js")))?;
    let first = read(&dist.join(format!("{old}_bg.wasm")))?;
    let loader = text(&parts.split.join(LOADER))?;
    // Those that were split off are wanted; one that is not optimised is an error.
    let names = modules(&parts.split)?;
    let later = names.iter().map(|name| read(&parts.optimised.join(name)));
    let later: Vec<_> = later.collect::<Result<_>>()?;

    let mut hasher = DefaultHasher::new();
    (&glue, &first, &loader, &later).hash(&mut hasher);
    let new = format!("{APP}-{:016x}", hasher.finish());

    let glue =
        replaced(&glue, &format!("from \"./{LOADER}\""), &format!("from \"./{new}_split.js\""))?;
    let mut loader = replaced(&loader, &format!("\"./{APP}.js\""), &format!("\"./{new}.js\""))?;
    for (name, part) in names.iter().zip(later) {
        let name = name.display().to_string();
        let file = format!("{new}_{}", name.trim_start_matches(PART));
        loader = replaced(&loader, &format!("\"./{name}\""), &format!("\"./{file}\""))?;
        write(&dist.join(file), &part)?;
    }
    let index = dist.join("index.html");
    let html = replaced(&text(&index)?, &old, &new)?;
    write(&dist.join(format!("{new}_split.js")), loader.as_bytes())?;
    write(&dist.join(format!("{new}_bg.wasm")), &first)?;
    write(&dist.join(format!("{new}.js")), glue.as_bytes())?;
    write(&index, html.as_bytes())?;
    for old in [format!("{old}.js"), format!("{old}_bg.wasm")] {
        fs::remove_file(dist.join(&old)).doing(format_args!("remove {old}"))?;
    }
    Ok(())
}

/// What Trunk has named the page's script and module, without their endings.
fn trunks_name(dist: &Path) -> Result<String> {
    let files = files(dist)?;
    let script = |file: &PathBuf| {
        let name = file.to_str()?.strip_suffix(".js")?;
        name.starts_with(APP).then(|| name.to_owned())
    };
    let mut names = files.iter().filter_map(script);
    match (names.next(), names.next()) {
        (Some(name), None) => Ok(name),
        _ => Err(Failure::new(format!("{} holds not exactly one {APP} script", dist.display()))),
    }
}

/// The text with every `from` replaced; a failure where there is none, because then the tool that
/// wrote it writes something else than it did.
fn replaced(text: &str, from: &str, to: &str) -> Result<String> {
    if text.contains(from) {
        Ok(text.replace(from, to))
    } else {
        Err(Failure::new(format!("what was built for the page names no {from}")))
    }
}

fn text(file: &Path) -> Result<String> {
    fs::read_to_string(file).doing(format_args!("read {}", file.display()))
}

fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(file, bytes).doing(format_args!("write {}", file.display()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::folder::Folder;

    fn built(name: &str, part: &str) -> Folder {
        let folder = Folder::new(
            &format!("split-{name}"),
            &[
                ("dist/index.html", b"import './holdfast-app-0a.js' './holdfast-app-0a_bg.wasm'"),
                (
                    "dist/holdfast-app-0a.js",
                    b"import * as one from \"./__wasm_split.js\"\n({ \"./__wasm_split.js\": one })",
                ),
                ("dist/holdfast-app-0a_bg.wasm", b"first"),
                ("parts/split/split_viewing.wasm", b"long"),
                ("parts/split/__wasm_split.js", b"\"./holdfast-app.js\" \"./split_viewing.wasm\""),
                ("parts/optimised/split_viewing.wasm", part.as_bytes()),
            ],
        );
        let at = |dir| folder.0.join(dir);
        join(&at("dist"), &Parts::within(&at("parts"))).unwrap();
        folder
    }

    #[test]
    fn every_file_is_named_after_all_of_them_and_names_the_others_so() {
        let folder = built("joined", "later");
        let dist = folder.0.join("dist");
        let names: Vec<_> =
            files(&dist).unwrap().iter().map(|file| file.display().to_string()).collect();
        let name = trunks_name_of(&names);
        let endings = [".js", "_bg.wasm", "_split.js", "_viewing.wasm"];
        let expected = endings.map(|ending| format!("{name}{ending}"));
        assert_eq!(names, [&expected[..], &["index.html".to_owned()]].concat());
        let says = |file: &str| text(&dist.join(file)).unwrap();
        assert_eq!(says("index.html"), format!("import './{name}.js' './{name}_bg.wasm'"));
        assert_eq!(
            says(&expected[0]),
            format!(
                "import * as one from \"./{name}_split.js\"\n({{ \"./__wasm_split.js\": one }})"
            )
        );
        assert_eq!(says(&expected[2]), format!("\"./{name}.js\" \"./{name}_viewing.wasm\""));
        assert_eq!(says(&expected[3]), "later");
    }

    fn trunks_name_of(names: &[String]) -> String {
        names.iter().find_map(|name| name.strip_suffix("_bg.wasm")).unwrap().to_owned()
    }

    #[test]
    fn another_later_part_makes_other_names() {
        let names = |folder: &Folder| files(&folder.0.join("dist")).unwrap();
        let (one, two) = (built("one", "later"), built("two", "another"));
        assert_ne!(names(&one), names(&two));
    }

    #[test]
    fn what_a_tool_writes_otherwise_is_noticed() {
        let folder = built("noticed", "later");
        let at = |dir| folder.0.join(dir);
        // The names are no longer Trunk's.
        assert!(join(&at("dist"), &Parts::within(&at("parts"))).is_err());
    }
}
