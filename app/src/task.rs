//! Running what takes time, without waiting for it.

use std::pin::Pin;

/// Runs a future to its end. Boxed, so that what drives it is compiled once rather than once for
/// each future.
pub(crate) fn spawn(future: impl Future<Output = ()> + 'static) {
    let future: Pin<Box<dyn Future<Output = ()>>> = Box::pin(future);
    wasm_bindgen_futures::spawn_local(future);
}
