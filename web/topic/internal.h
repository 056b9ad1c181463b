#pragma once
/*
 * What the kinds of topics share with the code that runs their watches.
 */
#include "base/collections/table.h"
#include "web/topic/topic.h"

struct topic_kind {
    const char *word;   /* first word of the topic's name */
    const char *member; /* member of a line that has the rows */
    const char *accept; /* media type of the watch */
    /* Writes path and query of the watch, without what every watch has. `words`: what follows the
     * first word. BAD_REQUEST. */
    bool (*target)(const char *words, struct buf *out, struct error *err);
    /* The watch begins, perhaps anew; may be NULL. */
    void (*begin)(struct topic *topic);
    /* Takes the object of a watch event of type ADDED, MODIFIED or DELETED. */
    void (*event)(struct topic *topic, const char *type, json_t *object);
    /* The present state has been received as a whole; may be NULL. */
    void (*complete)(struct topic *topic);
    void (*release)(struct topic *topic); /* frees `own`; may be NULL */

    /* The following members are NULL but for the topic `flow`. */

    /* Returns path and query of the watch that begins; NULL when the kind reads the state by other
     * means, and calls topic_complete or topic_failed then. */
    const char *(*source)(struct topic *topic);
    /* Whether the state is the newest one although nothing is under way. */
    bool (*is_current)(const struct topic *topic);
    /* Takes a line that is no watch event; false: it is one. */
    bool (*line)(struct topic *topic, const json_t *line);
    /* Whether to begin again at once after this refusal, by another way. */
    bool (*refused)(struct topic *topic, int status);
    /* What a cursor reads beside the rows. */
    void (*rewind)(struct topic_cursor *cursor);
    bool (*has_more)(const struct topic_cursor *cursor);
    void (*write)(struct topic_cursor *cursor, size_t most, struct buf *out);
};
extern const struct topic_kind topic_flows, topic_objects, topic_events, topic_flow;

/* A row, or a key whose row is gone. */
struct topic_row {
    char *key, *text; /* `text`: the row as JSON; NULL: it is gone */
    uint64_t number;  /* number of its last change */
    bool seen;        /* the row was seen since the watch last began */
    TAILQ_ENTRY(topic_row) order;
};
TAILQ_HEAD(topic_rows, topic_row);

enum topic_state { TOPIC_STARTING, TOPIC_LIVE, TOPIC_WAITING, TOPIC_OVER };

struct topic {
    char *name;
    const struct topic_kind *kind;
    struct topics *topics;
    struct loop *loop;
    char *target;
    struct upstream_call watch;
    struct buf line; /* the beginning of a line of the watch */
    enum topic_state state;
    struct table by_key;
    struct topic_rows rows, gone; /* changed rows and removed ones, ordered by number */
    uint64_t changes;             /* number of the last change */
    struct buf head;              /* members of a line beside the rows; empty: none */
    uint64_t head_number;
    struct buf reset; /* members of the line that begins the topic, ",…" */
    uint64_t resets;
    /* ",…": members of the line that tells readers why the rows are out of date; empty: they are up to
     * date */
    struct buf note;
    unsigned notes;
    bool is_ready; /* the present state has been received once */
    int64_t began_ns;
    int failures;
    struct timer timer; /* begins the watch anew, or ends a topic without cursors */
    LIST_HEAD(, topic_cursor) cursors;
    LIST_ENTRY(topic) all;
    void *own; /* state of the topic's kind; NULL at first */
};

/** Sets a row. The text is copied; nothing changes when it is equal. */
void topic_set(struct topic *topic, const char *key, const char *text);
void topic_remove(struct topic *topic, const char *key);
/** Drops all rows; readers are told to do so, too. */
void topic_reset(struct topic *topic);
/** Sets the members beside the rows, such as "\"flow\":{…}"; nothing changes when they are equal. */
void topic_set_head(struct topic *topic, const char *members);
/** Tells readers that there is something to read. */
void topic_tell(struct topic *topic);
/** Says that all rows of the present state have been set, as after a list. */
void topic_complete(struct topic *topic);
/** Says that the source did not answer, with the reason; it is asked again after a pause. */
void topic_failed(struct topic *topic, const struct error *err);
struct upstream *topic_upstream(const struct topic *topic);
struct child_queue *topic_children(const struct topic *topic);
