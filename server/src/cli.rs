//! The command line: what can be said, and the one sentence that a wrong word gets.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};

use crate::config::{Config, Settings};
use crate::serve;

/// The exit code of a wrong start: nothing was begun.
const WRONG_START: u8 = 2;

#[derive(Debug, Parser)]
#[command(
    name = "holdfast",
    version,
    about = "A self-hosted chat whose answers cannot get lost",
    max_term_width = 100
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the page and the API
    Serve(Serve),
}

#[derive(Debug, Args)]
#[command(after_help = "Each option is taken from its flag, else from its environment variable, \
    else from the configuration file, where it has the flag's name. A provider's key comes from \
    HOLDFAST_PROVIDER_KEY, from the file named by HOLDFAST_PROVIDER_KEY_FILE, or from \
    OPENAI_API_KEY for the provider openai; never from a flag or the configuration file.")]
struct Serve {
    #[command(flatten)]
    settings: Settings,
}

/// Runs the program with these arguments, the first of which is its own name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments.command,
        Err(error) => return explain(&error),
    };
    let Command::Serve(Serve { settings }) = command;
    match Config::load(settings).map_err(|error| error.to_string()).and_then(serve::run) {
        Ok(code) => code,
        Err(sentence) => refuse(&sentence),
    }
}

fn explain(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // Where even that cannot be printed, nobody is there to be told.
            let _ = error.print();
            ExitCode::from(if error.use_stderr() { WRONG_START } else { 0 })
        }
        _ => refuse(&sentence(&error.to_string())),
    }
}

/// The first paragraph of what clap says, on one line; the rest is how to get help.
fn sentence(error: &str) -> String {
    let first = error.split("\n\n").next().unwrap_or_default();
    let words: Vec<_> = first.split_whitespace().collect();
    let text = words.join(" ");
    format!("{}; see holdfast --help", text.strip_prefix("error: ").unwrap_or(&text))
}

fn refuse(sentence: &str) -> ExitCode {
    eprintln!("holdfast: {sentence}");
    ExitCode::from(WRONG_START)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_help_is_as_reviewed() {
        let mut command = Arguments::command().term_width(100);
        command.build();
        let whole = command.render_long_help().to_string();
        let serve = command.find_subcommand_mut("serve").unwrap().render_long_help().to_string();
        insta::assert_snapshot!(format!("{whole}\n──────\n{serve}"));
    }

    #[test]
    fn a_wrong_word_gets_one_sentence() {
        for (arguments, said) in [
            (&["holdfast", "serve", "--colour"][..], "unexpected argument '--colour' found"),
            (&["holdfast", "serve", "--provider", "oracle"], "invalid value 'oracle'"),
            (&["holdfast", "sing"], "unrecognized subcommand 'sing'"),
            (&["holdfast", "serve", "--listen", "nowhere"], "invalid value 'nowhere'"),
            (&["holdfast", "serve", "--listen"], "a value is required"),
        ] {
            let error = Arguments::try_parse_from(arguments).unwrap_err();
            let sentence = sentence(&error.to_string());
            assert!(sentence.contains(said), "{sentence}");
            assert!(!sentence.contains('\n'), "{sentence}");
        }
    }
}
