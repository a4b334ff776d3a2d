//! Which files there are: what a look into the folder shows, and what it shows after a loss of power.

use std::collections::BTreeMap;

/// A file, whatever it is called.
pub(super) type FileId = u64;

/// The names of files.
#[derive(Debug, Default)]
pub(super) struct Folder {
    visible: BTreeMap<String, FileId>,
    durable: BTreeMap<String, FileId>,
    /// Names given and taken since the folder was last synced, in order.
    changes: Vec<(String, Option<FileId>)>,
}

impl Folder {
    pub(super) fn find(&self, name: &str) -> Option<FileId> {
        self.visible.get(name).copied()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = (&str, FileId)> {
        self.visible.iter().map(|(name, file)| (name.as_str(), *file))
    }

    pub(super) fn create(&mut self, name: &str, file: FileId) {
        self.visible.insert(name.to_owned(), file);
        self.changes.push((name.to_owned(), Some(file)));
    }

    pub(super) fn delete(&mut self, name: &str) {
        if self.visible.remove(name).is_some() {
            self.changes.push((name.to_owned(), None));
        }
    }

    pub(super) fn sync(&mut self) {
        self.changes.clear();
        self.durable.clone_from(&self.visible);
    }

    /// The power goes. `keeps` is told how many changes a name has had since the last sync, and says
    /// how many of them, from the first on, were durable.
    pub(super) fn lose_power(&mut self, mut keeps: impl FnMut(usize) -> usize) {
        let mut changes = BTreeMap::<String, Vec<Option<FileId>>>::new();
        for (name, change) in self.changes.drain(..) {
            changes.entry(name).or_default().push(change);
        }
        for (name, changes) in changes {
            let kept = keeps(changes.len()).checked_sub(1);
            match kept.and_then(|last| changes.get(last)) {
                None => {}
                Some(Some(file)) => drop(self.durable.insert(name, *file)),
                Some(None) => drop(self.durable.remove(&name)),
            }
        }
        self.visible.clone_from(&self.durable);
    }

    /// Whether a file may still be found, now or after a loss of power.
    pub(super) fn may_find(&self, file: FileId) -> bool {
        self.visible.values().chain(self.durable.values()).any(|found| *found == file)
            || self.changes.iter().any(|(_, change)| *change == Some(file))
    }

    /// How many changes a loss of power may undo.
    pub(super) fn unsynced(&self) -> usize {
        self.changes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_durable_when_the_folder_was_synced() {
        let mut folder = Folder::default();
        folder.create("a", 1);
        folder.sync();
        folder.delete("a");
        folder.create("b", 2);
        assert_eq!((folder.find("a"), folder.find("b")), (None, Some(2)));
        assert!(folder.may_find(1) && folder.may_find(2));
        folder.lose_power(|_| 0);
        assert_eq!((folder.find("a"), folder.find("b")), (Some(1), None));
        assert!(!folder.may_find(2));
    }

    #[test]
    fn a_name_keeps_a_first_part_of_what_became_of_it() {
        let kept = |count: usize| {
            let mut folder = Folder::default();
            folder.create("a", 1);
            folder.sync();
            folder.delete("a");
            folder.create("a", 2);
            folder.lose_power(|changes| count.min(changes));
            folder.find("a")
        };
        assert_eq!([kept(0), kept(1), kept(2)], [Some(1), None, Some(2)]);
    }
}
