#pragma once
/*
 * A store on disk in a fresh directory, on a loop with virtual time.
 */
#include "api/store/store.h"

struct store_fixture {
    struct clock *clock;
    struct loop *loop;
    struct store *store; /* NULL when closed */
    char *directory;     /* owned */
};

struct store_fixture store_fixture_at(const char *name); /* the store is closed at first */
bool store_fixture_open(struct store_fixture *fixture, struct error *err);
struct store_fixture store_fixture_new(const char *name); /* the store is open at first */
void store_fixture_close(struct store_fixture *fixture);
void store_fixture_reopen(struct store_fixture *fixture);
void store_fixture_free(struct store_fixture *fixture);

/** Returns the job of that name in namespace "default". */
const struct object *store_fixture_get(const struct store_fixture *fixture, const char *name);

/* Run SQL on the file of a closed store; the second function returns the number it yields. */
void store_fixture_sql(const struct store_fixture *fixture, const char *text);
int64_t store_fixture_ask(const struct store_fixture *fixture, const char *text);
