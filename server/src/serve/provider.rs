//! The provider that the configuration names.

use std::sync::Arc;

use crate::config::{Config, ProviderName};
use crate::memory::Handbook;
use crate::provider::NotesProvider;
use crate::provider::Provider;
use crate::provider::openai::{self, OpenAi};

/// Builds it. Nothing is contacted but what the operator named, and that costs nothing.
pub(super) fn build(config: &Config) -> Result<Arc<dyn Provider>, String> {
    Ok(match config.provider {
        ProviderName::Notes => {
            // Or the first question would pay for the index.
            tokio::task::spawn_blocking(Handbook::built_in);
            Arc::new(NotesProvider)
        }
        ProviderName::Openai => {
            let provider = OpenAi::new(openai::Config {
                url: config.provider_url.clone(),
                model: config.model.clone(),
                key: config.key.clone(),
                max_output_tokens: config.max_output_tokens,
                timeouts: openai::Timeouts::default(),
            });
            let provider = Arc::new(provider.map_err(|error| error.to_string())?);
            provider.discover_in_background();
            provider
        }
    })
}
