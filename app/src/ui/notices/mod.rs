//! What is no turn's business: the line, storage, other conversations, questions that came back.

mod banners;
mod elsewhere;
mod never_sent;
mod strip;

use leptos::prelude::*;

use self::banners::Banners;
use self::elsewhere::ElsewhereStrip;
use self::never_sent::NeverSentList;
pub(super) use self::strip::strip;
use super::Page;
use crate::text;

/// Everything above the conversation. Takes no room while there is nothing to say.
#[component]
pub(super) fn Notices() -> impl IntoView {
    view! {
        <section class="notices" aria-label=text::NOTICES>
            <Banners />
            <NeverSentList />
            <ElsewhereStrip />
        </section>
    }
}
