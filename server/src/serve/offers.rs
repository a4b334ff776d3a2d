//! What the operator could name and has not: offered in words, never used.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use crate::config::Config;

/// Where model servers usually listen: Ollama, llama.cpp, vLLM.
const USUAL_PORTS: [u16; 3] = [11_434, 8080, 8000];
/// A server on this machine answers at once or is busy with something else.
const PATIENCE: Duration = Duration::from_millis(800);

/// A key in the environment.
pub(super) fn keys(config: &Config) -> Vec<String> {
    if config.provider_is_named {
        return Vec::new();
    }
    let is_set = std::env::var_os("OPENAI_API_KEY").is_some_and(|key| !key.is_empty());
    let offer = "OPENAI_API_KEY is set and not used. To ask OpenAI's models with it, start \
                 Holdfast with --provider openai.";
    let offers: Vec<_> = is_set.then(|| offer.to_owned()).into_iter().collect();
    for offer in &offers {
        tracing::info!("{offer}");
    }
    offers
}

/// Looks once, in the background, for a model server on this machine.
pub(super) fn look_around(config: &Config, own: SocketAddr, offers: watch::Sender<Vec<String>>) {
    if config.provider_is_named {
        return;
    }
    tokio::spawn(async move {
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(PATIENCE)
            .build();
        let Ok(client) = client else { return };
        for port in USUAL_PORTS.into_iter().filter(|port| *port != own.port()) {
            let url = format!("http://127.0.0.1:{port}/v1");
            if lists_models(&client, &url).await {
                let offer = format!(
                    "A model server answers on {url} and is not used. To ask it, start Holdfast \
                     with --provider openai --provider-url {url}."
                );
                tracing::info!("{offer}");
                offers.send_modify(|offers| offers.push(offer));
            }
        }
    });
}

async fn lists_models(client: &reqwest::Client, url: &str) -> bool {
    let Ok(reply) = client.get(format!("{url}/models")).send().await else { return false };
    if !reply.status().is_success() {
        return false;
    }
    let Ok(list) = reply.json::<Value>().await else { return false };
    list.get("data").is_some_and(Value::is_array)
}
