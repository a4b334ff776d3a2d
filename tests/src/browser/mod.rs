//! A real browser: headless Chromium, driven over `WebDriver` by Debian's `chromedriver`.
//!
//! Each [`Browser`] has its own driver, its own Chromium and a fresh profile, and sees the page as a
//! person does: by role, name and text ([`page`]), and what protocol § 11 promises beside that. The
//! page has no hooks for tests; what a test needs to change about the browser (no storage, no
//! network, another screen) it changes through `DevTools`.

mod command;
mod driver;
pub mod page;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fantoccini::wd::WindowHandle;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustix::process::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

use command::Command;
use driver::{Chromium, Driver};

pub use page::{Role, Turn};

/// How long something may take to be seen on the page. Longer than [`crate::PATIENCE`]: the page
/// may have to wait out a back-off first, or the whole deadline of a submission (30 s), and a busy
/// machine takes its time besides.
pub const SEEN_WITHIN: Duration = Duration::from_mins(1);

/// Between two looks at the page.
const LOOK_AGAIN: Duration = Duration::from_millis(30);

/// A running browser with one window or more.
#[derive(Debug)]
pub struct Browser {
    client: Client,
    // The order of these is the order of their end.
    _chromium: Chromium,
    _driver: Driver,
    _profile: TempDir,
    /// What every new document runs first, in every window that is opened later.
    scripts: Vec<String>,
}

impl Browser {
    /// Starts one.
    ///
    /// # Panics
    /// If Chromium or its driver is missing or does not start.
    pub async fn start() -> Browser {
        Browser::start_with(&[]).await
    }

    /// Starts one with more flags for Chromium.
    ///
    /// # Panics
    /// If Chromium or its driver is missing or does not start.
    pub async fn start_with(flags: &[&str]) -> Browser {
        Browser::launch(flags, "normal").await
    }

    /// Starts one that waits for no document to load: for those that never do.
    ///
    /// # Panics
    /// If Chromium or its driver is missing or does not start.
    pub async fn start_impatient() -> Browser {
        Browser::launch(&[], "none").await
    }

    async fn launch(flags: &[&str], page_load_strategy: &str) -> Browser {
        let driver = Driver::start().await;
        let profile = tempfile::tempdir().unwrap_or_else(|error| panic!("no profile: {error}"));
        let mut arguments: Vec<String> = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--lang=en",
            "--window-size=1280,800",
        ]
        .iter()
        .chain(flags)
        .map(|flag| (*flag).to_owned())
        .collect();
        arguments.push(format!("--user-data-dir={}", profile.path().display()));
        let capabilities = json!({
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments, "excludeSwitches": ["enable-logging"]},
            "goog:loggingPrefs": {"browser": "ALL"},
            "pageLoadStrategy": page_load_strategy,
            // A page that never loads fails its test in time to be looked at.
            "timeouts": {"pageLoad": 20_000, "script": 20_000},
            "unhandledPromptBehavior": "accept",
        });
        let Value::Object(capabilities) = capabilities else { unreachable!("written above") };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&driver.url())
            .await
            .unwrap_or_else(|error| panic!("no Chromium: {error}"));
        let pid = client.capabilities().and_then(|all| all.get("goog:processID"));
        let pid = pid.and_then(Value::as_i64).and_then(|pid| i32::try_from(pid).ok());
        let pid = pid.and_then(Pid::from_raw);
        let pid = pid.unwrap_or_else(|| panic!("chromedriver does not name Chromium's process"));
        let chromium = Chromium(pid);
        let scripts = Vec::new();
        Browser { client, _chromium: chromium, _driver: driver, _profile: profile, scripts }
    }

    /// Ends it. A browser that is dropped instead ends less gently.
    pub async fn close(self) {
        // Its end is what is wanted; how it complains about it is of no interest.
        let _ = self.client.close().await;
    }

    /// Opens an address in the current window.
    ///
    /// # Panics
    /// If it does not load at all.
    pub async fn open(&self, url: &str) {
        done("open the page", self.client.goto(url).await);
    }

    /// Reloads the page.
    pub async fn reload(&self) {
        done("reload", self.client.refresh().await);
    }

    /// Goes back.
    pub async fn back(&self) {
        done("go back", self.client.back().await);
    }

    /// Goes forward.
    pub async fn forward(&self) {
        done("go forward", self.client.forward().await);
    }

    /// The address of the page, its fragment included.
    pub async fn address(&self) -> String {
        done("read the address", self.client.current_url().await).to_string()
    }

    /// Opens a new tab and makes it the current window. Scripts of
    /// [`Browser::before_every_document`] run in it as well.
    pub async fn new_tab(&self) -> WindowHandle {
        let window = done("open a tab", self.client.new_window(true).await).handle;
        self.switch_to(&window).await;
        for script in &self.scripts {
            self.add_script(script).await;
        }
        window
    }

    /// The current window.
    pub async fn window(&self) -> WindowHandle {
        done("name the window", self.client.window().await)
    }

    /// Makes another window the current one.
    pub async fn switch_to(&self, window: &WindowHandle) {
        done("switch windows", self.client.switch_to_window(window.clone()).await);
        self.cdp("Page.bringToFront", json!({})).await;
    }

    /// Closes the current window. Another one must be switched to before anything else.
    pub async fn close_window(&self) {
        done("close the window", self.client.close_window().await);
    }

    /// Runs a script in the page; `return` gives its value.
    ///
    /// # Panics
    /// If it throws.
    pub async fn run(&self, script: &str) -> Value {
        done("run a script", self.client.execute(script, Vec::new()).await)
    }

    /// A command of the `DevTools` protocol.
    ///
    /// # Panics
    /// If Chromium refuses it.
    pub async fn cdp(&self, method: &str, parameters: Value) -> Value {
        let body = json!({"cmd": method, "params": parameters});
        done(method, self.client.issue_cmd(Command::post("goog/cdp/execute", body)).await)
    }

    /// Runs a script before any of the page's own in every document from now on, in this window and
    /// those opened later.
    pub async fn before_every_document(&mut self, script: &str) {
        self.scripts.push(script.to_owned());
        self.add_script(script).await;
    }

    async fn add_script(&self, script: &str) {
        self.cdp("Page.addScriptToEvaluateOnNewDocument", json!({"source": script})).await;
    }

    /// Takes the current window off the network or puts it back, as flight mode does: the page's
    /// `offline` and `online` events fire.
    pub async fn offline(&self, offline: bool) {
        self.cdp("Network.enable", json!({})).await;
        let conditions = json!({
            "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1,
        });
        self.cdp("Network.emulateNetworkConditions", conditions).await;
    }

    /// Shows the page as a phone would, in this size, in the dark or not.
    pub async fn screen(&self, width: u32, height: u32, dark: bool) {
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600,
        });
        self.cdp("Emulation.setDeviceMetricsOverride", metrics).await;
        let scheme = if dark { "dark" } else { "light" };
        // Without motion, so that a picture shows how it is and not how it becomes.
        let media = json!({"features": [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]});
        self.cdp("Emulation.setEmulatedMedia", media).await;
    }

    /// What the page and the browser have written to the console since the last call.
    pub async fn console(&self) -> Vec<String> {
        let log = self.client.issue_cmd(Command::post("se/log", json!({"type": "browser"}))).await;
        let entries = done("read the console", log);
        let entries = entries.as_array().cloned().unwrap_or_default();
        entries
            .iter()
            .map(|entry| {
                let part = |name: &str| {
                    entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
                };
                format!("{} {}", part("level"), part("message"))
            })
            .collect()
    }

    /// Keeps a picture of the current window beside the build, and says where.
    ///
    /// # Panics
    /// If it cannot be written.
    pub async fn screenshot(&self, name: &str) -> PathBuf {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/screenshots");
        let path = folder.join(format!("{name}.png"));
        let picture = done("take a picture", self.client.screenshot().await);
        let kept = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, picture));
        kept.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }

    /// Waits until the page fulfils a condition and gives what it found.
    ///
    /// # Panics
    /// If that takes longer than [`SEEN_WITHIN`], with `what` and what is on the page instead.
    pub async fn wait_for<T>(&self, what: &str, look: impl AsyncFn(&Browser) -> Option<T>) -> T {
        self.wait_for_within(SEEN_WITHIN, what, look).await
    }

    /// Like [`Browser::wait_for`], within another bound.
    ///
    /// # Panics
    /// If that takes longer, with `what` and what is on the page instead.
    pub async fn wait_for_within<T>(
        &self,
        bound: Duration,
        what: &str,
        look: impl AsyncFn(&Browser) -> Option<T>,
    ) -> T {
        let deadline = Instant::now() + bound;
        loop {
            if let Some(found) = look(self).await {
                return found;
            }
            let in_time = Instant::now() < deadline;
            assert!(in_time, "not seen within {bound:?}: {what}\n{}", self.describe().await);
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Presses keys, where the focus is, one after another: characters or `WebDriver`'s key codes.
    pub async fn press(&self, keys: &str) {
        let mut actions = Vec::new();
        for key in keys.chars() {
            actions.push(json!({"type": "keyDown", "value": key.to_string()}));
            actions.push(json!({"type": "keyUp", "value": key.to_string()}));
        }
        self.keyboard(Value::Array(actions)).await;
    }

    /// Holds Enter down so that it repeats so many times, and lets it go.
    pub async fn hold_enter(&self, repeats: usize) {
        for number in 0..repeats {
            self.enter("keyDown", number > 0).await;
        }
        self.enter("keyUp", false).await;
    }

    async fn enter(&self, kind: &str, repeated: bool) {
        let event = json!({
            "type": kind, "key": "Enter", "code": "Enter", "text": "\r",
            "windowsVirtualKeyCode": 13, "autoRepeat": repeated,
        });
        self.cdp("Input.dispatchKeyEvent", event).await;
    }

    async fn keyboard(&self, actions: Value) {
        let body = json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]});
        done("press keys", self.client.issue_cmd(Command::post("actions", body)).await);
    }
}

/// The value of a `WebDriver` command that a test cannot go on without.
#[track_caller]
fn done<T, E: std::fmt::Display>(what: &str, result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("the browser could not {what}: {error}"))
}
