//! The walk over a log: as far as `SQLite` reads it, and then on, to see what is there.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};

use super::super::connect::PAGE;
use super::frame::{FRAME, Frame, HEADER, Header, Order, SECTOR, Sum};

/// Damage that was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The log's header, which tells its generations apart.
    pub(super) header: [u8; HEADER],
    /// The byte at which `SQLite` stops to believe it.
    pub(super) at: u64,
    /// Commits that can be seen behind that.
    pub(super) commits: u64,
    /// Whether no commit lies before it.
    pub(super) is_first: bool,
    /// The size of a page.
    pub(super) page: usize,
    /// Pages as the last commit behind it left them: where in the log each begins.
    pub(super) pages: BTreeMap<u32, u64>,
}

/// Looks for damage in a log.
pub(super) fn walk(log: &mut (impl Read + Seek)) -> io::Result<Option<Found>> {
    let mut bytes = [0; HEADER];
    if !fill(log, &mut bytes)? {
        return Ok(None);
    }
    let header = Header::read(&bytes);
    if header.is_sound(&bytes) {
        let mut walk = Walk::new(header.order, header.page, [header.stored; 2]);
        walk.salts = Some(header.salts);
        return walk.over(log, &bytes);
    }
    // Whatever it says may be wrong, also which way the rest is to be read.
    let [one, other] = header.computed;
    let page = usize::try_from(PAGE).unwrap_or_default();
    for order in [Order::Little, Order::Big] {
        let computed = if order == header.order { one } else { other };
        let mut walk = Walk::new(order, page, [header.stored, computed]);
        walk.broken = Some(Broken::at(0, true));
        log.seek(SeekFrom::Start(HEADER as u64))?;
        if let Some(found) = walk.over(log, &bytes)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Fills a buffer; whether there was so much.
fn fill(log: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match log.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// What is known between two frames.
struct Walk {
    order: Order,
    page: usize,
    /// Those of the log; unknown as long as its header cannot be believed.
    salts: Option<[u32; 2]>,
    /// What the frame before may have been. There are two only behind one that is damaged: what it
    /// says of itself, and what comes of what it holds.
    before: [Before; 2],
    has_commit: bool,
    broken: Option<Broken>,
}

/// What stands before a frame: the header, or another frame.
#[derive(Clone, Copy)]
struct Before {
    /// The checksum up to there.
    sum: Sum,
    /// It is known to end a transaction, or to be the header: it was synced before anything followed.
    is_end: bool,
}

/// What was seen behind the end of what can be believed.
struct Broken {
    at: u64,
    is_first: bool,
    commits: u64,
    /// Whether those include the frame before, should it be a commit.
    is_counted: bool,
    /// A frame that follows from a commit was seen.
    is_proven: bool,
    /// Pages of the transaction that is being walked over, and of those that have ended.
    open: BTreeMap<u32, u64>,
    pages: BTreeMap<u32, u64>,
}

impl Walk {
    fn new(order: Order, page: usize, sums: [Sum; 2]) -> Self {
        let before = sums.map(|sum| Before { sum, is_end: true });
        Self { order, page, salts: None, before, has_commit: false, broken: None }
    }

    /// Walks over every frame that is whole.
    fn over(mut self, log: &mut impl Read, header: &[u8; HEADER]) -> io::Result<Option<Found>> {
        let mut at = HEADER as u64;
        let [mut bytes, mut previous] = [(); 2].map(|()| vec![0; FRAME + self.page]);
        while fill(log, &mut bytes)? {
            if let Some(frame) = Frame::read(&bytes) {
                self.see(at, &frame, Frame::read(&previous).as_ref());
            }
            std::mem::swap(&mut bytes, &mut previous);
            at += bytes.len() as u64;
        }
        Ok(self.broken.filter(|broken| broken.is_proven && broken.commits > 0).map(|broken| {
            let Broken { at, is_first, commits, pages, .. } = broken;
            Found { header: *header, at, commits, is_first, page: self.page, pages }
        }))
    }

    fn see(&mut self, at: u64, frame: &Frame<'_>, previous: Option<&Frame<'_>>) {
        let is_own = frame.page > 0 && self.salts.is_none_or(|salts| salts == frame.salts);
        let mut follows = self
            .before
            .iter()
            .filter(|before| is_own && frame.sum(before.sum, self.order) == frame.stored);
        let Some(before) = follows.next().copied() else {
            let broken = Broken::at(at, !self.has_commit);
            self.broken.get_or_insert(broken).see_unverified();
            self.before = self.may_be(at, frame);
            return;
        };
        let after_end = before.is_end || follows.any(|before| before.is_end);
        self.salts = Some(frame.salts);
        self.before = [Before { sum: frame.stored, is_end: frame.size > 0 }; 2];
        match &mut self.broken {
            None => self.has_commit |= frame.size > 0,
            Some(broken) => {
                let is_copy = previous.is_some_and(|previous| frame.is_copy_of(previous));
                broken.see_verified(at, frame, after_end && !is_copy, is_copy);
            }
        }
    }

    /// What a frame may be in which something is wrong, or before which something is.
    fn may_be(&self, at: u64, frame: &Frame<'_>) -> [Before; 2] {
        let [before, _] = self.before;
        // What it says of its end is of the same moment as its checksum only where a disk could not
        // have written the one without the other.
        let is_in_one_sector = at / SECTOR == (at + FRAME as u64 - 1) / SECTOR;
        let says_so = frame.size > 0 && is_in_one_sector && self.salts == Some(frame.salts);
        let is_end = says_so || frame.has_lost_its_size(before.sum, self.order);
        let computed = frame.sum(before.sum, self.order);
        [Before { sum: frame.stored, is_end }, Before { sum: computed, is_end: frame.size > 0 }]
    }
}

impl Broken {
    const fn at(at: u64, is_first: bool) -> Self {
        Self {
            at,
            is_first,
            commits: 0,
            is_counted: true,
            is_proven: false,
            open: BTreeMap::new(),
            pages: BTreeMap::new(),
        }
    }

    /// A frame whose checksum or salts are wrong, or cannot be found out.
    fn see_unverified(&mut self) {
        self.is_counted = false;
        self.open.clear();
    }

    /// A frame whose checksum follows from the one before it, and whether that proves something.
    fn see_verified(&mut self, at: u64, frame: &Frame<'_>, is_proof: bool, is_copy: bool) {
        self.is_proven |= is_proof;
        self.commits += u64::from(is_proof && !self.is_counted);
        self.commits += u64::from(frame.size > 0 && !is_copy);
        self.is_counted = true;
        self.open.insert(frame.page, at + FRAME as u64);
        if frame.size > 0 {
            self.pages.append(&mut self.open);
        }
    }
}
