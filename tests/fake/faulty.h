#pragma once
/*
 * Any cluster, with writes that go wrong when told: refused, delayed, or carried out with the
 * answer lost. Reads and changes pass through.
 */
#include "api/cluster.h"

/* clang-format off */
enum faulty_op {
    FAULTY_CREATE = 1, FAULTY_UPDATE = 2, FAULTY_STATUS = 4, FAULTY_REMOVE = 8,
    FAULTY_ANY = FAULTY_CREATE | FAULTY_UPDATE | FAULTY_STATUS | FAULTY_REMOVE,
};
/* clang-format on */

enum faulty_way {
    FAULTY_REFUSE, /* nothing happens; the answer is `code` */
    FAULTY_LOSE,   /* it happens; the answer is `code` all the same */
    FAULTY_DELAY,  /* it happens `delay_ms` later, behind writes made meanwhile */
};

struct faulty_rule {
    unsigned ops;            /* enum faulty_op, or'ed */
    const struct kind *kind; /* NULL = any */
    const struct kind *but;  /* never of this kind */
    int skip;                /* that many matching writes pass first */
    int times;               /* then that many go wrong; 0 = all */
    enum faulty_way way;
    enum error_code code; /* NONE = CONFLICT */
    int64_t delay_ms;
};

/** Wraps `inner` (borrowed). */
struct cluster *faulty_new(struct cluster *inner);
/** Writes still delayed are dropped. NULL is fine. */
void faulty_free(struct cluster *faulty);

/** From now on, and until `times` have gone wrong. Rules apply in order; the first that fits a
 * write takes it. At most 16. */
void faulty_plan(struct cluster *faulty, const struct faulty_rule *rule);
#define faulty_expect(faulty, ...) faulty_plan((faulty), &(const struct faulty_rule){__VA_ARGS__})
void faulty_clear(struct cluster *faulty); /* all rules; delayed writes still come */

int faulty_writes(const struct cluster *faulty); /* made, well or not */
int faulty_hits(const struct cluster *faulty);   /* gone wrong */
