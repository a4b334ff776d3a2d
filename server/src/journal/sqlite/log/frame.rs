//! The format of a log: its header, its frames and their checksums, in numbers of either byte order.
//!
//! See <https://www.sqlite.org/fileformat2.html#walformat>.

/// The length of a log's header, in bytes: less than a sector.
pub(super) const HEADER: usize = 32;
/// The length of what stands before each page.
pub(super) const FRAME: usize = 24;
/// What a disk writes whole or not at all, at the least.
pub(super) const SECTOR: u64 = 512;
/// What a log begins with; its last bit says which way its checksums read the bytes.
const MAGIC: u32 = 0x377f_0682;

/// How checksums take bytes for numbers. Whatever is written as a number is big-endian always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// A checksum over everything up to some place in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum(pub(super) u32, pub(super) u32);

impl Sum {
    /// Goes on over bytes, of which there are a multiple of eight.
    fn over(self, order: Order, bytes: &[u8]) -> Self {
        let number = match order {
            Order::Little => u32::from_le_bytes,
            Order::Big => u32::from_be_bytes,
        };
        let (words, _) = bytes.as_chunks::<4>();
        let (pairs, _) = words.as_chunks::<2>();
        pairs.iter().fold(self, |Self(one, two), [first, second]| {
            let one = one.wrapping_add(number(*first)).wrapping_add(two);
            Self(one, two.wrapping_add(number(*second)).wrapping_add(one))
        })
    }
}

/// A log's header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) order: Order,
    /// The size of a page, in bytes.
    pub(super) page: usize,
    /// What every frame of this generation repeats.
    pub(super) salts: [u32; 2],
    /// What it says its checksum is.
    pub(super) stored: Sum,
    /// What its checksum is, in its own byte order and in the other.
    pub(super) computed: [Sum; 2],
}

impl Header {
    pub(super) fn read(bytes: &[u8; HEADER]) -> Self {
        let [magic, _version, page, _checkpoints, salt, other, one, two] = numbers(bytes);
        let order = if magic & 1 == 0 { Order::Little } else { Order::Big };
        let (summed, _) = bytes.split_at(HEADER - 8);
        let other_order = if order == Order::Big { Order::Little } else { Order::Big };
        Self {
            order,
            page: usize::try_from(page).unwrap_or_default(),
            salts: [salt, other],
            stored: Sum(one, two),
            computed: [order, other_order].map(|order| Sum::default().over(order, summed)),
        }
    }

    /// Whether `SQLite` reads what follows it.
    pub(super) fn is_sound(&self, bytes: &[u8; HEADER]) -> bool {
        let [magic, ..] = numbers(bytes);
        let [computed, _] = self.computed;
        magic & !1 == MAGIC
            && (512..=65536).contains(&self.page)
            && self.page.is_power_of_two()
            && computed == self.stored
    }
}

fn numbers(bytes: &[u8; HEADER]) -> [u32; HEADER / 4] {
    let mut numbers = [0; HEADER / 4];
    let (words, _) = bytes.as_chunks::<4>();
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = u32::from_be_bytes(*word);
    }
    numbers
}

/// A frame: a page as a transaction has left it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    /// Which page it is; the first is 1.
    pub(super) page: u32,
    /// In the last frame of a transaction, how many pages the archive has after it; else 0.
    pub(super) size: u32,
    pub(super) salts: [u32; 2],
    /// What it says the checksum of the log is up to here.
    pub(super) stored: Sum,
    content: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Reads a frame; `None` where there are too few bytes for one.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (head, content) = bytes.split_at_checked(FRAME)?;
        let (words, _) = head.as_chunks::<4>();
        let &[page, size, salt, other, one, two] = words else { return None };
        let [page, size, salt, other, one, two] =
            [page, size, salt, other, one, two].map(u32::from_be_bytes);
        Some(Self { page, size, salts: [salt, other], stored: Sum(one, two), content })
    }

    /// The checksum of the log up to here, if it was `before` up to this frame.
    pub(super) fn sum(&self, before: Sum, order: Order) -> Sum {
        let mark = [self.page, self.size].map(u32::to_be_bytes);
        before.over(order, mark.as_flattened()).over(order, self.content)
    }

    /// Whether one bit makes it the last of its transaction, which it does not say it is. (A page in
    /// which something is wrong can look the same, for the checksum is a weak one.)
    pub(super) fn has_lost_its_size(&self, before: Sum, order: Order) -> bool {
        let mut sizes = (0..u32::BITS).map(|bit| 1 << bit);
        self.size == 0 && sizes.any(|size| Self { size, ..*self }.sum(before, order) == self.stored)
    }

    /// Whether it is the other once more: on a disk whose writes may spoil what is beside them, a
    /// commit fills its sector with copies of its last frame.
    pub(super) fn is_copy_of(&self, other: &Self) -> bool {
        (self.page, self.size, self.content) == (other.page, other.size, other.content)
    }
}
