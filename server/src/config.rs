//! The configuration: flag, then environment, then file, then default.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdfast_protocol::system_prompt;
use serde::Deserialize;
use thiserror::Error;

use crate::http::PublicUrl;
use crate::provider::Secret;
use crate::runs::Limits;

/// Everything that can be set, each part absent where it is not. The same for the command line, the
/// environment and the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Where to listen; a loopback address. Port 0 picks a free one [default: 127.0.0.1:8787]
    #[arg(long, value_name = "ADDRESS:PORT", env = "HOLDFAST_LISTEN", hide_env_values = true)]
    #[arg(value_parser = listen)]
    pub listen: Option<Listen>,
    /// The folder of the archive.
    #[arg(help = "The folder of the archive [default: $XDG_DATA_HOME/holdfast, else \
                  ~/.local/share/holdfast]")]
    #[arg(long, value_name = "DIR", env = "HOLDFAST_DATA", hide_env_values = true)]
    pub data: Option<PathBuf>,
    /// The configuration file.
    #[arg(
        help = "The configuration file, in TOML [default: $XDG_CONFIG_HOME/holdfast/config.toml, \
                  if there]"
    )]
    #[arg(long, value_name = "FILE", env = "HOLDFAST_CONFIG", hide_env_values = true)]
    #[serde(skip)]
    pub config: Option<PathBuf>,
    /// Where people find the server when that is not its own address.
    #[arg(help = "Where people find the server behind a proxy, such as https://example.org/chat/")]
    #[arg(long, value_name = "URL", env = "HOLDFAST_PUBLIC_URL", hide_env_values = true)]
    pub public_url: Option<String>,
    /// What answers: Holdfast's own handbook, or an OpenAI-compatible model server [default: notes]
    #[arg(long, value_name = "NAME", env = "HOLDFAST_PROVIDER", hide_env_values = true)]
    pub provider: Option<ProviderName>,
    /// The model server's base URL [default: the hosted API]
    #[arg(long, value_name = "URL", env = "HOLDFAST_PROVIDER_URL", hide_env_values = true)]
    pub provider_url: Option<String>,
    /// The model to ask where a question names none [default: the only one there is]
    #[arg(long, value_name = "NAME", env = "HOLDFAST_MODEL", hide_env_values = true)]
    pub model: Option<String>,
    /// The most tokens an answer may have [default: the model server's own limit]
    #[arg(long, value_name = "N", env = "HOLDFAST_MAX_OUTPUT_TOKENS", hide_env_values = true)]
    pub max_output_tokens: Option<u32>,
    /// What is put first in what a model is shown, unless a conversation has its own text for that.
    #[arg(help = "What a model is told first, unless a conversation says otherwise")]
    #[arg(long, value_name = "TEXT", env = "HOLDFAST_SYSTEM_PROMPT", hide_env_values = true)]
    #[serde(alias = "system_prompt")]
    pub system_prompt: Option<String>,
    /// How many seconds a model server gets to begin its answer [default: 300]
    #[arg(
        long,
        value_name = "SECONDS",
        env = "HOLDFAST_FIRST_BYTE_TIMEOUT",
        hide_env_values = true
    )]
    pub first_byte_timeout: Option<NonZeroU32>,
    /// How many seconds it may be silent in mid answer; a comment counts as life [default: 300]
    #[arg(long, value_name = "SECONDS", env = "HOLDFAST_SILENCE_TIMEOUT", hide_env_values = true)]
    pub silence_timeout: Option<NonZeroU32>,
    /// How many seconds a whole answer may take [default: 3600]
    #[arg(long, value_name = "SECONDS", env = "HOLDFAST_ANSWER_TIMEOUT", hide_env_values = true)]
    pub answer_timeout: Option<NonZeroU32>,
    /// How many seconds running answers get when the server is stopped [default: 30]
    #[arg(long, value_name = "SECONDS", env = "HOLDFAST_DRAIN", hide_env_values = true)]
    pub drain: Option<u32>,
}

/// An address to listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Listen(pub SocketAddr);

fn listen(text: &str) -> Result<Listen, String> {
    Listen::try_from(text.to_owned())
}

impl TryFrom<String> for Listen {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let localhost = || {
            let port = text.strip_prefix("localhost:")?.parse().ok()?;
            Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
        };
        let address = text.parse().ok().or_else(localhost);
        address.map(Self).ok_or_else(|| "must be ADDRESS:PORT, such as 127.0.0.1:8787".to_owned())
    }
}

/// A provider, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderName {
    /// Holdfast's own handbook; no key, no network
    Notes,
    /// An OpenAI-compatible model server or API
    Openai,
}

/// What the server was told, complete.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen; loopback.
    pub listen: SocketAddr,
    /// The folder of the archive.
    pub data: PathBuf,
    /// Where people find the server when that is not its own address.
    pub public_url: Option<PublicUrl>,
    /// What answers.
    pub provider: ProviderName,
    /// Whether the operator named it.
    pub provider_is_named: bool,
    /// The model server's base URL.
    pub provider_url: Option<String>,
    /// The model to ask where an ask names none.
    pub model: Option<String>,
    /// The most tokens an answer may have.
    pub max_output_tokens: Option<u32>,
    /// What is put first in what a model is shown, unless a conversation has its own.
    pub system_prompt: Option<String>,
    /// How long a model server may take.
    pub limits: Limits,
    /// How long running answers get when the server is stopped.
    pub drain: Duration,
    /// The provider's key.
    pub key: Option<Secret>,
}

/// Why the configuration is none, in a sentence.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The configuration file is not as it should be.
    #[error("{}: {message}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// There is no place for the archive.
    #[error("neither HOME nor XDG_DATA_HOME is set; name the data folder with --data")]
    NoHome,
    /// Everybody on the network could read and ask.
    #[error(
        "{0} is not a loopback address, and there is no sign-in yet to protect others; listen on \
         127.0.0.1 and put a proxy with access control in front"
    )]
    NotLoopback(SocketAddr),
    /// The public URL is none.
    #[error("--public-url {0}")]
    PublicUrl(&'static str),
    /// The system prompt cannot be kept.
    #[error("--system-prompt: {0}")]
    SystemPrompt(String),
    /// An option that does nothing with this provider.
    #[error("{0} needs --provider openai")]
    NeedsProvider(&'static str),
}

impl Config {
    /// Completes what the command line and the environment say.
    ///
    /// # Errors
    /// A sentence about the first thing that cannot be. Nothing has been changed.
    pub fn load(settings: Settings) -> Result<Self, ConfigError> {
        Self::complete(settings, environment)
    }

    /// The data folder that a server with these settings would use.
    ///
    /// # Errors
    /// A sentence about why there is none.
    pub fn data_folder(settings: Settings) -> Result<PathBuf, ConfigError> {
        data_folder(settings.or_from_file(&environment)?.data, &environment)
    }

    fn complete(
        settings: Settings,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ConfigError> {
        let settings = settings.or_from_file(&environment)?;
        let provider = settings.provider.unwrap_or(ProviderName::Notes);
        if provider == ProviderName::Notes {
            for (flag, is_set) in [
                ("--provider-url", settings.provider_url.is_some()),
                ("--model", settings.model.is_some()),
                ("--max-output-tokens", settings.max_output_tokens.is_some()),
            ] {
                if is_set {
                    return Err(ConfigError::NeedsProvider(flag));
                }
            }
        }
        let listen = settings
            .listen
            .map_or_else(|| SocketAddr::from((Ipv4Addr::LOCALHOST, 8787)), |listen| listen.0);
        if !listen.ip().is_loopback() {
            return Err(ConfigError::NotLoopback(listen));
        }
        let public_url = settings.public_url.as_deref().map(str::parse).transpose();
        let limits = limits(&settings);
        let prompt = settings.system_prompt.as_deref().map(system_prompt).transpose();
        let prompt = prompt.map_err(ConfigError::SystemPrompt)?;
        Ok(Self {
            listen,
            data: data_folder(settings.data, &environment)?,
            public_url: public_url.map_err(ConfigError::PublicUrl)?,
            provider,
            provider_is_named: settings.provider.is_some(),
            provider_url: settings.provider_url,
            model: settings.model,
            max_output_tokens: settings.max_output_tokens,
            system_prompt: prompt.filter(|prompt| !prompt.is_empty()),
            limits,
            drain: Duration::from_secs(settings.drain.unwrap_or(30).into()),
            key: match provider {
                ProviderName::Notes => None,
                ProviderName::Openai => key(environment, "OPENAI_API_KEY")?,
            },
        })
    }
}

fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// One of the user's base directories.
fn base(
    environment: &impl Fn(&str) -> Option<OsString>,
    variable: &str,
    home: &str,
) -> Option<PathBuf> {
    // The base directory specification says to ignore relative paths.
    let variable = environment(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    variable.or_else(|| Some(PathBuf::from(environment("HOME")?).join(home)))
}

fn data_folder(
    named: Option<PathBuf>,
    environment: &impl Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, ConfigError> {
    named
        .or_else(|| Some(base(environment, "XDG_DATA_HOME", ".local/share")?.join("holdfast")))
        .ok_or(ConfigError::NoHome)
}

/// The provider's key, from the places that are meant for it.
fn key(
    environment: impl Fn(&str) -> Option<OsString>,
    conventional: &str,
) -> Result<Option<Secret>, ConfigError> {
    let text = |name: &str| environment(name).and_then(|value| value.into_string().ok());
    if let Some(key) = text("HOLDFAST_PROVIDER_KEY") {
        return Ok(Secret::new(&key));
    }
    if let Some(path) = environment("HOLDFAST_PROVIDER_KEY_FILE") {
        let path = PathBuf::from(path);
        return std::fs::read_to_string(&path)
            .map(|key| Secret::new(&key))
            .map_err(|source| ConfigError::Read { path, source });
    }
    Ok(text(conventional).as_deref().and_then(Secret::new))
}

fn limits(settings: &Settings) -> Limits {
    let set = |seconds: Option<NonZeroU32>, default| {
        seconds.map_or(default, |seconds| Duration::from_secs(seconds.get().into()))
    };
    let Limits { first_byte, silence, run } = Limits::default();
    Limits {
        first_byte: set(settings.first_byte_timeout, first_byte),
        silence: set(settings.silence_timeout, silence),
        run: set(settings.answer_timeout, run),
    }
}

impl Settings {
    /// These, and where they say nothing, what the configuration file says.
    fn or_from_file(
        self,
        environment: &impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ConfigError> {
        let file = match &self.config {
            Some(path) => Self::read(path)?,
            None => base(environment, "XDG_CONFIG_HOME", ".config")
                .map(|base| base.join("holdfast/config.toml"))
                .filter(|path| path.exists())
                .map_or_else(|| Ok(Self::default()), |path| Self::read(&path))?,
        };
        Ok(self.or(file))
    }

    fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        toml::from_str(&text).map_err(|error| {
            let line = error
                .span()
                .map(|span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
            let words: Vec<_> = error.message().split_whitespace().collect();
            let message = words.join(" ");
            ConfigError::File {
                path: path.to_owned(),
                message: line.map_or(message.clone(), |line| format!("line {line}: {message}")),
            }
        })
    }

    /// These, and where they say nothing, the others.
    fn or(self, other: Self) -> Self {
        Self {
            listen: self.listen.or(other.listen),
            data: self.data.or(other.data),
            config: self.config.or(other.config),
            public_url: self.public_url.or(other.public_url),
            provider: self.provider.or(other.provider),
            provider_url: self.provider_url.or(other.provider_url),
            model: self.model.or(other.model),
            max_output_tokens: self.max_output_tokens.or(other.max_output_tokens),
            system_prompt: self.system_prompt.or(other.system_prompt),
            first_byte_timeout: self.first_byte_timeout.or(other.first_byte_timeout),
            silence_timeout: self.silence_timeout.or(other.silence_timeout),
            answer_timeout: self.answer_timeout.or(other.answer_timeout),
            drain: self.drain.or(other.drain),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn complete(settings: Settings, environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let environment = environment.to_vec();
        Config::complete(settings, |name| {
            let found = environment.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    fn file(text: &str) -> (tempfile::TempDir, Settings) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        (folder, Settings { config: Some(path), ..Settings::default() })
    }

    #[test]
    fn the_defaults_need_no_more_than_a_home() {
        let config = complete(Settings::default(), &[("HOME", "/home/ada")]).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8787");
        assert_eq!(config.data, Path::new("/home/ada/.local/share/holdfast"));
        assert_eq!((config.provider, config.drain.as_secs()), (ProviderName::Notes, 30));
        assert!(!config.provider_is_named);
        let relative = [("HOME", "/home/ada"), ("XDG_DATA_HOME", "data")];
        assert_eq!(complete(Settings::default(), &relative).unwrap().data, config.data);
        let absolute = [("XDG_DATA_HOME", "/data")];
        let config = complete(Settings::default(), &absolute).unwrap();
        assert_eq!(config.data, Path::new("/data/holdfast"));
        assert!(matches!(complete(Settings::default(), &[]), Err(ConfigError::NoHome)));
    }

    #[test]
    fn a_flag_beats_the_file_and_the_file_the_default() {
        let (_folder, mut settings) = file(
            "listen = \"localhost:1\"\ndata = \"/a\"\nprovider = \"openai\"\ndrain = 5\n\
             silence-timeout = 7\n\
             public-url = \"https://example.org/chat/\"\nmax-output-tokens = 9",
        );
        settings.data = Some("/b".into());
        let config = complete(settings, &[]).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:1");
        assert_eq!(config.data, Path::new("/b"));
        assert_eq!((config.provider, config.drain.as_secs()), (ProviderName::Openai, 5));
        assert_eq!(config.max_output_tokens, Some(9));
        let silence = Duration::from_secs(7);
        assert_eq!(config.limits, Limits { silence, ..Limits::default() });
        assert!(config.public_url.is_some() && config.provider_is_named);
    }

    #[test]
    fn a_system_prompt_may_be_in_the_file_under_either_spelling() {
        let home = [("HOME", "/h")];
        for key in ["system-prompt", "system_prompt"] {
            let (_folder, settings) = file(&format!("{key} = \"\"\"\nBe brief.\n\"\"\""));
            let config = complete(settings.clone(), &home).unwrap();
            assert_eq!(config.system_prompt.as_deref(), Some("Be brief."));
            let flag = Settings { system_prompt: Some(" ".to_owned()), ..settings };
            assert_eq!(complete(flag, &home).unwrap().system_prompt, None, "an empty one is none");
        }
        let long = Settings { system_prompt: Some("é".repeat(16_001)), ..Settings::default() };
        let sentence = complete(long, &home).unwrap_err().to_string();
        assert!(sentence.starts_with("--system-prompt: The system prompt has 16001"), "{sentence}");
    }

    #[test]
    fn a_wrong_file_is_named_with_its_line() {
        for (text, said) in [
            ("drain = 5\ncolour = 1", "line 2: unknown field `colour`"),
            ("listen = \"0\"", "line 1: must be ADDRESS:PORT"),
            ("provider = \"oracle\"", "unknown variant `oracle`"),
            ("drain =", "line 1"),
            ("silence-timeout = 0", "line 1: invalid value: integer `0`"),
        ] {
            let sentence = complete(file(text).1, &[("HOME", "/h")]).unwrap_err().to_string();
            // The folder is gone by then: read it while it is there.
            assert!(sentence.contains("config.toml"), "{sentence}");
            let (_folder, settings) = file(text);
            let sentence = complete(settings, &[("HOME", "/h")]).unwrap_err().to_string();
            assert!(sentence.contains(said) && !sentence.contains('\n'), "{sentence}");
        }
    }

    #[test]
    fn nobody_else_can_be_let_in() {
        for address in ["0.0.0.0:1", "192.168.0.1:1", "[::]:1"] {
            let settings = Settings {
                listen: Some(listen(address).unwrap()),
                data: Some("/d".into()),
                ..Settings::default()
            };
            let sentence = complete(settings, &[]).unwrap_err().to_string();
            assert!(sentence.contains("loopback"), "{sentence}");
        }
    }

    #[test]
    fn a_model_server_is_used_only_where_its_provider_is_named() {
        let settings =
            Settings { provider_url: Some("http://127.0.0.1:8080".into()), ..Settings::default() };
        let sentence = complete(settings, &[("HOME", "/h")]).unwrap_err().to_string();
        assert_eq!(sentence, "--provider-url needs --provider openai");
    }

    #[test]
    fn keys_are_read_only_for_the_provider_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "from-file\n").unwrap();
        let path = path.to_str().unwrap();
        let openai = Settings { provider: Some(ProviderName::Openai), ..Settings::default() };
        let key = |settings: &Settings, environment: &[(&str, &str)]| {
            let mut environment = environment.to_vec();
            environment.push(("HOME", "/h"));
            let key = complete(settings.clone(), &environment).unwrap().key;
            key.map(|key| key.expose().to_owned())
        };
        let own = ("HOLDFAST_PROVIDER_KEY", "own");
        let from_file = ("HOLDFAST_PROVIDER_KEY_FILE", path);
        let conventional = ("OPENAI_API_KEY", "conventional");
        assert_eq!(key(&openai, &[conventional, from_file, own]).as_deref(), Some("own"));
        assert_eq!(key(&openai, &[conventional, from_file]).as_deref(), Some("from-file"));
        assert_eq!(key(&openai, &[conventional]).as_deref(), Some("conventional"));
        assert_eq!(key(&openai, &[("ANTHROPIC_API_KEY", "a")]), None);
        assert_eq!(key(&Settings::default(), &[conventional, own]), None);
    }
}
