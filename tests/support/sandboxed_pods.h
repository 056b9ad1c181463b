#pragma once
/*
 * Boxed pods with real processes, at every level of isolation that works for whoever runs this.
 *
 * One set of tests runs once for each level, in a data directory of its own, and ends by looking
 * for what was left behind. The test program is its own shim, and what its pods run.
 */
#include "tests/support/pods.h"
#include "tests/unit.h"

enum { LIMIT_MS = 60000 };

extern const char *level; /* of the tests that run */
extern struct bed *bed;
extern char *data_dir;

/* What the test program does as a program of a pod: `argv[1]` is the name, `run` gets the rest. */
struct box_mode {
    const char *name;
    int (*run)(char **args);
};

/** The whole of main: shim, mode (a table ended by a zeroed row, or NULL), or `tests` at each
 * level. */
int boxes_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count,
               const struct box_mode *modes);
/** A node's life on the data directory of the level; for tests that are about more than one. */
int boxes_begin(void **state);
int boxes_end(void **state);

extern const struct runtime_volume box_volumes[];
enum { BOX_VOLUMES = 4 };
#define THE_VOLUMES .volumes = box_volumes, .n_volumes = BOX_VOLUMES
#define THE_HOSTS                                                                                  \
    .hosts = "127.0.0.1 localhost\n127.10.4.2 j-0.j.default j-0\n", .hostname = "j-0",             \
    .ip = "127.10.4.2"

bool is_plain(void); /* no private view of anything */
/** Run a pod to its end: the exit code of its first container, -1 when there is none. */
int run(struct bed_pod *pod, char **out_log);
void release(const char *uid);
/** A number the pod prints ("name=5"), waited for; -1 when it does not come. */
long number_in_log(const char *uid, const char *name);
/** A directory of the host that pods reach and may write to, whoever they are; owned. */
char *shared_new(void);
void shared_free(char *dir);
SCOPED_DEFINE_PTR(shared, char *, shared_free)

/** The last test of each set. */
void nothing_is_left_of_pods_that_were_released(void **state);
