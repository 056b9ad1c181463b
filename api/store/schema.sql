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
       the first is a text, compressed, each other one a delta to the next text (db_status.h). In
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
