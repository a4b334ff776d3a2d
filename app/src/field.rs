//! A value on the screen that tells what reads it when it changes.
//!
//! `RwSignal` does the same in more general ways, and is compiled anew, in all its layers, for every
//! type of value: with two dozen types that is a tenth of the page. Here only the value differs; what
//! tells of changes is one trigger, the same for all.
//!
//! *Architecture invariant:* nobody can read a field that is disposed: the screen lives as long as
//! the page, and a turn's field is reference counted.

use std::cell::RefCell;

use leptos::prelude::{ArcTrigger, Notify as _, Track as _};
use send_wrapper::SendWrapper;

/// A value and what to tell.
pub(crate) struct Field<T> {
    trigger: ArcTrigger,
    /// Views must be sendable in general; a browser has one thread.
    value: SendWrapper<RefCell<T>>,
}

impl<T: 'static> Field<T> {
    /// A field with a value.
    pub(crate) fn new(value: T) -> Self {
        Self { trigger: ArcTrigger::new(), value: SendWrapper::new(RefCell::new(value)) }
    }

    /// Reads it, and reads it again whenever it changes.
    pub(crate) fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        self.trigger.track();
        self.with_untracked(read)
    }

    /// Reads it this once. What reads must not write the same field.
    pub(crate) fn with_untracked<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        read(&self.value.borrow())
    }

    /// A copy, made again whenever it changes.
    pub(crate) fn get(&self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    /// A copy, made this once.
    pub(crate) fn get_untracked(&self) -> T
    where
        T: Clone,
    {
        self.with_untracked(T::clone)
    }

    /// Puts a value there. Nothing is drawn anew where that changes nothing.
    pub(crate) fn set(&self, value: T)
    where
        T: PartialEq,
    {
        if *self.value.borrow() != value {
            self.value.replace(value);
            self.trigger.notify();
        }
    }

    /// Changes it in place.
    pub(crate) fn update(&self, change: impl FnOnce(&mut T)) {
        change(&mut self.value.borrow_mut());
        self.trigger.notify();
    }
}
