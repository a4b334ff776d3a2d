//! Questions that came back and are not in the composer yet: a reload must not lose them either.

use super::Area;
use crate::screen::Offer;

const OFFERED: &str = "holdfast.offered";

/// What the last page in this tab left.
pub(crate) fn load_offers() -> Vec<Offer> {
    Area::Session.value(OFFERED).unwrap_or_default()
}

/// Keeps these and no others.
pub(crate) fn store_offers(offers: &[Offer]) {
    // Where it fails they stand on the screen all the same.
    let _ = if offers.is_empty() {
        Area::Session.remove(OFFERED)
    } else {
        Area::Session.put(OFFERED, &offers)
    };
}
