/*
 * Rows of a size, each committed alone by SQLite as durably as the daemon commits (WAL, FULL).
 *
 *   rows FILE BYTES SECONDS        prints commits per second
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    int bytes = argc == 4 ? (int)strtol(argv[2], NULL, 10) : 0;
    double seconds = argc == 4 ? strtod(argv[3], NULL) : 0;
    double began, end;
    sqlite3_stmt *insert;
    sqlite3 *db;
    long n = 0;

    if (argc != 4 || sqlite3_open(argv[1], &db) != SQLITE_OK ||
        sqlite3_exec(db,
                     "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                     "CREATE TABLE row(id TEXT PRIMARY KEY, revision INTEGER, body BLOB)"
                     "WITHOUT ROWID",
                     NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "INSERT INTO row VALUES(?,?,zeroblob(?))", -1, &insert, NULL) !=
            SQLITE_OK)
        return 1;
    began = now_s();
    do {
        char id[64];
        int len = snprintf(id, sizeof id, "default/row-%ld", ++n);

        sqlite3_bind_text(insert, 1, id, len, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 2, n);
        sqlite3_bind_int(insert, 3, bytes);
        if (sqlite3_step(insert) != SQLITE_DONE)
            return 1;
        sqlite3_reset(insert);
        end = now_s();
    } while (end - began < seconds);
    printf("%.1f\n", (double)n / (end - began));
    sqlite3_finalize(insert);
    return sqlite3_close(db) != SQLITE_OK;
}
