//! The command line: what can be said, and the one sentence that a wrong word gets.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};

use crate::config::{Config, Settings};
use crate::journal::sqlite::{self, BackedUp, Checked, Stop};
use crate::serve;
use crate::signals::Signals;

/// The exit code of a wrong start: nothing was begun.
const WRONG_START: u8 = 2;
/// The exit code of a check that found something.
const FAULTS: u8 = 1;

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
    /// Check that the archive is sound, also while it is being served
    Check(Check),
    /// Copy the archive to a file, also while it is being served
    Backup(Backup),
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

#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is changed. The exit code is 0 if the archive is sound, 1 if faults \
    were found (a line each on standard output), and 2 if it cannot be checked."
)]
struct Check {
    #[command(flatten)]
    folder: Folder,
    /// A backup to check instead of the archive in the data folder
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The copy is consistent, and checked before it gets its name. To restore it, put \
    it into an empty data folder as holdfast.db, and start holdfast with that folder. The archive is \
    another one then: pages do not send it what they were asking the old one, and what was still \
    waiting in it is not sent to a model. The exit code is 0 if the backup was made, else 2."
)]
struct Backup {
    #[command(flatten)]
    folder: Folder,
    /// The file to make; it must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Where the archive is, said as for `serve`.
#[derive(Debug, Args)]
struct Folder {
    /// The folder of the archive.
    #[arg(help = "The folder of the archive [default: as for serve]")]
    #[arg(long, value_name = "DIR", env = "HOLDFAST_DATA", hide_env_values = true)]
    data: Option<PathBuf>,
    /// The configuration file that may name it.
    #[arg(help = "The configuration file that may name it [default: as for serve]")]
    #[arg(long, value_name = "FILE", env = "HOLDFAST_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
}

impl Folder {
    fn path(self) -> Result<PathBuf, String> {
        let Self { data, config } = self;
        let settings = Settings { data, config, ..Settings::default() };
        Config::data_folder(settings).map_err(|error| error.to_string())
    }
}

/// Runs the program with these arguments, the first of which is its own name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments.command,
        Err(error) => return explain(&error),
    };
    let ended = match command {
        Command::Serve(Serve { settings }) => {
            Config::load(settings).map_err(|error| error.to_string()).and_then(serve::run)
        }
        Command::Check(check) => check.run(),
        Command::Backup(backup) => backup.run(),
    };
    ended.unwrap_or_else(|sentence| refuse(&sentence))
}

impl Check {
    fn run(self) -> Result<ExitCode, String> {
        let (path, checked) = if let Some(file) = self.file {
            let checked = sqlite::check_file(&file);
            (file, checked)
        } else {
            let folder = self.folder.path()?;
            let checked = sqlite::check(&folder, None);
            (folder.join(sqlite::FILE), checked)
        };
        let Checked { faults, asks, unsettled, conversations } =
            checked.map_err(|error| error.to_string())?;
        if faults.is_empty() {
            say(&format!(
                "{}: sound (asks: {asks}, not settled: {unsettled}, conversations: {conversations})",
                path.display()
            ));
            return Ok(ExitCode::SUCCESS);
        }
        for fault in faults {
            say(&fault);
        }
        Ok(ExitCode::from(FAULTS))
    }
}

impl Backup {
    fn run(self) -> Result<ExitCode, String> {
        let folder = self.folder.path()?;
        let BackedUp { asks, bytes } = make(folder, self.file.clone())?;
        say(&format!("{}: backed up (asks: {asks}, bytes: {bytes})", self.file.display()));
        Ok(ExitCode::SUCCESS)
    }
}

/// Makes a backup, and heeds signals meanwhile: one that is stopped leaves nothing behind.
fn make(folder: PathBuf, to: PathBuf) -> Result<BackedUp, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let runtime = runtime.map_err(|error| format!("cannot watch signals: {error}"))?;
    runtime.block_on(async {
        let mut signals =
            Signals::new().map_err(|error| format!("cannot watch signals: {error}"))?;
        let stop = Arc::new(Stop::default());
        let heeded = Arc::clone(&stop);
        let mut made = tokio::task::spawn_blocking(move || sqlite::backup(&folder, &to, &heeded));
        let made = tokio::select! {
            made = &mut made => made,
            () = signals.next() => {
                stop.stop();
                made.await
            }
        };
        made.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    })
}

/// A line on standard output.
fn say(line: &str) {
    // Whoever closed it does not want to know; the exit code still tells.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
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
    // Where even that cannot be said, the exit code still tells.
    let _ = writeln!(std::io::stderr().lock(), "holdfast: {sentence}");
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
        let mut help = |name| {
            let help = command.find_subcommand_mut(name).unwrap().render_long_help();
            format!("\n──────\n{help}")
        };
        let parts = ["serve", "check", "backup"].map(&mut help).concat();
        insta::assert_snapshot!(format!("{whole}{parts}"));
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
