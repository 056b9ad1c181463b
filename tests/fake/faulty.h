#pragma once
/*
 * A cluster that wraps another one and injects faults into writes: refused, delayed, or executed
 * with the response lost. Reads and watch events pass through.
 */
#include "api/cluster.h"

/* clang-format off */
enum faulty_op {
    FAULTY_CREATE = 1, FAULTY_UPDATE = 2, FAULTY_STATUS = 4, FAULTY_REMOVE = 8,
    FAULTY_ANY = FAULTY_CREATE | FAULTY_UPDATE | FAULTY_STATUS | FAULTY_REMOVE,
};
/* clang-format on */

enum faulty_way {
    FAULTY_REFUSE, /* the write is not executed; the response is `code` */
    FAULTY_LOSE,   /* the write is executed; the response is `code` nevertheless */
    FAULTY_DELAY,  /* the write is executed `delay_ms` later, after writes made meanwhile */
};

struct faulty_rule {
    unsigned ops;            /* bits of enum faulty_op */
    const struct kind *kind; /* kind whose writes fail; NULL = any */
    const struct kind *but;  /* the rule does not apply to this kind */
    int skip;                /* number of matching writes that succeed before the first fault */
    int times;               /* number of writes that then fail; 0 = all */
    enum faulty_way way;
    enum error_code code; /* error of the response; ERR_NONE: a conflict */
    int64_t delay_ms;
};

/** Wraps `inner` (borrowed). Returns the new cluster; owned. */
struct cluster *faulty_new(struct cluster *inner);
/** Frees the wrapper; delayed writes are dropped. NULL is ignored. */
void faulty_free(struct cluster *faulty);

/** Adds a rule, which applies until `times` writes have failed. Rules are checked in order, and the
 * first that matches a write applies. At most 16 rules. */
void faulty_plan(struct cluster *faulty, const struct faulty_rule *rule);
#define faulty_expect(faulty, ...) faulty_plan((faulty), &(const struct faulty_rule){__VA_ARGS__})
void faulty_clear(struct cluster *faulty); /* removes all rules; delayed writes are still
                                            * executed */

int faulty_writes(const struct cluster *faulty); /* number of writes made, with or without fault */
int faulty_hits(const struct cluster *faulty);   /* number of writes with a fault */
