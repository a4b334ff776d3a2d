//! Taking in a file: one at a time, and a part of it at a time.
//!
//! A file may hold as much as all that is there. In parts, who asks meanwhile waits for one of them at
//! most, and it shows whether the archive gets on. What was written before something failed stays: the
//! same file brought again finds it there, and adds the rest.
//!
//! Not here: what a file may say (`import`).

use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::{Conversations, ImportError, import};
use crate::journal::{Imported, JournalError, PrincipalId, Transcript, TranscriptTurn};

/// How much of a file is written in one go, in bytes of JSON: others want to write.
const PART: usize = 256 * 1024;

/// The place of whoever imports, of which there is one: what a file says takes many times its size.
#[derive(Debug)]
pub struct Importing {
    _place: OwnedSemaphorePermit,
}

impl Conversations {
    /// Waits until nobody else imports.
    pub async fn importing(&self) -> Result<Importing, JournalError> {
        let place = Arc::clone(&self.0.importing).acquire_owned().await;
        let place = place.map_err(|error| JournalError::Broken(error.to_string()))?;
        Ok(Importing { _place: place })
    }

    /// Brings conversations along from a file. It never runs anything. The archive is waited for as long as
    /// it gets on: each part of the file may take as long as `patience`.
    pub async fn import(
        &self,
        importing: Importing,
        principal: PrincipalId,
        file: Value,
        patience: Duration,
    ) -> Result<Result<Imported, ImportError>, JournalError> {
        let conversations = self.clone();
        let (progress, mut progressed) = watch::channel(());
        let mut imported = pin!(self.seen_to(async move {
            let _importing = importing;
            let lost = |_| JournalError::Unavailable("the server is going down".to_owned());
            let read = move || import::read(&file).map(|transcripts| parts(transcripts, PART));
            match spawn_blocking(read).await.map_err(lost)? {
                Err(error) => Ok(Err(error)),
                Ok(parts) => conversations.take_in(principal, parts, &progress).await.map(Ok),
            }
        }));
        loop {
            tokio::select! {
                biased;
                imported = &mut imported => return imported,
                progressed = timeout(patience, progressed.changed()) => match progressed {
                    Ok(Ok(())) => {}
                    // It has ended, and is about to say how.
                    Ok(Err(_)) => return imported.await,
                    Err(_) => return Err(JournalError::Unavailable("no reply in time".to_owned())),
                },
            }
        }
    }

    async fn take_in(
        &self,
        principal: PrincipalId,
        parts: Vec<Vec<Transcript>>,
        progress: &watch::Sender<()>,
    ) -> Result<Imported, JournalError> {
        let mut imported = Imported::default();
        for part in parts {
            let turns = part.iter().flat_map(|transcript| &transcript.turns);
            let repeated: Vec<_> = turns.filter_map(|turn| turn.outcome.retry_of).collect();
            let written = self.0.journal.import(principal, part).await;
            // A failed write proves nothing.
            self.0.runs.repeated(principal, repeated);
            imported.add(written?);
            progress.send_replace(());
        }
        Ok(imported)
    }
}

/// The same turns in the same order, in parts of at most so many bytes of JSON, or of one turn: each can
/// be imported by itself.
fn parts(transcripts: Vec<Transcript>, most: usize) -> Vec<Vec<Transcript>> {
    let mut parts = Vec::new();
    let mut part = Vec::new();
    let mut bytes = 0;
    for mut transcript in transcripts {
        let turns = mem::take(&mut transcript.turns);
        let mut stretch = transcript.clone();
        for turn in turns {
            let more = size(&turn);
            if bytes > 0 && bytes + more > most {
                part.push(mem::replace(&mut stretch, transcript.clone()));
                parts.push(mem::take(&mut part));
                bytes = 0;
            }
            bytes += more;
            stretch.turns.push(turn);
        }
        part.push(stretch);
    }
    parts.push(part);
    for part in &mut parts {
        part.retain(|transcript| !transcript.turns.is_empty());
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn size(turn: &TranscriptTurn) -> usize {
    // An outcome is text and numbers: it always serialises.
    serde_json::to_vec(&turn.outcome).map_or(0, |json| json.len())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    /// Conversations of so many turns each, with answers of so many bytes.
    fn transcripts(turns: &[usize], bytes: usize) -> Vec<Transcript> {
        let id = |number: usize| Uuid::from_u128(number as u128).to_string();
        let mut number = 0;
        let mut conversation = |(at, turns): (usize, &usize)| {
            let turns: Vec<_> = (0..*turns)
                .map(|_| {
                    number += 1;
                    json!({
                        "request_id": id(number), "conversation_id": id(at), "status": "completed",
                        "question": "Why?", "answer": {"format": "markdown", "text": "a".repeat(bytes)},
                        "asked_at": "2026-01-01T00:00:00.000Z",
                        "settled_at": "2026-01-01T00:00:00.000Z",
                        "receipt": {"provider_calls": 0, "submissions": 1},
                    })
                })
                .collect();
            json!({"id": id(at), "title": "One", "turns": turns})
        };
        let file: Value = turns.iter().enumerate().map(&mut conversation).collect();
        import::read(&file).unwrap()
    }

    #[test]
    fn a_part_has_a_bound_and_no_turn_is_lost_or_moved() {
        for (turns, bytes) in [(&[1, 7, 2, 30][..], 300), (&[3][..], 5000), (&[1; 50][..], 1)] {
            let whole = transcripts(turns, bytes);
            let one = size(whole.first().and_then(|it| it.turns.first()).unwrap());
            for most in [1, one - 1, one, 3 * one + 1, usize::MAX] {
                let parts = parts(whole.clone(), most);
                let all_of = |part: &[Transcript]| {
                    part.iter().flat_map(|it| it.turns.clone()).collect::<Vec<_>>()
                };
                for part in &parts {
                    let turns = all_of(part);
                    let bytes: usize = turns.iter().map(size).sum();
                    assert!(bytes <= most || turns.len() == 1, "{bytes} of {most}");
                    assert!(part.iter().all(|it| !it.turns.is_empty()));
                }
                let joined: Vec<_> = parts.iter().flat_map(|part| all_of(part)).collect();
                assert_eq!(joined, all_of(&whole));
                for transcript in parts.iter().flatten() {
                    let own = whole.iter().find(|it| it.id == transcript.id).unwrap();
                    let bare = |it: &Transcript| Transcript { turns: Vec::new(), ..it.clone() };
                    assert_eq!(bare(transcript), bare(own));
                    assert!(transcript.turns.iter().all(|turn| own.turns.contains(turn)));
                }
                let fewest = joined.iter().map(size).sum::<usize>().div_ceil(most);
                assert!(parts.len() <= 2 * fewest.max(1), "{} parts", parts.len());
            }
        }
    }

    #[test]
    fn an_empty_file_has_no_part() {
        assert!(parts(Vec::new(), 1).is_empty());
    }
}
