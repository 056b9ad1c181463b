/*
 * The command `jobflow apply`: merges each object of the files over the stored object.
 *
 * Members that the file does not mention keep their stored value. An object that would not change
 * is not written.
 */
#include <string.h>

#include "base/mem.h"
#include "cli/client/client.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/object/vcctl.h"
#include "cli/manifest/manifests.h"
#include "cli/manifest/parameters.h"
#include "cli/preflight/preflight.h"

#define APPLY(member) offsetof(struct apply_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_LIST, "filename",  'f', "FILE", "what to apply (a directory, - for standard input)", APPLY(files)},
    PARAMETER_FLAG(APPLY(parameters)),
    {FLAG_BOOL, "dry-run",   0,   NULL,   "check and say what would be done, but change nothing", APPLY(dry_run)},
    {FLAG_STR,  "namespace", 'n', "NAME", "namespace of objects that name none; default: that of the kubeconfig, or default", APPLY(namespace)},
    CLIENT_ENDPOINT_FLAGS(APPLY(endpoint)),
    {0},
};
/* clang-format on */

static const struct apply_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL};

struct apply {
    const struct apply_options *options;
    struct client *client;
    bool failed;
};

/* Prints each cause of the API's refusal with its line in the file. */
static void print_findings(const struct manifest *manifest, const struct client_call *call)
{
    struct error_list errors = {0};

    client_findings(call, &errors);
    for (size_t i = 0; i < errors.count; i++)
        manifest_print(manifest, "error", &errors.items[i]);
    error_list_release(&errors);
}

static void print_done(const struct apply *apply, const struct manifest *manifest, const char *name,
                       const char *what)
{
    scoped(buf) struct buf text = {0};

    resource_write_name(manifest->kind, name, &text);
    printf("%s %s%s\n", text.data, what, apply->options->dry_run ? " (dry run)" : "");
    fflush(stdout);
}

/* Sends one write and returns whether it succeeded; `call` holds the answer. */
static bool send_object(struct apply *apply, const struct manifest *manifest, struct buf *target,
                        struct client_call *call, struct error *err)
{
    scoped(buf) struct buf body = {0};

    resource_write_query("dryRun", apply->options->dry_run ? "All" : NULL, target);
    json_text(manifest->doc, &body);
    call->target = target->data;
    call->body = body.data;
    call->body_len = body.len;
    return client_do(apply->client, call, err);
}

/* Sends one write. Returns the owned answer, or NULL when the write was refused, after printing
 * why. */
static json_t *write_object(struct apply *apply, const struct manifest *manifest,
                            const char *method, const char *path, const char *content_type)
{
    scoped(buf) struct buf target = {0};
    scoped(client_call) struct client_call call = {.method = method, .content_type = content_type};

    buf_str(&target, path);
    resource_write_query("fieldManager", "jobflow-apply", &target);
    resource_write_query("fieldValidation", "Strict", &target);
    if (send_object(apply, manifest, &target, &call, NULL))
        return json_loadb(call.text.data, call.text.len, 0, NULL);
    print_findings(manifest, &call);
    apply->failed = true;
    return NULL;
}

/* Creates the object of a manifest as `vcctl` does: it prints what vcctl prints, and an object that
 * exists is an error. */
static bool create(struct apply *apply, const struct manifest *manifest, const char *ns,
                   const char *name)
{
    scoped(buf) struct buf target = {0};
    scoped(client_call) struct client_call call = {.method = "POST",
                                                   .content_type = "application/json"};
    struct error err = {0};
    bool done;

    resource_write_path(manifest->kind, ns, NULL, &target);
    done = send_object(apply, manifest, &target, &call, &err);
    return vcctl_print_change(apply->options->vcctl, ns, name, done ? NULL : &err);
}

static void apply_new(struct apply *apply, const struct manifest *manifest, const char *ns)
{
    scoped(buf) struct buf path = {0};
    scoped(json) json_t *made = NULL;
    const char *name;

    resource_write_path(manifest->kind, ns, NULL, &path);
    made = write_object(apply, manifest, "POST", path.data, "application/json");
    name = json_string_value(json_object_get(json_object_get(made, "metadata"), "name"));
    if (made)
        print_done(apply, manifest, name ? name : "", "created");
}

static void apply_over(struct apply *apply, const struct manifest *manifest, const char *path,
                       const json_t *stored, const char *name)
{
    scoped(json) json_t *result = NULL;

    json_object_del(manifest->doc, "status");
    result = write_object(apply, manifest, "PATCH", path, "application/merge-patch+json");
    if (result)
        print_done(apply, manifest, name, json_equal(result, stored) ? "unchanged" : "configured");
}

static void apply_one(struct apply *apply, const struct manifest *manifest)
{
    json_t *metadata = json_object_get(manifest->doc, "metadata");
    const char *name = json_string_value(json_object_get(metadata, "name"));
    const char *ns = json_string_value(json_object_get(metadata, "namespace"));
    scoped(buf) struct buf path = {0};
    scoped(json) json_t *stored = NULL;
    struct error err = {0};

    if (manifest->kind->namespaced && !ns)
        ns = client_namespace(apply->client, apply->options->namespace);
    if (apply->options->vcctl) {
        if (!vcctl_accepts(apply->options->vcctl, manifest) || !create(apply, manifest, ns, name))
            apply->failed = true;
        return;
    }
    if (!name) {
        apply_new(apply, manifest, ns);
        return;
    }
    resource_write_path(manifest->kind, ns, name, &path);
    stored = client_get(apply->client, path.data, &err);
    if (stored) {
        apply_over(apply, manifest, path.data, stored, name);
    } else if (err.code == ERR_NOT_FOUND) {
        apply_new(apply, manifest, ns);
    } else {
        manifest_print(manifest, "error", &err);
        apply->failed = true;
    }
}

/* Operands count as files too, because the shell expands "-f *.yaml" so that -f gets only the first
 * one. */
static bool load(const struct apply_options *options, int n_operands, char **operands,
                 struct manifests *set)
{
    size_t n = options->files.count;
    char **files = mem_array(n + (size_t)n_operands, sizeof *files);
    bool loaded;

    for (size_t i = 0; i < n + (size_t)n_operands; i++)
        files[i] = i < n ? (char *)(size_t)options->files.items[i] : operands[i - n];
    loaded = manifests_load(set, (int)n + n_operands, files);
    mem_free(files);
    return loaded && parameters_set(set, &options->parameters);
}

static int run(const void *options, int n_operands, char **operands)
{
    struct apply apply = {.options = options};
    scoped(manifests) struct manifests set = {0};
    int code = EXIT_OK;
    size_t *order;

    if (apply.options->files.count == 0 && n_operands == 0) {
        cli_errorf("must specify -f FILE");
        return EXIT_REFUSED;
    }
    if (!load(apply.options, n_operands, operands, &set))
        return EXIT_REFUSED;
    apply.client = client_open_or_say(&apply.options->endpoint, CLIENT_CHANGE, &code);
    if (!apply.client)
        return code;
    order = preflight_order(&set); /* objects that others depend on come first */
    for (size_t i = 0; i < set.count; i++)
        apply_one(&apply, &set.items[order[i]]);
    mem_free(order);
    client_close(apply.client);
    return apply.failed ? EXIT_REFUSED : EXIT_OK;
}

const struct command cmd_apply = {
    .name = "apply",
    .operands = "-f FILE…",
    .summary = "Create or change the objects of manifest files",
    .details =
        "A run in progress starts the new objects at once. When no process runs in the directory,"
        "\nthe objects wait there for the next run.",
    .examples = "  jobflow apply -f pipeline.yaml\n"
                "  cat pipeline.yaml | jobflow apply -f -",
    .flags = flags,
    .options_size = sizeof(struct apply_options),
    .defaults = &defaults,
    .max_operands = -1,
    .operand_kind = "file",
    .run = run,
};
