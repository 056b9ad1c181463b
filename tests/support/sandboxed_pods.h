#pragma once
/*
 * Tests of sandboxed pods with real processes, at every level of isolation that works for this
 * user.
 *
 * The set of tests runs once for each level, in a data directory of its own. Its last test checks
 * that nothing is left behind. The test program is also its own shim, and the program of its pods.
 */
#include "tests/support/pods.h"
#include "tests/unit.h"

enum { LIMIT_MS = 60000 };

extern const char *level; /* the level of the current run of the tests */
extern struct pods_fixture *fixture;
extern char *data_dir;

/* A function that a pod runs with the test program: argv[1] is the name, and `run` gets the other
 * arguments. */
struct pod_program {
    const char *name;
    int (*run)(char **args);
};

/** The whole main function: runs as a shim, as one of `programs` (ended by a zeroed row; or NULL),
 * or runs `tests` at each level. Returns the exit code. */
int sandboxed_pods_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count,
                        const struct pod_program *programs);
/** Starts the node on the data directory of the level; the function below ends it. Tests that
 * restart the node use both. */
int sandboxed_pods_begin(void **state);
int sandboxed_pods_end(void **state);

extern const struct runtime_volume test_volumes[];
enum { TEST_VOLUMES = 4 };
#define WITH_TEST_VOLUMES .volumes = test_volumes, .n_volumes = TEST_VOLUMES
#define WITH_TEST_HOSTS                                                                            \
    .hosts = "127.0.0.1 localhost\n127.10.4.2 j-0.j.default j-0\n", .hostname = "j-0",             \
    .ip = "127.10.4.2"

bool is_plain(void); /* Returns whether the level has no private mounts and names. */
/** Runs a pod to its end. Returns the exit code of its first container, -1 when there is none. */
int run(struct test_pod *pod, char **out_log);
void release(const char *uid);
/** Waits for a number that the pod prints ("name=5"). Returns -1 when it does not print one in
 * time. */
long number_in_log(const char *uid, const char *name);
/** Creates a directory of the host that pods may write to as any user. Returns its path; owned. */
char *shared_new(void);
void shared_free(char *dir);
SCOPED_DEFINE_PTR(shared, char *, shared_free)

/** The last test of each set checks that no file, process or control group of a released pod is
 * left. */
void nothing_is_left_of_pods_that_were_released(void **state);
