//! Debian's packages: installed as root, else named in the command to run.

use std::fmt::Display;
use std::path::Path;

use super::{find_on_path, install_with};
use crate::child;
use crate::failure::{Failure, Result};
use crate::workspace::Workspace;

/// A program, and the package that brings it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Package {
    program: &'static str,
    package: &'static str,
}

/// Builds the server's allocator.
pub(super) const MAKE: Package = Package { program: "make", package: "make" };
pub(super) const WASM_OPT: Package = Package { program: "wasm-opt", package: "binaryen" };
pub(super) const CHROMIUM: Package = Package { program: "chromium", package: "chromium" };
pub(super) const CHROMEDRIVER: Package =
    Package { program: "chromedriver", package: "chromium-driver" };

/// Stands in front of the server in tests.
pub(super) const NGINX: Package = Package { program: "nginx", package: "nginx" };

impl Display for Package {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.program)
    }
}

impl Package {
    pub(super) fn is_there(self) -> bool {
        // Debian keeps servers where only root's `PATH` leads.
        find_on_path(self.program).is_some() || Path::new("/usr/sbin").join(self.program).is_file()
    }
}

/// Installs `missing`, as root with apt; otherwise says what to run.
pub(super) fn install(workspace: &Workspace, missing: &[Package]) -> Result<()> {
    let packages = packages(missing);
    let user = child::read("ask who is running this", workspace.command("id").arg("-u"))?;
    if user.trim() != "0" || find_on_path("apt-get").is_none() {
        return Err(Failure::new(advice(missing, find_on_path("apt-get").is_some())));
    }
    let apt = || {
        let mut apt = workspace.command("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    install_with("update Debian's package lists", apt().arg("update"))?;
    let mut command = apt();
    command.args(["install", "--yes", "--no-install-recommends"]).args(&packages);
    install_with(&format!("install {}", packages.join(", ")), &mut command)
}

/// A browser and its driver must be of one version: never one without the other.
fn packages(missing: &[Package]) -> Vec<&'static str> {
    let mut packages: Vec<_> = missing.iter().map(|package| package.package).collect();
    if missing.iter().any(|package| [CHROMIUM, CHROMEDRIVER].contains(package)) {
        packages.extend([CHROMIUM.package, CHROMEDRIVER.package]);
    }
    packages.sort_unstable();
    packages.dedup();
    packages
}

fn advice(missing: &[Package], has_apt: bool) -> String {
    let programs: Vec<_> = missing.iter().map(|package| package.program).collect();
    let programs = programs.join(" and ");
    if has_apt {
        format!(
            "{programs} missing and only root can install packages; run: sudo apt-get update && sudo apt-get install --no-install-recommends {}",
            packages(missing).join(" ")
        )
    } else {
        format!(
            "{programs} missing and there is no apt-get; install what your system calls {} and put it on PATH",
            packages(missing).join(" and ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browser_and_driver_come_together() {
        assert_eq!(packages(&[CHROMEDRIVER]), ["chromium", "chromium-driver"]);
        assert_eq!(packages(&[WASM_OPT]), ["binaryen"]);
        assert_eq!(
            packages(&[WASM_OPT, CHROMIUM, CHROMEDRIVER]),
            ["binaryen", "chromium", "chromium-driver"]
        );
    }

    #[test]
    fn tells_others_than_root_what_to_run() {
        assert_eq!(
            advice(&[WASM_OPT], true),
            "wasm-opt missing and only root can install packages; run: sudo apt-get update && \
             sudo apt-get install --no-install-recommends binaryen"
        );
        assert!(advice(&[CHROMIUM], false).contains("no apt-get"));
    }
}
