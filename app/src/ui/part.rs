//! What every component is made of, each of one type: a part that changes, a text or attribute that
//! changes, a button. A closure's type is its own, and what draws it is compiled once for each type:
//! with these, once for the page.

use leptos::prelude::*;

use super::icon::Icon;

/// A text or an attribute that changes; absent while there is none.
pub(super) type Words = Box<dyn Fn() -> Option<String> + Send + Sync>;

/// A part of a view that changes; nothing while there is nothing to draw.
pub(super) type Part = Box<dyn Fn() -> Option<AnyView> + Send + Sync>;

/// Draws anew whenever what it reads changes; nothing while there is nothing to draw.
pub(super) fn part(draw: impl Fn() -> Option<AnyView> + Send + Sync + 'static) -> Part {
    Box::new(draw)
}

/// A list that is drawn anew whenever it changes: for short ones.
pub(super) fn list(draw: impl Fn() -> Vec<AnyView> + Send + Sync + 'static) -> Part {
    part(move || Some(draw().into_any()))
}

/// See [`Words`].
pub(super) fn words(say: impl Fn() -> Option<String> + Send + Sync + 'static) -> Words {
    Box::new(say)
}

/// A sentence of its own.
pub(super) fn sentence(class: &'static str, sentence: impl Into<String>) -> AnyView {
    let sentence: String = sentence.into();
    view! { <p class=class>{sentence}</p> }.into_any()
}

/// A button that says what it does.
pub(super) fn button(
    class: &'static str,
    icon: Option<&'static str>,
    label: impl Into<Label>,
    press: impl Fn() + 'static,
) -> AnyView {
    button_unless(None, class, icon, label, press)
}

/// A button that can be pressed only while `disabled` says nothing.
pub(super) fn button_unless(
    disabled: Option<Words>,
    class: &'static str,
    icon: Option<&'static str>,
    label: impl Into<Label>,
    press: impl Fn() + 'static,
) -> AnyView {
    let press: Box<dyn Fn()> = Box::new(press);
    let icon = icon.map(|path| view! { <Icon path /> });
    let Label(label) = label.into();
    view! {
        <button type="button" class=class disabled=disabled on:click=move |_| press()>
            {icon}
            <span>{label}</span>
        </button>
    }
    .into_any()
}

/// What a button says, which may change.
pub(super) struct Label(Words);

impl From<&'static str> for Label {
    fn from(label: &'static str) -> Self {
        Self(words(move || Some(label.to_owned())))
    }
}

impl From<Words> for Label {
    fn from(label: Words) -> Self {
        Self(label)
    }
}
