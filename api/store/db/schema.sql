/*
 * The tables of the store, one MIGRATION per version of the schema; db.c runs those that a file
 * does not have yet. A migration that was released is never changed: write a new one below it.
 *
 * No secondary indexes: every look-up happens in memory, and a row change then costs one page.
 * Rows of objects that change together get neighbouring numbers (store.c, row_for); those of kinds
 * of which there are few have numbers below zero, so that they can be read alone.
 */
MIGRATION(
    /* revision: no revision at or above it was ever given out; clean: 1 = closed in order */
    CREATE TABLE meta (
        key   TEXT PRIMARY KEY NOT NULL,
        value INTEGER NOT NULL
    ) WITHOUT ROWID;
    INSERT INTO meta VALUES ('revision', 1), ('clean', 1);

    /* kinds by name, so that the order of the program's table may change */
    CREATE TABLE kinds (
        id          INTEGER PRIMARY KEY,
        api_version TEXT NOT NULL,
        kind        TEXT NOT NULL
    );

    /* every top-level member but apiVersion, kind, metadata and status; shared by equal objects */
    CREATE TABLE bodies (
        id    INTEGER PRIMARY KEY,
        bytes BLOB NOT NULL
    );

    /* namespace and name are for people and for damaged metadata; meta holds them too */
    CREATE TABLE objects (
        id        INTEGER PRIMARY KEY,
        kind      INTEGER NOT NULL,
        namespace TEXT NOT NULL,
        name      TEXT NOT NULL,
        revision  INTEGER NOT NULL,
        body      INTEGER NOT NULL,
        meta      BLOB NOT NULL,
        status    BLOB
    );
)
MIGRATION(
    /* long statuses, in parts: id is 256 times the row of the object, plus the number of the part;
       the first is a text, compressed, each other one a delta to the next text (long_status.h). In
       the row of their object stands an empty blob */
    CREATE TABLE statuses (
        id    INTEGER PRIMARY KEY,
        bytes BLOB NOT NULL
    );
)
MIGRATION(
    UPDATE statuses SET id = id - 72057594037927936 WHERE id / 256 IN (
        SELECT id FROM objects WHERE kind IN (
            SELECT id FROM kinds WHERE kind IN
                ('JobFlow', 'JobTemplate', 'Event', 'Namespace', 'Queue', 'PriorityClass', 'Node')));
    UPDATE objects SET id = id - 281474976710656 WHERE kind IN (
        SELECT id FROM kinds WHERE kind IN
            ('JobFlow', 'JobTemplate', 'Event', 'Namespace', 'Queue', 'PriorityClass', 'Node'));
)
MIGRATION(
    /* sum: the checksum of the other columns (checksum.h). db_sign computes the checksums of all rows
       after this migration */
    ALTER TABLE kinds ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE bodies ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE statuses ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE objects ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;

    /* one row. generation: changes when a repair makes the file anew; commits: number of commits;
       newest: revision of the last change; revision: no revision at or above it was ever given out;
       clean: 1 = closed in order; backup: 1 = a copy that was not written since; total: sum of the
       checksums of all rows of the other tables; checked: that total, if the content of every row
       was parsed or written by this program; objects, bodies, parts: numbers of rows */
    CREATE TABLE state (
        id         INTEGER PRIMARY KEY,
        generation INTEGER NOT NULL,
        commits    INTEGER NOT NULL,
        newest     INTEGER NOT NULL,
        revision   INTEGER NOT NULL,
        clean      INTEGER NOT NULL,
        backup     INTEGER NOT NULL,
        total      INTEGER NOT NULL,
        checked    INTEGER NOT NULL,
        objects    INTEGER NOT NULL,
        bodies     INTEGER NOT NULL,
        parts      INTEGER NOT NULL,
        sum        INTEGER NOT NULL
    );
    INSERT INTO state VALUES (1, random(), 0, (SELECT coalesce(max(revision), 0) FROM objects),
        (SELECT value FROM meta WHERE key = 'revision'),
        (SELECT value FROM meta WHERE key = 'clean'), 0, 0, 0, 0, 0, 0, 0);
    DROP TABLE meta;
)
