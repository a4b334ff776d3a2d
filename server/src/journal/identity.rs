//! Who an archive is, and whose.

/// The opaque parts of an owner, used when an archive comes into being.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Of the archive.
    pub archive: String,
    /// Of the principal that owns it.
    pub principal: String,
}

impl Identity {
    /// A fresh one: 122 random bits in each part.
    pub fn random() -> Self {
        let part = || uuid::Uuid::new_v4().simple().to_string();
        Self { archive: part(), principal: part() }
    }
}
