//! `test`: everything that a change must pass, in an order in which the quick says no first. Not
//! here: what the steps check.

use serde_json::Value;

use crate::child;
use crate::failure::{Context as _, Failure, Result};
use crate::results::Results;
use crate::steps::Steps;
use crate::tools::{Purpose, Tools};
use crate::workspace::Workspace;
use crate::{host, mutants, page, size};

/// The package with the tests of the whole, which need the built binary.
const WHOLE: &str = "holdfast-tests";
/// Its target that drives a browser: one at a time, as two would be slow enough to miss deadlines.
const BROWSER: &str = "browser";

/// Runs every step that can run, and ends with the sums; `is_long`: tests that play a share of many
/// cases play all of them.
pub(crate) fn run(workspace: &Workspace, is_long: bool) -> Result<()> {
    let mut steps = Steps::default();
    let mut results = Results::default();
    let ended = check(workspace, is_long, &mut steps, &mut results);
    let failure = ended.and(steps.end()).and(verdict(results)).err();
    if let Some(failure) = &failure {
        eprintln!("xtask: {failure}.");
    }
    // The last line, alone: others read it.
    println!("{results}");
    failure.map_or(Ok(()), |_| Err(Failure::told()))
}

/// A failure that stops the rest is returned; one that does not is kept in `steps`.
fn check(
    workspace: &Workspace,
    is_long: bool,
    steps: &mut Steps,
    results: &mut Results,
) -> Result<()> {
    let tools = steps.run("tools", || Tools::ensure(workspace, Purpose::Test))?;
    steps.run_on("formatting", || {
        let mut cargo = workspace.cargo();
        child::show("agree with the formatting", cargo.args(["fmt", "--all", "--check"]))
    });
    steps.run_on("mutants fit", || mutants::check(workspace));
    let page = steps.run_on("page", || page::build(workspace, &tools));
    if page.is_some() {
        steps.run_on("size", || size::check(&workspace.page()));
    }
    steps.run_on("lints", || {
        let mut cargo = host::in_workspace(workspace, "clippy");
        cargo.args(["--all-targets", "--keep-going", "--", "--deny", "warnings"]);
        child::show("pass the lints", &mut cargo)
    });
    steps.run("build", || {
        let mut cargo = host::in_workspace(workspace, "build");
        child::show("build the host's side", cargo.arg("--all-targets"))
    })?;

    let targets = test_targets(workspace)?;
    let mut cargo_test = |name: &str, arguments: &[&str], harness: &[&str]| {
        let mut cargo = host::in_workspace(workspace, "test");
        cargo.env("HOLDFAST_BIN", workspace.binary("holdfast"));
        if is_long {
            cargo.env("HOLDFAST_LONG", "1");
        }
        cargo.arg("--no-fail-fast").args(arguments).arg("--").args(harness);
        steps.run_on(name, || {
            child::listen("pass the tests", &mut cargo, |line| results.hear(line))
        });
    };
    let mut units = vec!["--lib", "--bins"];
    for target in targets.iter().filter(|target| target.package != WHOLE) {
        units.extend(["--test", &target.name]);
    }
    cargo_test("unit and property tests", &units, &[]);
    cargo_test("documentation tests", &["--doc"], &[]);
    for Target { name, .. } in in_order(&targets) {
        if page.is_none() {
            return Err(Failure::new(
                "without a page there is nothing for the tests of the whole to test",
            ));
        }
        let harness: &[&str] = if name == BROWSER { &["--test-threads=1"] } else { &[] };
        cargo_test(name, &["--test", name], harness);
    }
    Ok(())
}

/// What the sums alone say.
fn verdict(results: Results) -> Result<()> {
    match results {
        Results { failed: 1.., .. } => Err(Failure::new("tests failed")),
        Results { ignored: 1.., .. } => Err(Failure::new("tests are ignored, which none may be")),
        Results { passed: 0, .. } => Err(Failure::new("no test was run")),
        _ => Ok(()),
    }
}

/// A target of tests, of its own file beside the code.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    package: String,
    name: String,
}

/// The tests of the whole, the browser's last: it takes the longest to say no.
fn in_order(targets: &[Target]) -> Vec<&Target> {
    let mut whole: Vec<_> = targets.iter().filter(|target| target.package == WHOLE).collect();
    whole.sort_by_key(|target| target.name == BROWSER);
    whole
}

fn test_targets(workspace: &Workspace) -> Result<Vec<Target>> {
    let mut cargo = workspace.cargo();
    cargo.args(["metadata", "--no-deps", "--format-version", "1"]);
    let metadata = child::read("list the tests", &mut cargo)?;
    parse_targets(&serde_json::from_str(&metadata).doing("read cargo's metadata")?)
}

fn parse_targets(metadata: &Value) -> Result<Vec<Target>> {
    let list = |value: &Value, key: &str| {
        let list = value.get(key).and_then(Value::as_array).cloned();
        list.ok_or_else(|| Failure::new(format!("cargo's metadata has no list of {key}")))
    };
    let name = |value: &Value| {
        let name = value.get("name").and_then(Value::as_str).map(str::to_owned);
        name.ok_or_else(|| Failure::new("cargo's metadata has a thing without a name"))
    };
    let mut targets = Vec::new();
    for package in list(metadata, "packages")? {
        for target in list(&package, "targets")? {
            if list(&target, "kind")?.iter().any(|kind| kind == "test") {
                targets.push(Target { package: name(&package)?, name: name(&target)? });
            }
        }
    }
    Ok(targets)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_full_pass_passes() {
        assert!(verdict(Results { passed: 1, failed: 0, ignored: 0 }).is_ok());
        assert!(verdict(Results { passed: 9, failed: 1, ignored: 0 }).is_err());
        assert!(verdict(Results { passed: 9, failed: 0, ignored: 1 }).is_err());
        assert!(verdict(Results::default()).is_err());
    }

    #[test]
    fn finds_the_targets_and_puts_the_browser_last() {
        let target = |kind, name| json!({"kind": [kind], "name": name});
        let targets = parse_targets(&json!({"packages": [
            {"name": "holdfast", "targets": [target("lib", "holdfast"), target("test", "outages")]},
            {"name": WHOLE, "targets": [target("test", BROWSER), target("test", "conformance")]},
        ]}))
        .unwrap();
        assert_eq!(targets.len(), 3);
        assert_eq!(targets.first().map(|target| &*target.name), Some("outages"));
        let order: Vec<_> = in_order(&targets).iter().map(|target| &*target.name).collect();
        assert_eq!(order, ["conformance", BROWSER]);
    }

    #[test]
    fn metadata_of_another_shape_is_a_failure() {
        assert!(parse_targets(&json!({})).is_err());
        assert!(parse_targets(&json!({"packages": [{"name": "x"}]})).is_err());
    }
}
