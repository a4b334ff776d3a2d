//! Bringing an archive up to the version this build knows.
//!
//! A migration is a numbered file that is never edited once it has landed; `user_version` says how
//! many of them an archive has had.

use rusqlite::Connection;

/// “Hold” in ASCII: tells an archive from any other SQLite file.
pub(super) const APPLICATION_ID: i32 = 0x486f_6c64;

const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_asks.sql"),
    include_str!("migrations/0002_confirmed_and_deadlines.sql"),
    include_str!("migrations/0003_search_and_deletion.sql"),
];

/// The version this build writes, and the newest it reads.
pub(super) const VERSION: i32 = {
    // A handful of files.
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "a handful")]
    let version = MIGRATIONS.len() as i32;
    version
};

/// Applies what is missing, each migration in a transaction of its own. Returns whether anything was.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<bool> {
    let found: i32 = connection.query_row("PRAGMA user_version", (), |row| row.get(0))?;
    let mut changed = false;
    for (version, sql) in (1..).zip(MIGRATIONS) {
        if version <= found {
            continue;
        }
        let transaction = connection.transaction()?;
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", version)?;
        transaction.commit()?;
        changed = true;
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_schema_is_as_reviewed() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert!(migrate(&mut connection).unwrap());
        assert!(!migrate(&mut connection).unwrap(), "the second time there is nothing to do");
        let mut statement = connection
            .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
            .unwrap();
        let schema = statement
            .query_map((), |row| row.get::<_, String>(0))
            .unwrap()
            .map(Result::unwrap)
            .collect::<Vec<_>>()
            .join(";\n\n");
        insta::assert_snapshot!(schema);
    }
}
