//! What is put first in what a provider is shown, for one conversation or for all.

use crate::limits::SYSTEM_PROMPT_CHARS;

/// A system prompt as it is kept: trimmed; an empty one stands for none.
///
/// # Errors
/// A sentence, fit to be shown.
pub fn system_prompt(text: &str) -> Result<String, String> {
    let trimmed = text.trim();
    if trimmed.contains('\0') {
        return Err("The system prompt holds a NUL character, which cannot be kept.".to_owned());
    }
    match trimmed.chars().count() {
        chars if chars > SYSTEM_PROMPT_CHARS => Err(format!(
            "The system prompt has {chars} characters; at most {SYSTEM_PROMPT_CHARS} fit."
        )),
        _ => Ok(trimmed.to_owned()),
    }
}
