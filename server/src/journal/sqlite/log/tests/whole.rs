//! What a crash, a loss of power or a failure leaves is no damage.

use proptest::prelude::*;

use super::*;

#[test]
fn a_log_that_is_written_is_whole() {
    let mut log = Log::new(&[]);
    for rows in [1, 1, 30, 2, 1] {
        log.commit(rows);
        assert_eq!(found(&log.bytes), None);
        assert_eq!(find_break(&log.place()).unwrap(), None);
    }
}

#[test]
fn what_is_not_there_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place { file: folder.path().join("none"), vfs: None };
    assert_eq!(find_break(&place).unwrap(), None);
    assert_eq!(find_break(&Place { vfs: Some("a disk of its own"), ..place }).unwrap(), None);
    assert_eq!(found(b""), None);
    assert_eq!(found(&vec![0; 100_000]), None);
}

#[test]
fn an_earlier_generation_behind_the_log_is_legal() {
    let mut log = Log::new(&[3, 1, 9, 1]);
    let earlier = log.bytes.clone();
    log.connection.query_row("PRAGMA wal_checkpoint(RESTART)", (), |_| Ok(())).unwrap();
    log.commit(2);
    assert_eq!(log.bytes.len(), earlier.len(), "what was there stays behind");
    assert_ne!(log.bytes[..HEADER], earlier[..HEADER]);
    assert_eq!(found(&log.bytes), None);
    // Its header was being written over the earlier one.
    for written in 0..=HEADER {
        let torn = [&log.bytes[..written], &earlier[written..]].concat();
        let (_folder, place) = beside(&log.path, &torn);
        assert_eq!(find_break(&place).unwrap(), None, "{written} bytes of it");
    }
}

#[test]
fn what_a_failed_transaction_left_behind_the_log_is_legal() {
    let mut log = Log::new(&[1, 3]);
    // One that does not fit into memory stands in the log before it is given up.
    log.connection
        .execute_batch(
            "BEGIN; WITH n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 50)
             INSERT INTO t SELECT randomblob(3000) FROM n; ROLLBACK",
        )
        .unwrap();
    log.read();
    assert!(log.bytes.len() > log.last() + 20 * PAGE_SIZE, "it was in the log");
    assert_eq!(found(&log.bytes), None);
    log.commit(1);
    assert_eq!(found(&log.bytes), None);
}

#[test]
fn what_a_failed_commit_left_behind_the_log_is_legal() {
    let mut log = Log::new(&[1, 3]);
    // As often as its sync fails, all of it stands in the log, and the next is written over it.
    let mut left = log.bytes.clone();
    for rows in [20, 9] {
        let (_folder, place) = beside(&log.path, &log.bytes);
        let failing = place.writer().unwrap();
        let sql = "WITH n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
                   INSERT INTO t SELECT randomblob(3000) FROM n";
        failing.execute(sql, [rows]).unwrap();
        let failed = fs::read(place.log().unwrap()).unwrap();
        assert!(failed.len() < left.len() || left.len() == log.bytes.len());
        let behind = left.get(failed.len()..).unwrap_or_default().to_owned();
        left = [failed, behind].concat();
        assert_eq!(found(&left), None);
    }
    log.commit(2);
    let behind = &left[log.bytes.len()..];
    assert!(behind.len() > 15 * PAGE_SIZE);
    assert_eq!(found(&[&log.bytes, behind].concat()), None);
}

#[test]
fn a_commit_that_fills_its_sector_with_copies_of_itself_is_one() {
    let log = Log::with(&[1, 3, 2], "?psow=0");
    let filled = log.bytes.len() - FRAME - PAGE_SIZE;
    let [last, before] = [filled, filled - FRAME - PAGE_SIZE].map(|at| &log.bytes[at..]);
    assert_eq!(last[FRAME..], before[FRAME..][..PAGE_SIZE], "there is a copy");
    assert_eq!(found(&log.bytes), None);
    assert_eq!(found(&log.with_flipped(8 * (log.last() + FRAME))), None, "nothing follows it");
    let log = Log::with(&[1, 3, 2, 1], "?psow=0");
    let spoilt = log.with_flipped(8 * (log.ends[2] + FRAME));
    assert_eq!(found(&spoilt), Some((log.ends[2] as u64, 2)), "a copy is no commit more");
}

#[test]
fn half_a_mark_that_power_loss_left_is_no_commit() {
    // Behind an earlier generation, the mark of a frame may still be the earlier one's.
    let log = Log::new(&[1, 120]);
    let (mut frames, mut across) = (log.last(), 0);
    while frames + FRAME + PAGE_SIZE < log.bytes.len() {
        let boundary = frames.next_multiple_of(512);
        if boundary - frames < FRAME {
            across += 1;
            let mut bytes = log.bytes.clone();
            bytes[frames..boundary].fill(0x77);
            assert_eq!(found(&bytes), None, "frame at {frames}");
        }
        frames += FRAME + PAGE_SIZE;
    }
    assert!(across > 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_log_that_was_cut_off_anywhere_is_whole(
        transactions in prop::collection::vec(1_u32..6, 0..6),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 16),
    ) {
        let log = Log::new(&transactions);
        for cut in cuts {
            prop_assert_eq!(found(&log.bytes[..cut.index(log.bytes.len() + 1)]), None);
        }
        for end in &log.ends {
            prop_assert_eq!(found(&log.bytes[..*end]), None);
        }
    }

    /// Until it is synced, any sector of a transaction may be on the disk, and any not.
    #[test]
    fn any_part_of_the_last_transaction_is_legal(
        transactions in prop::collection::vec(1_u32..30, 1..6),
        is_there in prop::collection::vec(any::<bool>(), 64),
        was in prop::sample::select(vec![0_u8, 0xff]),
    ) {
        let log = Log::new(&transactions);
        let mut bytes = log.bytes.clone();
        let last = log.last();
        let sectors = bytes[last..].chunks_mut(512).zip(is_there.into_iter().cycle());
        for (sector, _) in sectors.filter(|(_, is_there)| !is_there) {
            sector.fill(was);
        }
        prop_assert_eq!(found(&bytes), None);
    }
}
