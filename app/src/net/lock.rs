//! One tab follows an ask: the lock that says which. Browsers have it on https and loopback alone;
//! elsewhere nobody follows, and lookups do not wait.
//!
//! And few tabs follow at a time: a browser opens six connections to a server that speaks HTTP/1.1,
//! and windows side by side may each follow an ask of their own.

use std::cell::RefCell;
use std::rc::Rc;

use holdfast_protocol::RequestId;
use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::{JsCast as _, JsValue, closure::Closure, prelude::wasm_bindgen};
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// `LockManager`, which `web-sys` hides behind a compiler flag for the whole build.
    type LockManager;

    #[wasm_bindgen(method, catch)]
    fn request(
        this: &LockManager,
        name: &str,
        options: &Object,
        callback: &JsValue,
    ) -> Result<Promise, JsValue>;
}

/// So many tabs of a browser follow at a time.
const SLOTS: u32 = 4;

/// Holds the lock until it is dropped.
pub(crate) struct Guard(Function);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.call0(&JsValue::NULL);
    }
}

/// Takes the lock of an ask if nobody has it, and one of those that few have.
pub(crate) async fn follow(request_id: RequestId) -> Option<(Guard, Guard)> {
    let follows = take(&format!("holdfast.follow.{request_id}")).await?;
    for slot in 0..SLOTS {
        if let Some(may) = take(&format!("holdfast.long.{slot}")).await {
            return Some((follows, may));
        }
    }
    None
}

async fn take(name: &str) -> Option<Guard> {
    let locks = manager()?;
    let options = Object::new();
    Reflect::set(&options, &"ifAvailable".into(), &JsValue::TRUE).ok()?;
    let (held, release) = promise();
    let (granted, answer) = promise();
    let (release, answer) = (release?, answer?);

    let refuse = answer.clone();
    let callback = Closure::once_into_js(move |lock: JsValue| {
        let _ = answer.call1(&JsValue::NULL, &JsValue::from_bool(!lock.is_null()));
        // The lock is held for as long as what the callback returns is pending.
        if lock.is_null() { JsValue::UNDEFINED } else { held.into() }
    });
    match locks.request(name, &options, &callback) {
        // A request that fails never calls back; without an answer this would wait for ever.
        Ok(request) => {
            let refused = Closure::once_into_js(move |_: JsValue| {
                let _ = refuse.call1(&JsValue::NULL, &JsValue::FALSE);
            });
            let then = Reflect::get(&request, &"catch".into()).ok()?;
            then.dyn_into::<Function>().ok()?.call1(&request, &refused).ok()?;
        }
        Err(_) => return None,
    }
    let guard = Guard(release);
    JsFuture::from(granted).await.is_ok_and(|granted| granted.is_truthy()).then_some(guard)
}

fn manager() -> Option<LockManager> {
    let navigator = web_sys::window()?.navigator();
    let locks = Reflect::get(&navigator, &"locks".into()).ok()?;
    locks.is_object().then(|| locks.unchecked_into())
}

/// A promise and the function that fulfils it.
fn promise() -> (Promise, Option<Function>) {
    let resolver = Rc::new(RefCell::new(None));
    let slot = Rc::clone(&resolver);
    let promise = Promise::new(&mut move |resolve, _| {
        slot.replace(Some(resolve));
    });
    let resolve = resolver.take();
    (promise, resolve)
}
