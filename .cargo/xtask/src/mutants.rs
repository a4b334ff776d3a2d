//! `mutants`: faults put into a copy of the product by hand, each of which a named test must catch.
//! They are patches in `tests/mutants`, whose first lines say what is wrong and who finds out. Not
//! here: the patches, and the tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::child;
use crate::failure::{Context as _, Failure, Result};
use crate::steps::Steps;
use crate::workspace::Workspace;

/// Where the patches are, in the repository.
const FOLDER: &str = "tests/mutants";
/// Begins the line that names the test.
const CAUGHT_BY: &str = "Caught by: ";

/// A test, by package, target and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Test {
    package: String,
    /// `lib`, or the name of a test target.
    target: String,
    name: String,
}

/// A fault and the test that catches it.
#[derive(Debug)]
struct Mutant {
    name: String,
    patch: PathBuf,
    caught_by: Test,
}

/// Puts each fault into a copy of the repository and sees it caught.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mutants = find(workspace)?;
    let copy = Copy::of(workspace);
    let mut steps = Steps::default();
    steps.run("copy", || copy.refresh(workspace))?;
    let tests: BTreeSet<_> = mutants.iter().map(|mutant| &mutant.caught_by).collect();
    for test in tests {
        steps.run(&format!("without a fault, {} passes", test.name), || {
            match copy.test(test)? {
                Ended::Passed => Ok(()),
                Ended::Failed(output) | Ended::Never(output) => {
                    eprintln!("{output}");
                    Err(Failure::new(format!("{} does not pass as things are", test.name)))
                }
            }
        })?;
    }
    for mutant in &mutants {
        steps.run_on(&format!("{}, caught by {}", mutant.name, mutant.caught_by.name), || {
            copy.apply(&mutant.patch)?;
            let ended = copy.test(&mutant.caught_by);
            copy.refresh(workspace)?;
            match ended? {
                Ended::Failed(_) => Ok(()),
                Ended::Passed => Err(Failure::new(format!("{} was not caught", mutant.name))),
                Ended::Never(output) => {
                    eprintln!("{output}");
                    Err(Failure::new(format!("with {} the test did not run", mutant.name)))
                }
            }
        });
    }
    steps.end()
}

/// Sees that every patch still fits, without applying any.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    for mutant in find(workspace)? {
        let mut git = workspace.command("git");
        git.args(["apply", "--check"]).arg(&mutant.patch);
        child::show(&format!("apply the mutant {}", mutant.name), &mut git)?;
    }
    Ok(())
}

fn find(workspace: &Workspace) -> Result<Vec<Mutant>> {
    let folder = workspace.root.join(FOLDER);
    let mut mutants = Vec::new();
    for entry in fs::read_dir(&folder).doing("list the mutants")? {
        let patch = entry.doing("list the mutants")?.path();
        let Some(name) = patch.file_name().and_then(|name| name.to_str()?.strip_suffix(".patch"))
        else {
            continue;
        };
        let text = fs::read_to_string(&patch).doing(format_args!("read the mutant {name}"))?;
        let caught_by = parse(&text).ok_or_else(|| {
            Failure::new(format!("the mutant {name} has no line “{CAUGHT_BY}PACKAGE TARGET TEST”"))
        })?;
        mutants.push(Mutant { name: name.to_owned(), patch: patch.clone(), caught_by });
    }
    if mutants.is_empty() {
        return Err(Failure::new(format!("there are no mutants in {FOLDER}")));
    }
    mutants.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(mutants)
}

fn parse(patch: &str) -> Option<Test> {
    let line = patch.lines().find_map(|line| line.strip_prefix(CAUGHT_BY))?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (package, target, name) = (words.next()?, words.next()?, words.next()?);
    Some(Test { package, target, name })
}

/// How a test ended.
enum Ended {
    Passed,
    /// It ran and failed, as its output says.
    Failed(String),
    /// It did not run at all, for what the output says.
    Never(String),
}

/// A copy of the repository to put faults into, with a target folder of its own: two clones that
/// share one pass their builds off as each other's.
struct Copy {
    tree: PathBuf,
    target: PathBuf,
}

impl Copy {
    fn of(workspace: &Workspace) -> Self {
        let folder = workspace.target.join("mutants");
        Self { tree: folder.join("tree"), target: folder.join("target") }
    }

    /// Makes the copy what the repository is. A file that is the same already is left alone, so that
    /// only what differs is built again.
    fn refresh(&self, workspace: &Workspace) -> Result<()> {
        let mut git = workspace.command("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let files = child::read("list the files of the repository", &mut git)?;
        let files: BTreeSet<_> = files.split('\0').filter(|file| !file.is_empty()).collect();
        self.prune(&self.tree, &files)?;
        for file in files {
            let (from, to) = (workspace.root.join(file), self.tree.join(file));
            // Deleted, and not yet committed as such.
            let Ok(content) = fs::read(&from) else { continue };
            if fs::read(&to).is_ok_and(|known| known == content) {
                continue;
            }
            let folder = to.parent().unwrap_or(&self.tree);
            fs::create_dir_all(folder).doing(format_args!("make {}", folder.display()))?;
            fs::write(&to, content).doing(format_args!("write {}", to.display()))?;
        }
        Ok(())
    }

    /// Removes what the repository does not have, or no longer.
    fn prune(&self, folder: &Path, files: &BTreeSet<&str>) -> Result<()> {
        let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
        for entry in entries {
            let path = entry.doing("list the copy")?.path();
            if path.is_dir() {
                self.prune(&path, files)?;
                continue;
            }
            let name = path.strip_prefix(&self.tree).ok().and_then(Path::to_str);
            if !name.is_some_and(|name| files.contains(name)) {
                fs::remove_file(&path).doing(format_args!("remove {}", path.display()))?;
            }
        }
        Ok(())
    }

    fn apply(&self, patch: &Path) -> Result<()> {
        let mut git = Command::new("git");
        // It lies inside a repository, whose paths are not meant.
        let above = self.tree.parent().unwrap_or(&self.tree);
        git.current_dir(&self.tree).env("GIT_CEILING_DIRECTORIES", above);
        child::show("apply a mutant", git.arg("apply").arg(patch))
    }

    fn test(&self, test: &Test) -> Result<Ended> {
        let mut cargo = Workspace::clean(&self.tree, "cargo");
        cargo.env("CARGO_TARGET_DIR", &self.target);
        cargo.args(["test", "--package", &test.package]);
        match &*test.target {
            "lib" => cargo.arg("--lib"),
            target => cargo.args(["--test", target]),
        };
        cargo.args(["--", "--exact", &test.name]);
        let output = cargo.output().doing("run cargo")?;
        let [said, log] =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        let all = || format!("{log}{said}");
        let ended = |how| said.contains(&format!("test {} ... {how}", test.name));
        Ok(match output.status.success() {
            true if ended("ok") => Ended::Passed,
            false if ended("FAILED") => Ended::Failed(all()),
            _ => Ended::Never(all()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_the_test_that_catches_it() {
        let patch = "What is wrong.\nCaught by: holdfast lib a::b\n\n--- a/x\n+++ b/x\n";
        let [package, target, name] = ["holdfast", "lib", "a::b"].map(str::to_owned);
        assert_eq!(parse(patch), Some(Test { package, target, name }));
        for wrong in ["", "Caught by: holdfast lib\n", "caught by: a b c\n"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
