#pragma once
/*
 * A file of flow tests: how the containers of each step behave, and the expected result. The
 * reference documentation is generated from its field tables.
 */
#include "api/types/schema/schema.h"
#include "base/scoped.h"

struct test_outcome {
    int64_t duration_ns; /* how long the container runs; -1 = 0s */
    int32_t exit_code;
    const char *message; /* termination message; NULL: none */
    struct str_map outputs;
};

struct test_task {
    const char *key; /* name of the task */
    struct test_outcome outcome;
};

struct test_mock_body {
    /* Outcome of every container that the fields below do not override. */
    struct test_outcome outcome;
    struct {
        struct test_outcome *items;
        size_t count;
    } attempts; /* the last entry also applies to all later attempts */
    struct {
        struct test_task *items;
        size_t count;
    } tasks;
    int8_t approve; /* answer to a step that waits for approval: 1 approved, 0 rejected, -1 none */
};

struct test_mock {
    const char *key; /* name of the step */
    struct test_mock_body body;
};

struct test_step_body {
    const char *phase, *reason;
    struct opt_i32 attempts;
    int64_t start_ns, duration_ns; /* expected times; -1 = not compared */
    json_t *job;                   /* expected members of the job; NULL: not compared */
};

struct test_step {
    const char *key;
    struct test_step_body body;
};

struct test_case {
    const char *name;
    int64_t timeout_ns; /* time limit of the test; -1: the default */
    int32_t max_pods;   /* how many pods may run at once; 0: the default */
    struct str_map parameters;
    struct {
        struct test_mock *items;
        size_t count;
    } mocks;
    struct {
        const char *phase, *reason;
        int64_t duration_ns;
        struct str_list order, skipped, not_run;
        struct {
            struct test_step *items;
            size_t count;
        } steps;
    } expect;
};

struct test_file {
    const char *path; /* path of the file; borrowed */
    struct str_list manifests;
    const char *flow, *namespace; /* the tested flow, NULL: the only flow; its namespace, NULL:
                                   * "default" */
    struct {
        struct test_case *items;
        size_t count;
    } cases;
    struct yaml_stream *stream; /* private to this module */
    struct arena *arena;
};

extern const struct schema test_file_schema;

/** Reads a file and prints every error with its line. Returns false when there was one. */
bool test_file_load(struct test_file *file, const char *path);
void test_file_release(struct test_file *file);
SCOPED_DEFINE(test_file, struct test_file, test_file_release)

/** Prints an error at a field of the file. */
void test_file_error(const struct test_file *file, const char *field, const char *format, ...)
    PRINTF_LIKE(3, 4);
