#pragma once
/*
 * What a page may subscribe to: rows that change, each with a key.
 *
 *   watch at the API server ──► rows by key, in the order of their changes ──► cursor ──► stream
 *                               (newest value of each)                        cursor ──► stream
 *
 * A topic has one watch, however many streams read it. It keeps the newest value of each row and
 * the order in which rows changed last. A cursor says how far a reader has come, so a slow reader
 * costs no memory and misses no last value. When a watch breaks off it begins anew with the present
 * state, and readers get only what has changed. Ref: spec/web.md 7.5.
 */
#include <sys/queue.h>

#include "base/buf.h"
#include "base/collections/bitset.h"
#include "web/upstream/upstream.h"

struct topic;
struct topics;

/* The position of one reader in a topic; a member of its owner's struct. */
struct topic_cursor {
    struct topic *topic;
    uint64_t rows, gone, head; /* the number of the last change of each that was read */
    uint64_t resets;           /* number of resets that were read */
    unsigned notes;
    bool ready;
    struct bitset unread; /* topic `flow`: the steps whose newest state was not read */
    void (*changed)(
        struct topic_cursor *cursor); /* called when the cursor may have something to read */
    LIST_ENTRY(topic_cursor) all;
};

struct child_queue;
struct topics *topics_new(struct loop *loop, struct upstream *upstream,
                          struct child_queue *children);
void topics_free(struct topics *topics); /* call after the last cursor was closed */
/** Begins every watch anew, because there is another server. */
void topics_restart(struct topics *topics);

/** Opens a cursor at the beginning of the topic of that name. BAD_REQUEST when it is no topic. */
bool topic_open(struct topics *topics, const char *name, struct topic_cursor *cursor,
                struct error *err);
/** Closes a cursor. A topic without cursors ends after half a minute. */
void topic_close(struct topic_cursor *cursor);
const char *topic_name(const struct topic *topic);
/** Appends lines with what has changed since the cursor's position, and moves it. Returns whether
 * more is left, because `out` has reached `most` bytes. */
bool topic_read(struct topic_cursor *cursor, size_t most, struct buf *out);
/** Returns whether a text may be the name of an object or a namespace, and so a part of a path. */
bool topic_is_name(const char *text, size_t len);
