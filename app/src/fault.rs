//! What happens when the page itself breaks: a panic says so on the console and wakes the sentinel,
//! which lives outside WebAssembly and recovers pending answers. Not here: anything that can fail
//! without being a bug.

use std::sync::atomic::{AtomicBool, Ordering};

use wasm_bindgen::JsValue;

static BROKEN: AtomicBool = AtomicBool::new(false);

/// Whether a panic has happened. What is left of the page must not send anything any more: its
/// state may be half changed.
pub(crate) fn is_broken() -> bool {
    BROKEN.load(Ordering::Relaxed)
}

/// Installs the panic hook.
pub(crate) fn install() {
    std::panic::set_hook(Box::new(|info| {
        let is_first = !BROKEN.swap(true, Ordering::Relaxed);
        web_sys::console::error_1(&JsValue::from_str(&info.to_string()));
        // Later ones follow from the first; the sentinel is awake by then.
        if is_first {
            raise("holdfast:panic");
        }
    }));
}

/// Tells the sentinel that the page is up.
pub(crate) fn say_alive() {
    let window = leptos::prelude::window();
    let _ = js_sys::Reflect::set(&window, &"__holdfast_alive".into(), &JsValue::TRUE);
    raise("holdfast:alive");
}

fn raise(name: &str) {
    if let (Some(window), Ok(event)) = (web_sys::window(), web_sys::Event::new(name)) {
        let _ = window.dispatch_event(&event);
    }
}
