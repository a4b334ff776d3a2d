//! The OpenAI-compatible dialect: chat completions, streamed. Spoken by the hosted API, llama.cpp,
//! Ollama, vLLM, LM Studio and most others.
//!
//! Here is the order of one call; what each part of it means is in the modules below, none of which
//! does I/O: [`endpoint`] (where to), `request` (what is sent), `answer` and `chunk` (what comes back),
//! `catalog` (which models), `failure` (what went wrong). Only `client` opens connections.
//!
//! *Architecture invariant:* one call is one request on a connection of its own.

mod answer;
mod catalog;
mod chunk;
mod client;
pub mod endpoint;
mod failure;
mod request;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use holdfast_protocol::{Model, Route};
use thiserror::Error;

use self::answer::{Answer, Pieces, Progress};
use self::catalog::{Catalog, Choice};
use self::client::{Client, Next, Reply};
pub use self::client::{ClientError, Timeouts};
use self::endpoint::{Endpoint, EndpointError, HOSTED};
use self::failure::Failures;
use super::secret::Secret;
use super::{Call, Generated, Piece, Provider, ProviderError};

/// What is to be known of a provider before it can be called.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Where it is, by the rule of [`endpoint`]; the hosted API if absent.
    pub url: Option<String>,
    /// The model asked when an ask names none.
    pub model: Option<String>,
    /// Sent to that URL and nowhere else.
    pub key: Option<Secret>,
    /// The most tokens an answer may take; the provider's own bound if absent.
    pub max_output_tokens: Option<u32>,
    /// How long it may take.
    pub timeouts: Timeouts,
}

/// Why a [`Config`] cannot be used, as the sentence that a wrong start says.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The URL.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The key, or the machine's certificates.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// An OpenAI-compatible provider.
#[derive(Debug)]
pub struct OpenAi {
    endpoint: Endpoint,
    has_key: bool,
    max_output_tokens: Option<u32>,
    catalog: Catalog,
    client: Client,
    failures: Failures,
}

impl OpenAi {
    /// A provider that has not been contacted yet.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { url, model, key, max_output_tokens, timeouts } = config;
        let endpoint = Endpoint::new(url.as_deref().unwrap_or(HOSTED))?;
        let model = model.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        Ok(Self {
            catalog: Catalog::new(&endpoint, model, key.is_some()),
            client: Client::new(&endpoint, key.as_ref(), timeouts)?,
            failures: Failures::new(endpoint.origin(), key.clone()),
            has_key: key.is_some(),
            max_output_tokens,
            endpoint,
        })
    }

    /// Lists the models once, on a task of its own, so that the session can say early what there is
    /// and whether it can be reached. Listing is free; a failure is not fatal. To be called within a
    /// runtime.
    pub fn discover_in_background(self: &Arc<Self>) {
        let provider = Arc::clone(self);
        tokio::spawn(async move {
            // What failed shows in the models' state, and the next call says why.
            let _ = provider.discover().await;
        });
    }

    async fn discover(&self) -> Result<(), ProviderError> {
        if self.lacks_key() {
            return Ok(());
        }
        match self.client.list(&self.endpoint).await {
            Ok(Reply { status, body, .. }) => {
                self.catalog.replied(status.as_u16());
                if status.is_success()
                    && let Ok(list) = serde_json::from_slice(&body)
                {
                    self.catalog.listed(&list);
                }
                Ok(())
            }
            Err(error) => {
                self.catalog.unreachable();
                Err(match error {
                    Some(error) => self.failures.no_reply(&error, self.connect_timeout()),
                    None => failure::no_first_byte(),
                })
            }
        }
    }

    /// The hosted API is not contacted without a key: it could only refuse.
    fn lacks_key(&self) -> bool {
        self.endpoint.is_hosted() && !self.has_key
    }

    fn connect_timeout(&self) -> Duration {
        self.client.timeouts().connect
    }

    async fn model(&self, call: &Call) -> Result<String, ProviderError> {
        // Whoever picked the placeholder from the list picked nothing.
        if let Some(name) = call.model.as_deref().filter(|name| *name != catalog::UNNAMED) {
            return Ok(name.to_owned());
        }
        let mut choice = self.catalog.choose();
        if choice == Choice::Unlisted {
            match self.discover().await {
                // The call could not do better. No byte of it has been sent.
                Err(error) if !error.called => return Err(error),
                Ok(()) | Err(_) => choice = self.catalog.choose(),
            }
        }
        if choice == Choice::Unlisted {
            choice = self.catalog.choose_unlisted();
        }
        match choice {
            Choice::Model(name) => Ok(name),
            Choice::Unlisted | Choice::Operator => Err(failure::not_configured(
                "No model is named, and the model server does not offer exactly one: start Holdfast \
                 with --model NAME.",
            )),
        }
    }
}

#[async_trait]
impl Provider for OpenAi {
    fn name(&self) -> &str {
        catalog::PROVIDER
    }

    fn models(&self) -> Vec<Model> {
        self.catalog.models()
    }

    fn offers(&self, model: &str) -> bool {
        self.catalog.offers(model)
    }

    fn is_in_process(&self) -> bool {
        false
    }

    fn route(&self) -> Route {
        Route::Provider
    }

    async fn generate(&self, call: &Call, pieces: Pieces<'_>) -> Result<Generated, ProviderError> {
        if self.lacks_key() {
            return Err(failure::not_configured(
                "The hosted API needs a key: give it in HOLDFAST_PROVIDER_KEY and start Holdfast \
                 again.",
            ));
        }
        let model = self.model(call).await?;
        let body = request::body(&self.endpoint, call, &model, self.max_output_tokens);

        let mut stream = match self.client.ask(&self.endpoint, &call.idempotency_key, &body).await {
            Ok(stream) => stream,
            Err(error) => {
                if error.is_connect() {
                    self.catalog.unreachable();
                }
                return Err(self.failures.no_reply(&error, self.connect_timeout()));
            }
        };
        pieces(Piece::Life);
        let status = stream.status();
        self.catalog.replied(status.as_u16());
        if !status.is_success() {
            let retry_after = stream.retry_after();
            return Err(self.failures.status(status, &stream.error_body().await, retry_after));
        }
        if stream.is_compressed() {
            return Err(failure::compressed());
        }

        let mut answer = Answer::new();
        loop {
            let next = stream.next(answer.is_finished()).await;
            let read = match next {
                Next::Bytes(bytes) => {
                    pieces(Piece::Life);
                    answer.push(&bytes, pieces)
                }
                Next::End => Ok(Progress::Done),
                // It said that it was complete: what becomes of the connection then is no matter.
                _ if answer.is_finished() => Ok(Progress::Done),
                Next::Broken => return Err(failure::broken(answer.usage())),
            };
            let end = match read {
                Ok(Progress::More) => continue,
                Ok(Progress::Done) => answer.close(pieces),
                Err(fault) => Err(fault),
            };
            return match end {
                // A server that does not say which model answered was asked for this one.
                Ok(answered) => {
                    let asked = Some(model).filter(|name| name != catalog::UNNAMED);
                    Ok(Generated { model: answered.model.or(asked), ..answered })
                }
                Err(fault) => Err(self.failures.fault(&fault, answer.usage())),
            };
        }
    }
}

#[cfg(test)]
mod tests;
