//! The command line. Not here: what the commands do.

use crate::failure::{Failure, Result};

/// What `help` prints.
pub(crate) const HELP: &str = "\
cargo xtask run [--flaky] [-- FLAGS]     build everything and run `holdfast serve FLAGS`; --flaky: behind a bad line
cargo xtask test [--long]                check everything: formatting, lints, page, size, all tests; --long: every cell, every fault
cargo xtask size                         build the page and weigh what a first visit fetches
cargo xtask simulate --seed S [--long]   play one world of the simulation again; --long: and thousands after it, or after the first
cargo xtask torture [--long]             lose power, fail and kill the server; --long: 2,000 and 500 times
cargo xtask mutants                      put each fault of tests/mutants into a copy, and see it caught
cargo xtask bench [--quick] [--only X]   measure against the bars; --quick: roughly; --only: one experiment;
                  [--provider ADDRESS]   --provider: a model server for first tokens, in place of one made up
cargo xtask help                         this list";

/// One invocation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Run { is_flaky: bool, serve: Vec<String> },
    Test { is_long: bool },
    Size,
    Simulate { seed: u64, is_long: bool },
    Torture { is_long: bool },
    Mutants,
    Bench { flags: Vec<String> },
    Help,
}

impl Command {
    /// Reads the arguments that follow the program's name.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let Some((command, arguments)) = arguments.split_first() else {
            return Ok(Self::Help);
        };
        match &**command {
            "run" => run(arguments),
            "test" => Ok(Self::Test { is_long: long(arguments)? }),
            "size" => none(arguments, Self::Size),
            "simulate" => simulate(arguments),
            "torture" => Ok(Self::Torture { is_long: long(arguments)? }),
            "mutants" => none(arguments, Self::Mutants),
            "bench" => bench(arguments),
            "help" | "--help" | "-h" => Ok(Self::Help),
            unknown => Err(Failure::usage(format!(
                "there is no command `{unknown}`; `cargo xtask help` lists them"
            ))),
        }
    }
}

fn run(arguments: &[String]) -> Result<Command> {
    let mut is_flaky = false;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match &**argument {
            "--flaky" => is_flaky = true,
            "--" => return Ok(Command::Run { is_flaky, serve: arguments.cloned().collect() }),
            unknown => {
                return Err(Failure::usage(format!(
                    "`run` knows no `{unknown}`; flags for `holdfast serve` follow a `--`"
                )));
            }
        }
    }
    Ok(Command::Run { is_flaky, serve: Vec::new() })
}

fn simulate(arguments: &[String]) -> Result<Command> {
    let (mut seed, mut is_long) = (None, false);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match &**argument {
            "--long" => is_long = true,
            "--seed" => {
                let value =
                    arguments.next().ok_or_else(|| Failure::usage("`--seed` needs a number"))?;
                seed = Some(value.parse().map_err(|_| {
                    Failure::usage(format!(
                        "`--seed {value}` is not a number from 0 to {}",
                        u64::MAX
                    ))
                })?);
            }
            unknown => return Err(unexpected(unknown)),
        }
    }
    let first = is_long.then_some(1);
    let seed = seed.or(first).ok_or_else(|| Failure::usage("`simulate` needs `--seed S`"))?;
    Ok(Command::Simulate { seed, is_long })
}

/// Whether the one flag is there that says that time is no matter.
fn long(arguments: &[String]) -> Result<bool> {
    match arguments {
        [] => Ok(false),
        [long] if long == "--long" => Ok(true),
        [long, unknown, ..] if long == "--long" => Err(unexpected(unknown)),
        [unknown, ..] => Err(unexpected(unknown)),
    }
}

/// Its flags are passed on as they are, once they are known to be some.
fn bench(arguments: &[String]) -> Result<Command> {
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match &**argument {
            "--quick" => {}
            "--only" => {
                rest.next().ok_or_else(|| Failure::usage("`--only` needs a name"))?;
            }
            "--provider" => {
                rest.next().ok_or_else(|| Failure::usage("`--provider` needs an address"))?;
            }
            unknown => return Err(unexpected(unknown)),
        }
    }
    Ok(Command::Bench { flags: arguments.to_vec() })
}

fn none(arguments: &[String], command: Command) -> Result<Command> {
    arguments.first().map_or(Ok(command), |argument| Err(unexpected(argument)))
}

fn unexpected(argument: &str) -> Failure {
    Failure::usage(format!("`{argument}` is not expected here; `cargo xtask help` lists what is"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn parse(line: &str) -> Result<Command> {
        let arguments: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        Command::parse(&arguments)
    }

    #[test]
    fn reads_the_commands() {
        let serve = |flags: &[&str]| flags.iter().map(|&flag| flag.to_owned()).collect();
        for (line, command) in [
            ("", Command::Help),
            ("help", Command::Help),
            ("--help", Command::Help),
            ("test", Command::Test { is_long: false }),
            ("test --long", Command::Test { is_long: true }),
            ("size", Command::Size),
            ("run", Command::Run { is_flaky: false, serve: serve(&[]) }),
            ("run --", Command::Run { is_flaky: false, serve: serve(&[]) }),
            ("run --flaky", Command::Run { is_flaky: true, serve: serve(&[]) }),
            (
                "run -- --listen 127.0.0.1:0 --flaky",
                Command::Run {
                    is_flaky: false,
                    serve: serve(&["--listen", "127.0.0.1:0", "--flaky"]),
                },
            ),
            ("torture", Command::Torture { is_long: false }),
            ("torture --long", Command::Torture { is_long: true }),
            ("mutants", Command::Mutants),
            ("bench", Command::Bench { flags: vec![] }),
            (
                "bench --quick --only asks --provider [::1]:8080",
                Command::Bench {
                    flags: serve(&["--quick", "--only", "asks", "--provider", "[::1]:8080"]),
                },
            ),
            ("simulate --seed 7", Command::Simulate { seed: 7, is_long: false }),
            ("simulate --long", Command::Simulate { seed: 1, is_long: true }),
            ("simulate --long --seed 7", Command::Simulate { seed: 7, is_long: true }),
        ] {
            assert_eq!(parse(line).unwrap(), command, "{line}");
        }
    }

    #[test]
    fn refuses_the_rest_in_one_sentence() {
        for (line, sentence) in [
            ("tset", "there is no command `tset`; `cargo xtask help` lists them"),
            (
                "run --listen x",
                "`run` knows no `--listen`; flags for `holdfast serve` follow a `--`",
            ),
            ("test --fast", "`--fast` is not expected here; `cargo xtask help` lists what is"),
            (
                "test --long --long",
                "`--long` is not expected here; `cargo xtask help` lists what is",
            ),
            ("torture -l", "`-l` is not expected here; `cargo xtask help` lists what is"),
            ("bench --only", "`--only` needs a name"),
            ("bench --provider", "`--provider` needs an address"),
            ("bench --slow", "`--slow` is not expected here; `cargo xtask help` lists what is"),
            ("simulate", "`simulate` needs `--seed S`"),
            ("simulate --seed", "`--seed` needs a number"),
            ("simulate --seed -1", "`--seed -1` is not a number from 0 to 18446744073709551615"),
        ] {
            assert_eq!(parse(line).unwrap_err().to_string(), sentence, "{line}");
        }
    }

    #[test]
    fn help_names_every_command() {
        for command in ["run", "test", "size", "simulate", "torture", "mutants", "bench", "help"] {
            assert!(HELP.contains(&format!("cargo xtask {command} ")), "{command}");
        }
    }
}
