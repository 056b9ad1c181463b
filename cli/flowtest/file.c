/*
 * The field tables of a test file and its decoder. Errors are reported with line and field, as for
 * manifests.
 */
#include "cli/flowtest/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command/command.h"
#include "cli/manifest/manifests.h"

enum { FILE_BYTES_MAX = 16 << 20, TESTS_MAX = 10000 };

#define OUTCOME(member) offsetof(struct test_outcome, member)
#define MOCK(member)    offsetof(struct test_mock_body, member)
#define STEP(member)    offsetof(struct test_step_body, member)
#define CASE(member)    offsetof(struct test_case, member)
#define EXPECT(member)                                                                             \
    (offsetof(struct test_case, expect.member) - offsetof(struct test_case, expect))
#define FILE_(member) offsetof(struct test_file, member)

/* clang-format off */
static const char *const flow_phase_values[] = {"Succeed", "Failed", NULL};
static const char *const step_phase_values[] = {
    "Completed", "Failed", "Terminated", "Skipped", "Waiting", "Blocked", "Retrying", "Pending", "Running",
    "Restarting", "Completing", "Terminating", "Aborting", "Aborted", NULL};

#define OUTCOME_ROWS(base) \
    {"duration", FIELD_DURATION, (base) + OUTCOME(duration_ns), .doc = "How long each container runs, like 90s or 1h30m; default: 0s."}, \
    {"exitCode", FIELD_I32,      (base) + OUTCOME(exit_code), .bounded = true, .min = 0, .max = 255, .doc = "How each container ends; default: 0."}, \
    {"message",  FIELD_STR,      (base) + OUTCOME(message), .doc = "The termination message of each container."}, \
    {"outputs",  FIELD_STR_MAP,  (base) + OUTCOME(outputs), .doc = "Outputs of the step: lines key=value added to the message."}

static const struct field outcome_fields[] = {OUTCOME_ROWS(0), {0}};
static const struct schema outcome_schema = {"TestOutcome", outcome_fields, sizeof(struct test_outcome)};

static const struct field mock_fields[] = {
    OUTCOME_ROWS(MOCK(outcome)),
    {"attempts", FIELD_LIST, MOCK(attempts), &outcome_schema, .doc = "The first run of each container, the second, …; the last entry holds for all later ones."},
    {"approve",  FIELD_OPT_BOOL, MOCK(approve), .doc = "Answer to a step that waits for its approval: true approves, false rejects it, after the duration. Without it nobody answers."},
    {"tasks",    FIELD_MAP,  MOCK(tasks), &outcome_schema, .doc = "Of single tasks, by name, instead."},
    {0},
};
static const struct schema mock_schema = {"TestStep", mock_fields, sizeof(struct test_mock_body)};

static const struct field step_fields[] = {
    {"phase",    FIELD_STR,      STEP(phase), .one_of = step_phase_values, .doc = "Phase of the step in the end; Waiting when it never began."},
    {"reason",   FIELD_STR,      STEP(reason), .doc = "Its reason."},
    {"attempts", FIELD_OPT_I32,  STEP(attempts), .doc = "How many jobs were made for it."},
    {"start",    FIELD_DURATION, STEP(start_ns), .doc = "When the pods of its last job began to run, after the start of the flow; to the second."},
    {"duration", FIELD_DURATION, STEP(duration_ns), .doc = "How long its last job ran; to the second."},
    {"job",      FIELD_ANY,      STEP(job), .doc = "Part of the Job that was made, of several attempts the last: what stands here must be in it; lists of things with a name are matched by name."},
    {0},
};
static const struct schema step_schema = {"TestExpectedStep", step_fields, sizeof(struct test_step_body)};

static const struct field expect_fields[] = {
    {"phase",    FIELD_STR,      EXPECT(phase), .one_of = flow_phase_values, .doc = "Phase of the flow in the end."},
    {"reason",   FIELD_STR,      EXPECT(reason), .doc = "Its reason."},
    {"duration", FIELD_DURATION, EXPECT(duration_ns), .doc = "How long it took, on the virtual clock; to the second."},
    {"order",    FIELD_STR_LIST, EXPECT(order), .doc = "Steps, or iterations like shard-2, in the order in which they began; others may begin in between."},
    {"skipped",  FIELD_STR_LIST, EXPECT(skipped), .doc = "The steps that were skipped, all of them."},
    {"notRun",   FIELD_STR_LIST, EXPECT(not_run), .doc = "Steps, or iterations like shard-2, that never began."},
    {"steps",    FIELD_MAP,      EXPECT(steps), &step_schema, .doc = "Single steps, or iterations like shard-2, by name; a bare text is the phase."},
    {0},
};
static const struct schema expect_schema = {"TestExpectation", expect_fields, sizeof ((struct test_case *)0)->expect};

static const struct field case_fields[] = {
    {"name",    FIELD_STR,      CASE(name), .required = true, .min_length = 1, .doc = "What is tested, in a few words."},
    {"parameters", FIELD_STR_MAP, CASE(parameters), .doc = "Values of parameters of the flow, as jobflow run -p sets them."},
    {"steps",   FIELD_MAP,      CASE(mocks), &mock_schema, .doc = "What the jobs of steps do, by name of the step; others do what sim.jobflow.dev annotations say, or succeed at once."},
    {"expect",  FIELD_INLINE,   CASE(expect), &expect_schema, .required = true, .doc = "What must come of it."},
    {"maxPods", FIELD_I32,      CASE(max_pods), .bounded = true, .min = 1, .max = 100000, .doc = "Pods running at once; default: 1000."},
    {"timeout", FIELD_DURATION, CASE(timeout_ns), .doc = "Virtual time after which the flow must be over; default: 10000h."},
    {0},
};
static const struct schema case_schema = {"FlowTest", case_fields, sizeof(struct test_case)};

static const struct field file_fields[] = {
    {"manifests", FIELD_STR_LIST, FILE_(manifests), .required = true, .min_length = 1, .doc = "Files and directories of the flow, relative to this one."},
    {"flow",      FIELD_STR,      FILE_(flow), .doc = "The flow that is tested, where the manifests define several."},
    {"namespace", FIELD_STR,      FILE_(namespace), .doc = "Namespace of objects that name none; default: default."},
    {"tests",     FIELD_LIST,     FILE_(cases), &case_schema, .required = true, .min_length = 1, .max_length = TESTS_MAX, .doc = "The tests; each begins with an empty store."},
    {0},
};
const struct schema test_file_schema = {"TestFile", file_fields, sizeof(struct test_file)};
/* clang-format on */

void test_file_error(const struct test_file *file, const char *field, const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    cli_errorf("%s:%zu: %s%s%s", file->path, yaml_line(file->stream, 0, field), field,
               *field ? ": " : "", message);
}

/* Expands the short form "train: Completed" to "train: {phase: Completed}". */
static void lengthen_steps(json_t *doc)
{
    size_t i;
    json_t *test, *value;
    const char *step;

    json_array_foreach(json_object_get(doc, "tests"), i, test)
    {
        json_t *steps = json_object_get(json_object_get(test, "expect"), "steps");

        json_object_foreach(steps, step, value)
        {
            if (json_is_string(value))
                json_object_set_new(steps, step, json_pack("{s:O}", "phase", value));
        }
    }
}

static bool parse(struct test_file *file, const struct buf *text)
{
    struct error err = {0};

    file->stream = yaml_parse(text->data ? text->data : "", text->len, &yaml_limits_default, &err);
    if (!file->stream) {
        cli_errorf("%s: %s", file->path, err.message);
        return false;
    }
    if (yaml_count(file->stream) == 1)
        return true;
    cli_errorf("%s: a file of tests is one YAML document, here are %zu", file->path,
               yaml_count(file->stream));
    return false;
}

static bool decode(struct test_file *file)
{
    const struct schema_options how = {.unknown = UNKNOWN_ERROR};
    json_t *doc = yaml_document(file->stream, 0);
    struct yaml_stream *stream = file->stream;
    const char *path = file->path;
    struct arena *arena = arena_new(0);
    const struct manifest place = {.file = path, .stream = stream, .path = "", .doc = doc};
    struct error_list errors = {0};
    struct error err = {0};
    bool ok;

    lengthen_steps(doc);
    schema_check(&test_file_schema, doc, "", &how, &errors);
    for (size_t i = 0; i < errors.count; i++)
        manifest_print(&place, "error", &errors.items[i]);
    ok = errors.count == 0;
    error_list_release(&errors);
    if (ok && !schema_decode(&test_file_schema, doc, arena, file, &err)) {
        cli_errorf("%s: %s: %s", path, err.field, err.message);
        ok = false;
    }
    file->path = path; /* decoding has cleared the struct */
    file->stream = stream;
    file->arena = arena;
    return ok;
}

bool test_file_load(struct test_file *file, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    scoped(buf) struct buf text = {0};
    struct error err = {0};
    bool ok;

    *file = (struct test_file){.path = path};
    ok = fd >= 0 ? file_read_stream(fd, path, FILE_BYTES_MAX, &text, &err)
                 : error_errno(&err, errno, "%s", path);
    if (fd >= 0)
        close(fd);
    if (!ok)
        cli_errorf("%s", err.message);
    return ok && parse(file, &text) && decode(file);
}

void test_file_release(struct test_file *file)
{
    yaml_stream_free(file->stream);
    if (file->arena)
        arena_free(file->arena);
    *file = (struct test_file){0};
}
