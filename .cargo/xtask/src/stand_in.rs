//! Standing in for the two tools that Trunk calls on the page's module, so that the module becomes
//! two and both are right: xtask itself, called by their names, does what Trunk cannot be told to do
//! and runs the real one. Here belongs being called in their place, and calling them; what is done
//! then stands in `split` (for wasm-bindgen) and `wasm_opt`. Not here: installing them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::failure::{Context as _, Failure, Result};
use crate::workspace::Workspace;

/// The tool that splits a module. Nobody calls it but a stand-in.
pub(crate) const SPLITTER: &str = "wasm-split-cli";
const SPLITTER_VARIABLE: &str = "XTASK_WASM_SPLIT";

/// A tool that xtask stands in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StandIn {
    /// Splits the module before its glue is written.
    WasmBindgen,
    /// Optimises both parts, and repairs what an old version gets wrong.
    WasmOpt,
}

impl StandIn {
    const ALL: [Self; 2] = [Self::WasmBindgen, Self::WasmOpt];

    /// The one that xtask was called as.
    pub(crate) fn called(program: &Path) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| program.file_name() == Some(tool.name().as_ref()))
    }

    /// The name by which Trunk calls it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::WasmBindgen => "wasm-bindgen",
            Self::WasmOpt => "wasm-opt",
        }
    }

    /// Tells the stand-in where the real one is.
    const fn variable(self) -> &'static str {
        match self {
            Self::WasmBindgen => "XTASK_WASM_BINDGEN",
            Self::WasmOpt => "XTASK_WASM_OPT",
        }
    }

    /// Runs the real one. `None` if it went well.
    pub(crate) fn run_real<I, S>(self, arguments: I) -> Result<Option<ExitCode>>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        run(self.variable(), self.name(), arguments)
    }
}

/// Runs the tool that splits. `None` if it went well.
pub(crate) fn split<I, S>(arguments: I) -> Result<Option<ExitCode>>
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    run(SPLITTER_VARIABLE, SPLITTER, arguments)
}

/// Runs the tool that a variable says the place of. `None` if it went well.
fn run<I, S>(variable: &str, name: &str, arguments: I) -> Result<Option<ExitCode>>
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let real = env::var_os(variable)
        .ok_or_else(|| Failure::usage(format!("{variable} does not say where {name} is")))?;
    let status = Command::new(&real).args(arguments).status().doing(format_args!("run {name}"))?;
    if status.success() {
        return Ok(None);
    }
    let code = status.code().or(status.signal()).and_then(|code| u8::try_from(code).ok());
    Ok(Some(ExitCode::from(code.unwrap_or(1))))
}

/// Where the real ones are, as variables for a child that calls the stand-ins.
#[derive(Debug)]
pub(crate) struct Real(Vec<(&'static str, PathBuf)>);

impl Real {
    /// Looks along `path`.
    pub(crate) fn find(path: &OsStr) -> Result<Self> {
        let names = StandIn::ALL.map(|tool| (tool.variable(), tool.name()));
        let all = names.into_iter().chain([(SPLITTER_VARIABLE, SPLITTER)]);
        let find = |(variable, name)| {
            let mut files = env::split_paths(path).map(|dir| dir.join(name));
            let file = files.find(|file| file.is_file());
            let gone = || Failure::new(format!("{name} went away while this was running"));
            Ok((variable, file.ok_or_else(gone)?))
        };
        all.map(find).collect::<Result<_>>().map(Self)
    }

    /// A `PATH` on which the stand-ins come first.
    pub(crate) fn path(workspace: &Workspace, path: &OsStr) -> Result<OsString> {
        let dir = workspace.target.join("xtask");
        for tool in StandIn::ALL {
            link(&dir.join(tool.name()))?;
        }
        env::join_paths(std::iter::once(dir).chain(env::split_paths(path)))
            .doing("put the stand-ins on PATH")
    }

    /// Tells a child.
    pub(crate) fn tell<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.envs(self.0.iter().map(|(variable, file)| (variable, file)))
    }
}

/// Makes `link` lead to xtask.
fn link(link: &Path) -> Result<()> {
    let xtask = env::current_exe().doing("find xtask itself")?;
    if fs::read_link(link).is_ok_and(|target| target == xtask) {
        return Ok(());
    }
    let dir = link.parent().unwrap_or(link);
    fs::create_dir_all(dir).doing(format_args!("create {}", dir.display()))?;
    if link.is_symlink() {
        fs::remove_file(link).doing(format_args!("replace {}", link.display()))?;
    }
    symlink(xtask, link).doing(format_args!("create {}", link.display()))
}
