/*
 * The command `jobflow convert`: converts Jobs to JobTemplates and JobTemplates to Jobs, from files
 * or from the store, files to what Volcano understands, and steps with scripts to templates.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "api/types/labels.h"
#include "api/types/schema/schema.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/client/client.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/file/convert_expand.h"
#include "cli/cmd/file/convert_upstream.h"
#include "cli/engine/convert.h"
#include "cli/inspect/describe.h"
#include "cli/manifest/manifests.h"
#include "cli/manifest/parameters.h"
#include "cli/target/target.h"

enum { PATCH_BYTES_MAX = 4 << 20 };

struct convert_options {
    struct client_endpoint endpoint;
    const char *namespace, *name, *patch, *output, *target;
    struct flag_list parameters;
    bool upstream, expand;
};

static const char *const outputs[] = {"yaml", "json", NULL};

#define CONVERT(member) offsetof(struct convert_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR,    "name",      'N', "NAME", "name of what is made; default: that of what it is made from", CONVERT(name)},
    {FLAG_STR,    "patch",     0,   "FILE", "merge this into the spec of the job, as the patch of a step", CONVERT(patch)},
    {FLAG_BOOL,   "upstream",  0,   NULL,   "write the files out as Volcano understands them: one template a step, with the patch applied", CONVERT(upstream)},
    {FLAG_BOOL,   "expand",    0,   NULL,   "write the files out with a JobTemplate for each run and jobTemplate of a step", CONVERT(expand)},
    {FLAG_CHOICE, "target",    0,   "TARGET", "with --upstream: the version of Volcano; default: " TARGET_DEFAULT, CONVERT(target), target_volcano_choices},
    PARAMETER_FLAG(CONVERT(parameters)),
    {FLAG_CHOICE, "output",    'o', "FORM", "form of the result; default: yaml", CONVERT(output), outputs},
    {FLAG_STR,    "namespace", 'n', "NAME", "namespace of objects that name none; default: that of the kubeconfig, or default", CONVERT(namespace)},
    CLIENT_ENDPOINT_FLAGS(CONVERT(endpoint)),
    {0},
};
/* clang-format on */

static const struct convert_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL,
                                                .output = "yaml"};

struct conversion {
    const struct convert_options *options;
    json_t *patch; /* patch of the step, owned, or NULL */
    json_t *made;  /* converted objects; owned list */
};

static bool load_patch(struct conversion *c)
{
    const char *path = c->options->patch;
    scoped(buf) struct buf text = {0};
    scoped(yaml) struct yaml_stream *stream = NULL;
    struct error err = {0};
    const json_t *doc;
    int fd;
    bool ok;

    if (!path)
        return true;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    ok = fd >= 0 ? file_read_stream(fd, path, PATCH_BYTES_MAX, &text, &err)
                 : error_errno(&err, errno, "%s", path);
    if (fd >= 0)
        close(fd);
    if (!ok) {
        cli_errorf("%s", err.message);
        return false;
    }
    stream = yaml_parse(text.data ? text.data : "", text.len, &yaml_limits_body, &err);
    doc = stream && yaml_count(stream) ? yaml_document(stream, 0) : NULL;
    if (!json_is_object(doc)) {
        cli_errorf("%s: %s", path, err.code ? err.message : "a patch is an object like spec");
        return false;
    }
    c->patch = json_deep_copy(json_object_get(doc, "spec") ? json_object_get(doc, "spec") : doc);
    return true;
}

static bool convert(struct conversion *c, const struct kind *kind, const json_t *doc,
                    struct error *err)
{
    json_t *made;

    if (kind == &kind_job && c->patch)
        return error_set(err, ERR_BAD_REQUEST, "", "--patch is for what becomes a Job");
    made = kind == &kind_job
               ? convert_to_template(doc, c->options->name)
               : convert_to_job(doc, c->options->name,
                                client_namespace(NULL, c->options->namespace), c->patch, err);
    if (!made)
        return false;
    json_array_append_new(c->made, made);
    return true;
}

/* Prints validation errors of the input as warnings: they are converted unchanged. */
static void warn_of_mistakes(const struct manifest *manifest)
{
    const struct schema_options how = {.unknown = UNKNOWN_ERROR};
    scoped(json) json_t *members = json_deep_copy(manifest->doc);
    struct error_list errors = {0};

    json_object_del(members, "apiVersion");
    json_object_del(members, "kind");
    json_object_del(members, "metadata");
    schema_check(manifest->kind->schema, members, "", &how, &errors);
    for (size_t i = 0; i < errors.count; i++)
        manifest_print(manifest, "warning", &errors.items[i]);
    error_list_release(&errors);
}

static int convert_files(struct conversion *c, int n, char **files)
{
    scoped(manifests) struct manifests set = {0};
    size_t left_out = 0;

    if (!manifests_load(&set, n, files))
        return EXIT_REFUSED;
    for (size_t i = 0; i < set.count; i++) {
        struct error err = {0};

        if (set.items[i].kind != &kind_job && set.items[i].kind != &kind_job_template) {
            left_out++;
        } else if (!convert(c, set.items[i].kind, set.items[i].doc, &err)) {
            manifest_print(&set.items[i], "error", &err);
            return EXIT_REFUSED;
        } else {
            warn_of_mistakes(&set.items[i]);
        }
    }
    if (json_array_size(c->made) == 0) {
        cli_errorf("the files define no Job and no JobTemplate");
        return EXIT_REFUSED;
    }
    if (left_out)
        cli_warnf("%zu object%s that are neither Job nor JobTemplate left out", left_out,
                  left_out == 1 ? "" : "s");
    return EXIT_OK;
}

/* Lets the server convert a stored job (subresource `template`), because only the server knows the
 * template that the job was created from. Owned; NULL when the server cannot convert. */
static json_t *template_of(struct conversion *c, struct client *client, const char *job_path)
{
    scoped_str path = mem_printf("%s/template", job_path);
    json_t *made = client_get(client, path, NULL);

    if (made && c->options->name)
        json_object_set_new(json_object_get(made, "metadata"), "name",
                            json_string(c->options->name));
    return made;
}

static bool convert_one(struct conversion *c, struct client *client, const struct resource *one,
                        struct error *err)
{
    scoped(buf) struct buf path = {0};
    scoped(json) json_t *doc = NULL;
    json_t *made;

    resource_write_path(one->kind, client_namespace(client, c->options->namespace), one->name,
                        &path);
    doc = client_get(client, path.data, err);
    if (!doc)
        return false;
    made = one->kind == &kind_job && !c->patch ? template_of(c, client, path.data) : NULL;
    if (made)
        return json_array_append_new(c->made, made) == 0;
    return convert(c, one->kind, doc, err);
}

static int convert_stored(struct conversion *c, int n, char **words)
{
    scoped(client) struct client *client = NULL;
    struct error err = {0};

    for (int i = 0; i < n; i++) {
        struct resource one;

        if (!resource_parse(words[i], &one, &err) ||
            (one.kind != &kind_job && one.kind != &kind_job_template)) {
            cli_errorf("%s",
                       err.code ? err.message : "name jobs and templates, as job/NAME and jt/NAME");
            return EXIT_REFUSED;
        }
        if (!client)
            client = client_open_at(&c->options->endpoint, CLIENT_LOOK, &err);
        if (!client || !convert_one(c, client, &one, &err)) {
            cli_error(&err);
            return client ? EXIT_FAILED : client_open_failed(&err);
        }
    }
    return EXIT_OK;
}

static void print(const struct conversion *c)
{
    size_t i;
    json_t *doc;

    if (strcmp(c->options->output, "json") == 0) {
        scoped(json) json_t *list =
            json_pack("{s:s, s:s, s:O}", "apiVersion", "v1", "kind", "List", "items", c->made);

        json_dumpf(json_array_size(c->made) == 1 ? json_array_get(c->made, 0) : list, stdout,
                   JSON_INDENT(2));
        putchar('\n');
        return;
    }
    json_array_foreach(c->made, i, doc)
    {
        scoped(buf) struct buf text = {0};

        yaml_write(doc, &text);
        printf("%s%s", i ? "---\n" : "", text.data);
    }
}

static int write_upstream(struct conversion *c, int n_operands, char **operands)
{
    const struct convert_upstream_options options = {.target = c->options->target,
                                                     .namespace = c->options->namespace,
                                                     .parameters = c->options->parameters};

    if (c->options->name || c->options->patch) {
        cli_errorf("--upstream writes whole files: --name and --patch are for one object");
        return EXIT_REFUSED;
    }
    return convert_upstream(&options, n_operands, operands, c->made);
}

static int write_expanded(struct conversion *c, int n_operands, char **operands)
{
    const struct convert_expand_options options = {.namespace = c->options->namespace,
                                                   .parameters = c->options->parameters};

    if (c->options->name || c->options->patch)
        cli_errorf("--expand writes whole files: --name and --patch are for one object");
    else if (c->options->upstream || c->options->target)
        cli_errorf("--expand keeps what Volcano does not know: --upstream alone writes files for "
                   "Volcano");
    else
        return convert_expand(&options, n_operands, operands, c->made);
    return EXIT_REFUSED;
}

/* Converts single objects. */
static int convert_objects(struct conversion *c, int n_operands, char **operands)
{
    bool stored = strchr(operands[0], '/') && access(operands[0], F_OK) != 0;
    struct error err = {0};

    if (c->options->target || c->options->parameters.count)
        cli_errorf("--target goes with --upstream, --parameter with --upstream or --expand");
    else if (c->options->name && n_operands > 1)
        cli_errorf("--name is for one object");
    else if (c->options->name && !name_is_dns_subdomain(c->options->name, &err))
        cli_errorf("--name: \"%s\": %s", c->options->name, err.message);
    else if (load_patch(c))
        return stored ? convert_stored(c, n_operands, operands)
                      : convert_files(c, n_operands, operands);
    return EXIT_REFUSED;
}

static int run(const void *options, int n_operands, char **operands)
{
    struct conversion c = {.options = options, .made = json_array()};
    int code = c.options->expand     ? write_expanded(&c, n_operands, operands)
               : c.options->upstream ? write_upstream(&c, n_operands, operands)
                                     : convert_objects(&c, n_operands, operands);

    if (code == EXIT_OK && c.options->name && json_array_size(c.made) > 1) {
        cli_errorf("--name is for one object, the file has %zu", json_array_size(c.made));
        code = EXIT_REFUSED;
    }
    if (code == EXIT_OK)
        print(&c);
    json_decref(c.made);
    json_decref(c.patch);
    return code;
}

const struct command cmd_convert = {
    .name = "convert",
    .operands = "FILE… | job/NAME… | jt/NAME… | --upstream FILE… | --expand FILE…",
    .summary = "Make a JobTemplate of a Job, a Job of a JobTemplate, or files written out",
    .details =
        "The spec goes over as it is; status, names of claims the server chose and labels "
        "that say where a job came from do not.\n"
        "There and back again gives the same. The result is printed, not stored.\n\n"
        "With --upstream the flows of the files are written out as Volcano's own controllers "
        "understand them: each step has a template\n"
        "of its name, patches and scheduling are applied, parameters have their values, loops "
        "over known items are steps. What\n"
        "Volcano has no means for is refused by name (exit code 2), and nothing is printed; "
        "'validate --target' checks the same.\n\n"
        "With --expand each step with run or jobTemplate names a JobTemplate FLOW-STEP instead, "
        "which is written in front of the flow.\n"
        "The jobs are the same. References stay; those that stand for a number go to the patch of "
        "the step, because a template has\n"
        "none there. A value of --parameter serves the check of the files and is not written out.",
    .examples = "  jobflow convert job.yaml > template.yaml\n"
                "  jobflow convert job/pipeline-train -N train\n"
                "  jobflow convert jt/train --patch bigger.yaml | jobflow run -\n"
                "  jobflow convert --upstream pipeline.yaml | kubectl apply -f -\n"
                "  jobflow convert --expand pipeline.yaml > templates.yaml",
    .flags = flags,
    .options_size = sizeof(struct convert_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "file",
    .run = run,
};
