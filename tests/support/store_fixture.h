#pragma once
/*
 * A store on disk in a fresh directory, on a loop with virtual time.
 */
#include "api/store/store.h"

struct store_fixture {
    struct clock *clock;
    struct loop *loop;
    struct store *store; /* the open store; NULL when closed */
    char *directory;     /* path of its directory; owned */
};

/** Returns a fixture whose store is closed. */
struct store_fixture store_fixture_at(const char *name);
bool store_fixture_open(struct store_fixture *fixture, struct error *err);
/** Returns a fixture whose store is open. */
struct store_fixture store_fixture_new(const char *name);
void store_fixture_close(struct store_fixture *fixture);
void store_fixture_reopen(struct store_fixture *fixture);
void store_fixture_free(struct store_fixture *fixture);

/** Returns the job of that name in namespace "default". */
const struct object *store_fixture_get(const struct store_fixture *fixture, const char *name);

/* Runs SQL on the file of a closed store. The function below it returns the number that the SQL
 * yields. */
void store_fixture_sql(const struct store_fixture *fixture, const char *text);
/** Runs SQL on the file of a closed store and leaves the checksums as they are. */
void store_fixture_sql_unsigned(const struct store_fixture *fixture, const char *text);
/** Makes the file of a closed store one of schema version 2 or 3: without checksums and mark. The
 * caller makes the rows fit. */
void store_fixture_make_older(const struct store_fixture *fixture, int version);
int64_t store_fixture_ask(const struct store_fixture *fixture, const char *text);
