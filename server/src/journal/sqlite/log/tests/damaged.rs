//! Damage before the last transaction is found, wherever it is and whatever it looks like.

use proptest::prelude::*;

use super::super::frame::{Frame, Header, Order, Sum};
use super::*;

/// Asserts what is said of a log in which one bit is wrong: where it breaks off, and how many commits
/// do not lie before that, as far as it can be seen.
#[track_caller]
fn assert_found(log: &Log, bit: usize) {
    let at = frame_of(bit / 8);
    let commits = log.ends.iter().filter(|end| **end > at).count() as u64;
    let is_commit = log.ends.contains(&(at + FRAME + PAGE_SIZE));
    let is_summed = !(at + 8..at + FRAME).contains(&(bit / 8));
    let is_in_doubt = is_commit && is_across(at) && is_summed;
    match found(&log.with_flipped(bit)) {
        None => assert!(is_in_doubt && commits == 2, "bit {bit} was not found"),
        Some((found, seen)) => {
            assert_eq!(found, at as u64, "bit {bit}");
            let least = commits - u64::from(is_in_doubt);
            // A mark of a commit that is there by mistake counts as one.
            let most = commits + u64::from(!is_commit && at > 0 && is_summed);
            assert!((least..=most).contains(&seen), "bit {bit}: {seen} of {commits}");
        }
    }
}

/// Whether a sector ends in what stands before a page.
fn is_across(at: usize) -> bool {
    at % 512 > 512 - FRAME
}

#[test]
fn a_commit_is_none_where_its_mark_may_be_of_another_time_than_its_checksum() {
    // The sector boundary lies between the two, so that power loss can leave either without the other.
    let ends_across = |log: &Log| is_across(log.last() - FRAME - PAGE_SIZE);
    let log = (1..99).map(|rows| Log::new(&[rows, 1])).find(ends_across).unwrap();
    let at = log.last() - FRAME - PAGE_SIZE;
    for (byte, is_certain) in [(2, false), (8, true), (17, true), (FRAME, false)] {
        let found = found(&log.with_flipped(8 * (at + byte)));
        assert_eq!(found, is_certain.then_some((at as u64, 2)), "byte {byte}");
    }
    // With one more behind it, it is damage in any case.
    let log = (1..99)
        .map(|rows| Log::new(&[rows, 1, 1]))
        .find(|log| (log.ends[1] - FRAME - PAGE_SIZE) % 512 > 512 - FRAME);
    let log = log.unwrap();
    let at = log.ends[1] - FRAME - PAGE_SIZE;
    for byte in [2, 8, 17, FRAME] {
        let found = found(&log.with_flipped(8 * (at + byte)));
        assert_eq!(found.map(|(at, _)| at), Some(at as u64), "byte {byte}");
    }
}

#[test]
fn every_bit_of_every_header_counts() {
    let log = Log::new(&[1, 3, 1, 1, 2, 1]);
    let is_in_header = |byte: &usize| byte - frame_of(*byte) < FRAME || *byte < HEADER;
    for byte in (0..log.last()).filter(is_in_header) {
        for bit in 8 * byte..8 * byte + 8 {
            assert_found(&log, bit);
        }
    }
}

#[test]
fn a_damaged_log_is_one_that_loses_what_was_committed() {
    let log = Log::new(&[1, 3, 1, 1]);
    assert_eq!(rows(&beside(&log.path, &log.bytes).1), 6);
    let spoilt = log.with_flipped(8 * (log.ends[1] + FRAME + 100));
    let (_folder, place) = beside(&log.path, &spoilt);
    assert_eq!(rows(&place), 1, "SQLite says nothing of the other five");
    let damage = find_break(&place).unwrap().unwrap();
    assert_eq!(damage, LogBreak { at: log.ends[1] as u64, commits: 3 });
    let says = format!("breaks off at byte {}, and 3 commits lie behind it", log.ends[1]);
    assert_eq!(damage.to_string(), says);
}

#[test]
fn a_spoilt_sector_is_found() {
    let log = Log::new(&[1, 3, 1, 5, 1, 2, 1]);
    // Two transactions have to be whole behind it: one that follows from the other.
    let until = log.ends[log.ends.len() - 4];
    for sector in 0..until / 512 {
        for with in [0, 0xff, 0xa5] {
            let mut bytes = log.bytes.clone();
            bytes[sector * 512..][..512].fill(with);
            let mut differing = bytes.iter().zip(&log.bytes).enumerate();
            let first = differing.find(|(_, (is, was))| is != was).map(|(at, _)| at);
            let at = found(&bytes).map(|(at, _)| at);
            let expected = first.map(|at| frame_of(at) as u64);
            assert_eq!(at, expected, "sector {sector}, {with:#x}");
        }
    }
}

#[test]
fn a_log_in_the_other_byte_order_is_read_too() {
    let mut log = Log::new(&[1, 3, 1, 1]);
    log.bytes = turned(&log.bytes);
    let (_folder, place) = beside(&log.path, &log.bytes);
    assert_eq!(rows(&place), 6, "as SQLite reads it");
    assert_eq!(found(&log.bytes), None);
    for byte in [0, 3, 5, 12, 30, HEADER + 2, HEADER + FRAME, log.ends[2] + 17, log.last() - 1] {
        assert_found(&log, 8 * byte);
    }
}

/// The same log as a machine of the other byte order writes it.
fn turned(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_owned();
    bytes[3] ^= 1;
    let header: &mut [u8; HEADER] = bytes.first_chunk_mut().unwrap();
    let order = Header::read(header).order;
    let [sum, _] = Header::read(header).computed;
    header[24..].copy_from_slice(&written(sum));
    bytes[HEADER..].chunks_mut(FRAME + PAGE_SIZE).fold(sum, |before, bytes| {
        let sum = Frame::read(bytes).unwrap().sum(before, order);
        bytes[16..FRAME].copy_from_slice(&written(sum));
        sum
    });
    assert_eq!(order, if cfg!(target_endian = "little") { Order::Big } else { Order::Little });
    bytes
}

fn written(Sum(one, two): Sum) -> [u8; 8] {
    (u64::from(one) << 32 | u64::from(two)).to_be_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bit_before_the_last_transaction_counts(
        transactions in prop::collection::vec(1_u32..6, 1..6),
        bits in prop::collection::vec(any::<prop::sample::Index>(), 16),
    ) {
        let log = Log::new(&transactions);
        for bit in bits {
            assert_found(&log, bit.index(8 * log.last()));
        }
    }
}
