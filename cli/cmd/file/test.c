/*
 * The command `jobflow test`: finds test files, checks that the names in them exist, runs their
 * tests and prints the results.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "api/types/text/doc.h"
#include "api/types/text/suggest.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/timefmt.h"
#include "cli/cmd/commands.h"
#include "cli/flowtest/check.h"
#include "cli/flowtest/judge.h"
#include "cli/manifest/parameters.h"
#include "cli/preflight/preflight.h"

struct test_options {
    const char *filter;
    bool quiet;
};

#define TEST(member) offsetof(struct test_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR,  "filter", 0,   "TEXT", "run only tests with this in their names", TEST(filter)},
    {FLAG_BOOL, "quiet",  'q', NULL,   "print failures and the sum only", TEST(quiet)},
    {0},
};
/* clang-format on */

struct tally {
    const struct test_options *options;
    struct term term;
    size_t passed, failed, run;
    bool refused;
};

/* Loads the manifests of a test file; their paths are relative to it. */
static bool load_manifests(const struct test_file *file, struct manifests *set)
{
    const char *slash = strrchr(file->path, '/');
    size_t dir = slash ? (size_t)(slash - file->path) + 1 : 0;
    size_t n = file->manifests.count;
    char **paths = mem_array(n + 1, sizeof *paths);
    bool ok;

    for (size_t i = 0; i < n; i++)
        paths[i] = file->manifests.items[i][0] == '/'
                       ? mem_strdup(file->manifests.items[i])
                       : mem_printf("%.*s%s", (int)dir, file->path, file->manifests.items[i]);
    ok = manifests_load(set, (int)n, paths);
    for (size_t i = 0; i < n; i++)
        mem_free(paths[i]);
    mem_free(paths);
    return ok;
}

static bool check_manifests(const struct test_file *file, struct manifests *set)
{
    const struct preflight_options how = {
        .namespace = file->namespace ? file->namespace : "default", .sim = true};
    struct preflight_result result = {0};

    return preflight(set, &how, &result);
}

/* Writes the parameter values of one test into the flow's document. */
static void give_parameters(const struct test_case *test, const struct manifest *flow)
{
    for (size_t i = 0; i < test->parameters.count; i++)
        parameters_give(flow, test->parameters.items[i].key, test->parameters.items[i].value);
}

/* Runs a preflight with the parameters of the first test, because a flow may need some to be valid.
 */
static bool check_first(const struct test_file *file, struct manifests *set,
                        const struct manifest *flow)
{
    scoped(json) json_t *before = parameters_of(flow);
    bool good;

    give_parameters(&file->cases.items[0], flow);
    good = check_manifests(file, set);
    parameters_restore(flow, before);
    return good;
}

/* Returns the flow under test, or NULL when the file does not name one of several. */
static const struct manifest *find_flow(const struct test_file *file, const struct manifests *set)
{
    const struct manifest *found = NULL;
    struct suggest near = {0};

    for (size_t i = 0; i < set->count; i++) {
        const char *name = doc_text(set->items[i].doc, "metadata.name");

        if (set->items[i].kind != &kind_job_flow || !name)
            continue;
        if (file->flow)
            suggest_offer(&near, file->flow, name);
        if (file->flow && strcmp(file->flow, name) != 0)
            continue;
        if (found && !file->flow) {
            test_file_error(file, "manifests", "they define several flows: say which with flow");
            return NULL;
        }
        found = &set->items[i];
    }
    if (!found && file->flow)
        test_file_error(file, "flow", "the manifests define no JobFlow \"%s\"%s%s%s", file->flow,
                        near.word ? "; did you mean \"" : "", near.word ? near.word : "",
                        near.word ? "\"?" : "");
    else if (!found)
        test_file_error(file, "manifests", "they define no JobFlow");
    return found;
}

static void print_verdict(const struct tally *tally, const struct test_file *file, size_t t,
                          bool passed, const struct flowtest_run *run)
{
    const struct term *term = &tally->term;
    char field[64], took[40];

    if (passed && tally->options->quiet)
        return;
    duration_human(run->took_ms, took);
    snprintf(field, sizeof field, "tests[%zu]", t);
    printf("%s%s%s %s:%zu: %s (%s simulated)\n", term_color(term, passed ? COLOR_GREEN : COLOR_RED),
           passed ? "ok    " : "FAILED", term_reset(term), file->path,
           yaml_line(file->stream, 0, field), file->cases.items[t].name, took);
}

static void run_test(struct tally *tally, const struct test_file *file, size_t t,
                     struct manifests *set, const struct manifest *flow)
{
    const struct test_case *test = &file->cases.items[t];
    scoped(json) json_t *before = parameters_of(flow);
    scoped(flowtest_run) struct flowtest_run run = {.end = FLOWTEST_RUN_REFUSED};
    scoped(buf) struct buf differences = {0};
    size_t count;

    if (tally->options->filter && !strstr(test->name, tally->options->filter))
        return;
    give_parameters(test, flow);
    if (!test->parameters.count || check_manifests(file, set))
        flowtest_run(file, test, set, doc_text(flow->doc, "metadata.name"), &run);
    parameters_restore(flow, before);
    tally->run++;
    if (run.end == FLOWTEST_RUN_REFUSED) {
        tally->refused = true;
        return;
    }
    count = flowtest_judge(test, &run, &differences);
    *(count ? &tally->failed : &tally->passed) += 1;
    print_verdict(tally, file, t, count == 0, &run);
    if (count)
        fwrite(differences.data, 1, differences.len, stdout);
}

static void run_file(struct tally *tally, const char *path)
{
    scoped(test_file) struct test_file file = {0};
    scoped(manifests) struct manifests set = {0};
    scoped(flow_view) struct flow_view *view = NULL;
    const struct manifest *flow;
    struct error err = {0};

    tally->refused = true;
    if (!test_file_load(&file, path) || !load_manifests(&file, &set))
        return;
    flow = find_flow(&file, &set);
    if (!flow || !check_first(&file, &set, flow))
        return;
    view = flow_view_from_document(flow->doc, &err);
    if (!view || !flowtest_check(&file, view, &set))
        return;
    tally->refused = false;
    for (size_t t = 0; t < file.cases.count; t++)
        run_test(tally, &file, t, &set, flow);
}

static int is_test_name(const struct dirent *entry)
{
    static const char *const ends[] = {".test.yaml", ".test.yml", ".test.json"};
    size_t len = strlen(entry->d_name);

    for (size_t i = 0; i < countof(ends); i++)
        if (len > strlen(ends[i]) && strcmp(entry->d_name + len - strlen(ends[i]), ends[i]) == 0)
            return entry->d_name[0] != '.';
    return 0;
}

static bool run_directory(struct tally *tally, const char *name)
{
    struct dirent **entries = NULL;
    int n = scandir(name, &entries, is_test_name, alphasort);
    bool refused = n <= 0;

    if (n <= 0)
        cli_errorf("%s: no *.test.yaml in this directory", name);
    for (int i = 0; i < n; i++) {
        size_t len = strlen(name);
        scoped_str path =
            mem_printf("%s%s%s", name, len && name[len - 1] == '/' ? "" : "/", entries[i]->d_name);

        run_file(tally, path);
        refused = refused || tally->refused;
        free(entries[i]);
    }
    free(entries);
    return !refused;
}

static int run(const void *options, int n_operands, char **operands)
{
    struct tally tally = {.options = options};
    bool refused = false;

    term_look(&tally.term, stdout);
    for (int i = 0; i < n_operands; i++) {
        struct stat info;

        if (stat(operands[i], &info) == 0 && S_ISDIR(info.st_mode)) {
            refused |= !run_directory(&tally, operands[i]);
            continue;
        }
        run_file(&tally, operands[i]);
        refused |= tally.refused;
    }
    printf("%zu passed, %zu failed\n", tally.passed, tally.failed);
    if (!refused && !tally.run) {
        cli_errorf("no test has \"%s\" in its name", tally.options->filter);
        refused = true;
    }
    if (refused)
        return EXIT_REFUSED;
    return tally.failed ? EXIT_FAILED : EXIT_OK;
}

const struct command cmd_test = {
    .name = "test",
    .operands = "FILE…",
    .summary = "Test flows: say what their steps do, and what must come of it",
    .details =
        "A FILE of tests names manifests, says for each test what the jobs of the steps do (how "
        "long they take, how they end, what\n"
        "they put out) and what is expected: phases, order, times, skipped steps, the jobs that "
        "are made. Nothing is executed: the\n"
        "real controllers run on a virtual clock. Of a directory every *.test.yaml is run. See "
        "docs/testing.md for the format.\n\n"
        "Exit codes: 0 all passed; 1 a test failed; 2 a file was refused.",
    .examples = "  jobflow test pipeline.test.yaml\n"
                "  jobflow test tests/ --filter retry",
    .flags = flags,
    .options_size = sizeof(struct test_options),
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "file",
    .run = run,
};
