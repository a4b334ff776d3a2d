//! Whether an answer is remembered.

use holdfast_protocol::{Capture, CaptureReason};

/// An installation without memory remembers nothing, and says so.
pub const fn capture() -> Capture {
    Capture { stored: false, reason: CaptureReason::MemoryOff, note_id: None }
}
