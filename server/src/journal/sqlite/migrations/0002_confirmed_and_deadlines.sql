-- Landed: never edit. A change of the schema is a new file with the next number.

-- A commit that fails proves nothing: its asks may be there after a crash, though whoever handed them
-- in was never told that they were accepted. So every ask remembers the group of writes it came into
-- being with, and the archive the last group whose asks were told of. What is in between is kept, and
-- never run unasked.
ALTER TABLE asks    ADD COLUMN born      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE archive ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0;

-- Set in a backup: the archive that is opened from it is another one, and gets an id of its own.
ALTER TABLE archive ADD COLUMN is_backup INTEGER NOT NULL DEFAULT 0;

-- Deadlines of a run, in milliseconds of the clock that counts through sleep.
ALTER TABLE asks ADD COLUMN silent_until INTEGER; -- for the next sign of life
ALTER TABLE asks ADD COLUMN run_until    INTEGER; -- for its end
