/*
 * The command `jobflow init`: writes a small flow that runs as it is, and a test of it.
 *
 * No file is written when one of them exists already.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/file/editor_schema.h"

#define FLOW_FILE "pipeline.yaml"
#define TEST_FILE "pipeline.test.yaml"

static const char modeline[] = "# yaml-language-server: $schema=./" EDITOR_SCHEMA_FILE "\n";

static const char flow_text[] =
    "# A pipeline of four steps. Lines that begin with # are comments.\n"
    "apiVersion: flow.volcano.sh/v1alpha1\n"
    "kind: JobFlow\n"
    "metadata: {name: pipeline}\n"
    "spec:\n"
    "  parameters:\n"
    "  - {name: rows, default: \"1000\"}       # jobflow run pipeline.yaml -p rows=50\n"
    "  flows:\n"
    "  - name: fetch\n"
    "    run: seq \"$ROWS\" > numbers.txt      # a shell script; its first failing line ends the "
    "step\n"
    "    env: [{name: ROWS, value: $(params.rows)}]  # how a value reaches a script\n"
    "  - name: count\n"
    "    run: echo \"rows=$(wc -l < numbers.txt)\" > /dev/termination-log  # an output named rows\n"
    "    dependsOn: {targets: [fetch]}       # runs when fetch has succeeded\n"
    "    retry: {maxRetry: 2}                # tried again twice when it fails\n"
    "  - name: sample                        # runs only for many rows\n"
    "    run: shuf -n 5 numbers.txt\n"
    "    dependsOn: {targets: [count]}\n"
    "    if: {terms: [{target: count, output: {key: rows, operator: Gt, values: [\"99\"]}}]}\n"
    "  - name: report\n"
    "    run: echo \"$ROWS rows\" | tee report.txt\n"
    "    env: [{name: ROWS, value: $(steps.count.outputs.rows)}]\n"
    "    dependsOn: {targets: [count]}\n";

static const char test_text[] =
    "# Tests of the decisions of the pipeline. No step runs: each test says what the steps do.\n"
    "manifests: [" FLOW_FILE "]\n"
    "tests:\n"
    "- name: many rows are sampled\n"
    "  steps: {count: {outputs: {rows: \"1000\"}}}\n"
    "  expect: {phase: Succeed, order: [fetch, count, sample]}\n"
    "- name: few rows are not\n"
    "  steps: {count: {outputs: {rows: \"50\"}}}\n"
    "  expect: {phase: Succeed, skipped: [sample]}\n"
    "- name: nothing is reported when fetching fails\n"
    "  steps: {fetch: {exitCode: 1}}\n"
    "  expect: {phase: Failed, notRun: [count, sample, report]}\n";

struct init_options {
    bool force, schema;
};

/* A file that init writes. `text` is its content; NULL: the JSON Schema for editors. */
struct file {
    const char *name, *text;
};

static const struct file files[] = {
    {FLOW_FILE, flow_text}, {TEST_FILE, test_text}, {EDITOR_SCHEMA_FILE, NULL}};

static bool exists(const char *path)
{
    return access(path, F_OK) == 0 || errno != ENOENT;
}

/* Whether nothing stands in the way of the files; tells what does. */
static bool is_free(const char *dir, size_t count)
{
    bool free_to_write = true;

    for (size_t i = 0; i < count; i++) {
        scoped_str path = mem_printf("%s%s", dir, files[i].name);

        if (!exists(path))
            continue;
        cli_errorf("%s exists: --force replaces it", path);
        free_to_write = false;
    }
    return free_to_write;
}

static bool write_file(const struct file *file, const char *path, bool named, struct error *err)
{
    scoped_str text = NULL;

    if (!file->text)
        return editor_schema_write(path, err);
    text = mem_printf("%s%s", named ? modeline : "", file->text);
    return file_write_atomic(path, text, strlen(text), 0644, err);
}

static int run_init(const void *options, int n_operands, char **operands)
{
    const struct init_options *given = options;
    const size_t count = given->schema ? countof(files) : countof(files) - 1;
    scoped_str dir = n_operands ? mem_printf("%s/", operands[0]) : mem_strdup("");
    struct error err = {0};

    if (n_operands && !file_mkdirs(operands[0], 0755, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    if (!given->force && !is_free(dir, count))
        return EXIT_REFUSED;
    for (size_t i = 0; i < count; i++) {
        scoped_str path = mem_printf("%s%s", dir, files[i].name);

        if (!write_file(&files[i], path, given->schema, &err)) {
            cli_error(&err);
            return EXIT_REFUSED;
        }
    }
    printf("wrote %s%s%s%s%s%s\n", dir, FLOW_FILE, given->schema ? ", " : " and ", TEST_FILE,
           given->schema ? " and " : "", given->schema ? EDITOR_SCHEMA_FILE : "");
    printf("  jobflow run %s%s          runs it\n", dir, FLOW_FILE);
    printf("  jobflow test %s%s    tests it\n", dir, TEST_FILE);
    return EXIT_OK;
}

#define INIT(member) offsetof(struct init_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_BOOL, "force",  'f', NULL, "replace files that exist", INIT(force)},
    {FLAG_BOOL, "schema", 0,   NULL, "write " EDITOR_SCHEMA_FILE " too, and name it in the files, so that editors complete them", INIT(schema)},
    {0},
};
/* clang-format on */

const struct command cmd_init = {
    .name = "init",
    .operands = "[DIR]",
    .summary = "Write a small flow to start from",
    .details =
        "Writes " FLOW_FILE ", a commented flow of four steps that runs as it is, and " TEST_FILE
        ", which tests its decisions. Without DIR they are written here.",
    .examples = "jobflow init first          # makes the directory\n"
                "jobflow init --schema       # with completion in editors\n",
    .flags = flags,
    .options_size = sizeof(struct init_options),
    .max_operands = 1,
    .operand_kind = "file",
    .run = run_init,
};
