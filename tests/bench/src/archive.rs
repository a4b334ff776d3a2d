//! Archives: how one is opened, and those that are made beforehand. They are made by the product's
//! own runs, as if every ask had come in; only the syncs of the disk are left out.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use holdfast::clock::SystemClock;
use holdfast::journal::Identity;
use holdfast::journal::sqlite::{Drive, FILE, Options, SqliteJournal};
use holdfast::journal::{Journal, PrincipalId};
use holdfast::runs::{Phase, Runs, Settings, Submission, Until};
use holdfast_protocol::{AskBody, ConversationId};
use holdfast_tests::disk::system::{Syncs, vfs};
use tokio::time::Instant;

use crate::failure::{Context as _, Failure, Result};
use crate::ids::{self, TURNS};
use crate::report::Progress;
use crate::server::Instantly;

/// How many conversations are made side by side.
const SIDE_BY_SIDE: usize = 512;
/// How long one ask may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// Says in a folder that its archive is whole.
const WHOLE: &str = "whole";

/// How to open the archive in a folder.
pub(crate) fn options(folder: &Path, syncs: Syncs) -> Options {
    Options {
        folder: folder.to_owned(),
        drive: Drive::Thread,
        identity: Identity::random(),
        vfs: Some(vfs(syncs)),
    }
}

/// The folder of an archive with so many settled asks, ten in a conversation, kept from an earlier
/// run or made now.
pub(crate) fn settled(bench: &Path, asks: u64, progress: &Progress) -> Result<PathBuf> {
    let conversations = asks / TURNS;
    asked(bench, &format!("settled-{asks}"), progress, async |maker, said| {
        stream::iter(0..conversations)
            .map(|conversation| async move {
                for ask in conversation * TURNS..(conversation + 1) * TURNS {
                    maker.make(ask, ids::made_conversation(ask)).await?;
                }
                Ok::<_, Failure>(conversation)
            })
            .buffer_unordered(SIDE_BY_SIDE)
            .try_for_each(async |conversation| {
                if conversation % 10_000 == 9_999 {
                    said(&format!("{} of {asks} asks", (conversation + 1) * TURNS));
                }
                Ok(())
            })
            .await
    })
}

/// The folder of an archive with two conversations: the first with so many turns, the other with
/// [`TURNS`]. Their ids are those of the made asks 0 and [`TURNS`].
pub(crate) fn long(bench: &Path, turns: u64, progress: &Progress) -> Result<PathBuf> {
    asked(bench, &format!("turns-{turns}"), progress, async |maker, _| {
        for (conversation, asks) in [(0, 0..turns), (TURNS, turns..turns + TURNS)] {
            let conversation = ids::made_conversation(conversation);
            for ask in asks {
                maker.make(ask, conversation).await?;
            }
        }
        Ok(())
    })
}

/// Has an archive's file in memory, as one that is in use has it: a system may take back what nobody
/// has read for a while, and then it is the disk that is measured.
pub(crate) fn warm(folder: &Path) -> Result<()> {
    let file = folder.join(FILE);
    let read = fs::File::open(file).and_then(|mut file| io::copy(&mut file, &mut io::sink()));
    read.map(drop).doing("read an archive's file")
}

/// The folder of an archive with so many turns of varied words, as an import brings them.
pub(crate) fn imported(bench: &Path, turns: u64, progress: &Progress) -> Result<PathBuf> {
    kept(bench, &format!("words-{turns}"), progress, |folder, said| {
        crate::rows::search::fill(folder, turns, said)
    })
}

/// The folder of an archive that `make` makes out of asks.
fn asked(
    bench: &Path,
    name: &str,
    progress: &Progress,
    make: impl AsyncFnOnce(&Maker<'_>, &dyn Fn(&str)) -> Result<()>,
) -> Result<PathBuf> {
    kept(bench, name, progress, |folder, said| {
        let runtime = tokio::runtime::Runtime::new().doing("start any threads")?;
        runtime.block_on(async {
            let journal =
                SqliteJournal::open(&options(folder, Syncs::Skipped)).doing("make an archive")?;
            let journal = Arc::new(journal);
            let settings = Settings { side_by_side: SIDE_BY_SIDE, ..Settings::default() };
            let runs = Runs::new(
                Arc::clone(&journal) as Arc<dyn Journal>,
                Arc::new(Instantly { is_silent: false }),
                Arc::new(SystemClock),
                settings,
            );
            runs.start();
            let _ = runs.phase().wait_for(|phase| *phase == Phase::Serving).await;
            let principal = journal.local_principal();
            let ended = make(&Maker { runs: &runs, principal }, said).await;
            runs.abort().await;
            let indexed = index(&journal).await;
            journal.close().await;
            ended.and(indexed)
        })
    })
}

/// Has everything indexed, so that whoever opens the archive has nothing to catch up with.
pub(crate) async fn index(journal: &SqliteJournal) -> Result<()> {
    while journal.index().await.doing("index an archive")? {}
    Ok(())
}

/// A folder that an earlier run has filled, or else `fill` does now.
fn kept(
    bench: &Path,
    name: &str,
    progress: &Progress,
    fill: impl FnOnce(&Path, &dyn Fn(&str)) -> Result<()>,
) -> Result<PathBuf> {
    let folder = bench.join(name);
    let whole = folder.join(WHOLE);
    if whole.exists() {
        return Ok(folder);
    }
    progress.say(&format!("making {name}, which is kept for the next time"));
    if folder.exists() {
        fs::remove_dir_all(&folder).doing("remove an archive that is not whole")?;
    }
    fs::create_dir_all(&folder).doing("make a folder for an archive")?;
    fill(&folder, &|word| progress.say(&format!("{name}: {word}")))?;
    fs::write(&whole, "").doing("mark an archive as whole")?;
    Ok(folder)
}

/// Makes asks.
struct Maker<'a> {
    runs: &'a Runs,
    principal: PrincipalId,
}

impl Maker<'_> {
    async fn make(&self, ask: u64, conversation_id: ConversationId) -> Result<()> {
        let body = AskBody {
            request_id: ids::made_request(ask),
            conversation_id,
            question: question(ask),
            current: None,
            remember: None,
            language: None,
            model: None,
            retry_of: None,
            system_prompt: None,
        };
        let now = Instant::now();
        let until = Until { settled: now + PATIENCE, told: now + PATIENCE };
        let submission = Submission::new(self.principal, &body, None).doing("make a question")?;
        let outcome = self.runs.submit(submission, until).await.doing("make an ask")?;
        if outcome.status.is_settled() {
            return Ok(());
        }
        Err(Failure::new("an ask that was to be made did not settle"))
    }
}

/// A question, different for each ask.
pub(crate) fn question(ask: u64) -> String {
    format!("What does a durable ask cost, and what becomes of it when the line drops? ({ask})")
}
