/*
 * The command `jobflow manifests`: prints what a cluster needs for `jobflow controller`, or writes it
 * as files for kustomize or as a Helm chart. Ref: spec/cluster.md 6.1, 6.5.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/text/json_text.h"
#include "api/types/text/yaml.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/version.h"
#include "cli/cmd/commands.h"
#include "cli/command/flag_values.h"
#include "cli/controller/gang.h"
#include "cli/controller/install.h"
#include "cli/controller/names.h"

enum { NAME_MAX_BYTES = 40, MINOR_DEFAULT = 30, MINOR_LEAST = 20, MINOR_MOST = 99 };
enum { FILE_MODE = 0644, DIRECTORY_MODE = 0755 };

struct manifests_options {
    const char *mode, *gang, *namespaces, *name, *namespace;
    const char *image, *pull_policy, *pull_secret;
    int64_t replicas;
    const char *only, *skip;
    const char *kube_version;
    const char *monitoring;
    struct flag_list args;
    bool own_job_crd;
    const char *output;
};

static const char *const modes[] = {"flows", "jobs", "kube", NULL};
static const char *const policies[] = {"Always", "IfNotPresent", "Never", NULL};
static const char *const monitorings[] = {"none", "annotations", NULL};
static const char *const outputs[] = {"yaml", "json", "kustomize", "helm", NULL};

static bool check_parts(const char *text, struct error *err);
static bool check_name(const char *text, struct error *err);
static bool check_kube_version(const char *text, struct error *err);
static bool check_arg(const char *text, struct error *err);
static bool check_utf8(const char *text, struct error *err);

#define MANIFESTS(member) offsetof(struct manifests_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_CHOICE, "mode",        0,   "MODE", "mode of the controller; default: flows", MANIFESTS(mode), modes},
    {FLAG_CHOICE, "gang",        0,   "HOW",  "what makes the pods of a job start together, with --mode=kube; default: none", MANIFESTS(gang), gang_names},
    {FLAG_STR,    "namespaces",  0,   "LIST", "namespaces in which the controller acts, separated by commas; it gets rights in these alone; default: all", MANIFESTS(namespaces), .check = names_check_namespaces},
    {FLAG_STR,    "namespace",   'n', "NAME", "namespace of the controller; default: jobflow-system", MANIFESTS(namespace), .check = check_name},
    {FLAG_STR,    "name",        0,   "NAME", "begins the names of all objects but the definitions; default: jobflow", MANIFESTS(name), .check = check_name},
    {FLAG_STR,    "image",       0,   "IMAGE", "image of the controller; default: jobflow:VERSION", MANIFESTS(image), .check = check_utf8},
    {FLAG_CHOICE, "image-pull-policy", 0, "POLICY", "when the image is pulled; default: IfNotPresent", MANIFESTS(pull_policy), policies},
    {FLAG_STR,    "image-pull-secret", 0, "NAME", "Secret with the credentials of the image's registry", MANIFESTS(pull_secret), .check = check_utf8},
    {FLAG_INT,    "replicas",    0,   "N",    "pods of the controller, of which one leads; default: 2", MANIFESTS(replicas), .min = 1, .max = 100},
    {FLAG_LIST,   "arg",         0,   "FLAG", "a further flag of the controller, such as --arg=--max-inflight=128", MANIFESTS(args), .check = check_arg},
    {FLAG_CHOICE, "monitoring",  0,   "HOW",  "how Prometheus finds the metrics; default: annotations", MANIFESTS(monitoring), monitorings},
    {FLAG_STR,    "kube-version", 0,  "1.N",  "version of the cluster's Kubernetes; default: 1.30", MANIFESTS(kube_version), .check = check_kube_version},
    {FLAG_STR,    "only",        0,   "LIST", "only these parts, separated by commas: namespace, crds, rbac, flowschema, service, deployment, pdb, networkpolicy", MANIFESTS(only), .check = check_parts},
    {FLAG_STR,    "skip",        0,   "LIST", "all parts but these", MANIFESTS(skip), .check = check_parts},
    {FLAG_BOOL,   "own-job-crd", 0,   NULL,   "also the definitions of Jobs and Commands, which mode kube always has", MANIFESTS(own_job_crd)},
    {FLAG_CHOICE, "output",      'o', "FORM", "yaml, json, or files in DIR: kustomize, helm (a chart); default: yaml", MANIFESTS(output), outputs},
    {0},
};
/* clang-format on */

static const struct manifests_options defaults = {
    .mode = "flows",
    .gang = "none",
    .name = "jobflow",
    .namespace = "jobflow-system",
    .image = "jobflow:" JOBFLOW_VERSION,
    .pull_policy = "IfNotPresent",
    .replicas = 2,
    .kube_version = "1.30",
    .monitoring = "annotations",
    .output = "yaml",
};

/* Whether a list separated by commas has this name. */
static bool names(const char *list, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = list;; at++) {
        size_t entry = strcspn(at, ",");

        if (entry == len && strncmp(at, name, len) == 0)
            return true;
        at += entry;
        if (!*at)
            return false;
    }
}

static bool is_part(const char *name, size_t len)
{
    for (size_t i = 0; i < INSTALL_PARTS; i++)
        if (strlen(install_parts[i].name) == len && strncmp(install_parts[i].name, name, len) == 0)
            return true;
    return false;
}

static bool check_parts(const char *text, struct error *err)
{
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");

        if (!is_part(at, len))
            return error_set(err, ERR_INVALID, "",
                             "\"%.*s\" is no part: the parts are namespace, crds, rbac, "
                             "flowschema, service, deployment, pdb and networkpolicy",
                             (int)len, at);
        at += len;
        if (!*at)
            return true;
    }
}

static bool check_name(const char *text, struct error *err)
{
    size_t len = strlen(text);
    bool ok = len > 0 && len <= NAME_MAX_BYTES && text[0] >= 'a' && text[0] <= 'z' &&
              strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len && text[len - 1] != '-';

    return ok || error_set(err, ERR_INVALID, "",
                           "\"%s\" is no name: it must have at most %d lower-case letters, digits "
                           "and dashes, begin with a letter and not end with a dash",
                           text, NAME_MAX_BYTES);
}

/* Returns the minor version of "1.N"; -1 for another text. */
static long minor_of(const char *text)
{
    char *end;
    long minor = strncmp(text, "1.", 2) == 0 ? strtol(text + 2, &end, 10) : -1;

    return minor >= MINOR_LEAST && minor <= MINOR_MOST && *end == '\0' ? minor : -1;
}

static bool check_kube_version(const char *text, struct error *err)
{
    return minor_of(text) >= 0 ||
           error_set(err, ERR_INVALID, "", "\"%s\" is no version: it must be 1.%d to 1.%d", text,
                     MINOR_LEAST, MINOR_MOST);
}

/* The texts become JSON and YAML, which hold only UTF-8. */
static bool check_utf8(const char *text, struct error *err)
{
    scoped(json) json_t *value = json_string(text);

    return value || error_set(err, ERR_INVALID, "", "the text is not UTF-8");
}

/* Stores the flag as the controller would, so that its own checks apply. */
static bool check_arg(const char *text, struct error *err)
{
    const char *equals = strchr(text, '=');
    scoped_str name = equals ? mem_printf("%.*s", (int)(equals - text), text) : mem_strdup(text);
    const struct flag *flag =
        strncmp(name, "--", 2) == 0 ? flag_named(cmd_controller.flags, name + 2) : NULL;
    bool ok = flag && (equals || flag->type == FLAG_BOOL);
    void *scratch;

    if (!check_utf8(text, err))
        return false;
    if (!ok)
        return error_set(err, ERR_INVALID, "",
                         flag ? "%s needs a value: --arg=%s=VALUE"
                              : "'jobflow controller' has no flag %s",
                         name, name);
    scratch = mem_alloc(cmd_controller.options_size);
    ok = flag_store(flag, equals ? equals + 1 : NULL, scratch, err);
    mem_free(scratch);
    return ok;
}

static bool is_wanted(const struct manifests_options *options, const char *part)
{
    return (!options->only || names(options->only, part)) &&
           (!options->skip || !names(options->skip, part));
}

static struct install_options install_of(const struct manifests_options *options)
{
    return (struct install_options){
        .mode = mode_find(options->mode),
        .gang = options->gang,
        .namespaces = options->namespaces,
        .name = options->name,
        .namespace = options->namespace,
        .image = options->image,
        .pull_policy = options->pull_policy,
        .pull_secret = options->pull_secret,
        .replicas = options->replicas,
        .minor = (int)minor_of(options->kube_version),
        .args = options->args.items,
        .n_args = options->args.count,
        .own_job_crd = options->own_job_crd,
        .monitoring = strcmp(options->monitoring, "none") != 0,
    };
}

/* Appends documents in their usual layout: as YAML, or one line of JSON for each. */
static bool write_documents(const struct buf *text, bool as_json, struct buf *out,
                            struct error *err)
{
    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(text->data ? text->data : "", text->len, &yaml_limits_default, err);

    for (size_t i = 0; stream && i < yaml_count(stream); i++) {
        if (as_json) {
            json_text(yaml_document(stream, i), out);
            buf_char(out, '\n');
        } else {
            buf_str(out, out->len ? "---\n" : "");
            yaml_write(yaml_document(stream, i), out);
        }
    }
    return stream != NULL;
}

static bool write_part(const struct manifests_options *options, const struct install_part *part,
                       bool as_json, struct buf *out, struct error *err)
{
    const struct install_options install = install_of(options);
    scoped(buf) struct buf text = {0};

    if (!is_wanted(options, part->name))
        return true;
    install_write_part(&install, part, INSTALL_PLAIN, &text);
    return write_documents(&text, as_json, out, err);
}

static bool print(const struct manifests_options *options, struct error *err)
{
    scoped(buf) struct buf out = {0};
    bool as_json = strcmp(options->output, "json") == 0;

    for (size_t i = 0; i < INSTALL_PARTS; i++)
        if (!write_part(options, &install_parts[i], as_json, &out, err))
            return false;
    if (out.len) /* the parts may mean nothing to the cluster's version */
        fwrite(out.data, 1, out.len, stdout);
    return true;
}

static bool write_file(const char *directory, const char *name, const struct buf *text,
                       struct error *err)
{
    scoped_str path = mem_printf("%s/%s", directory, name);
    char *slash = strrchr(path, '/');
    bool ok;

    *slash = '\0';
    ok = file_mkdirs(path, DIRECTORY_MODE, err);
    *slash = '/';
    return ok && file_write_changed(path, text->data ? text->data : "", text->len, FILE_MODE, err);
}

/* One file for each part, and the list of them that kustomize reads. */
static bool write_kustomize(const struct manifests_options *options, const char *directory,
                            struct error *err)
{
    scoped(buf) struct buf list = {0};

    buf_str(&list,
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n");
    for (size_t i = 0; i < INSTALL_PARTS; i++) {
        scoped(buf) struct buf text = {0};
        scoped_str name = mem_printf("%s.yaml", install_parts[i].name);

        if (!write_part(options, &install_parts[i], false, &text, err))
            return false;
        if (!text.len)
            continue;
        buf_printf(&list, "- %s\n", name);
        if (!write_file(directory, name, &text, err))
            return false;
    }
    return write_file(directory, "kustomization.yaml", &list, err);
}

static bool write_chart_part(const struct manifests_options *options,
                             const struct install_part *part, const char *directory,
                             struct error *err)
{
    const struct install_options install = install_of(options);
    bool is_crds = strcmp(part->name, "crds") == 0;
    scoped_str name = mem_printf("%s/%s.yaml", is_crds ? "crds" : "templates", part->name);
    scoped(buf) struct buf text = {0};

    if (strcmp(part->name, "namespace") == 0 || !is_wanted(options, part->name))
        return true; /* Helm makes the namespace */
    install_write_part(&install, part, INSTALL_CHART, &text);
    return !text.len || write_file(directory, name, &text, err);
}

static bool write_chart(const struct manifests_options *options, const char *directory,
                        struct error *err)
{
    static const char notes[] =
        "The controller runs in namespace {{ .Release.Namespace }}. Helm installs the definitions "
        "of JobFlows once\n"
        "and never changes them. After an upgrade, bring them up to date:\n\n"
        "  kubectl apply --server-side --force-conflicts -f crds/\n";
    const struct install_options install = install_of(options);
    scoped(buf) struct buf chart = {0}, values = {0}, text = {0};

    install_write_chart(&install, &chart);
    install_write_values(&install, &values);
    buf_str(&text, notes);
    if (!write_file(directory, "Chart.yaml", &chart, err) ||
        !write_file(directory, "values.yaml", &values, err) ||
        !write_file(directory, "templates/NOTES.txt", &text, err))
        return false;
    for (size_t i = 0; i < INSTALL_PARTS; i++)
        if (!write_chart_part(options, &install_parts[i], directory, err))
            return false;
    return true;
}

static int run(const void *given, int n_operands, char **operands)
{
    const struct manifests_options *options = given;
    bool is_chart = strcmp(options->output, "helm") == 0;
    bool in_files = is_chart || strcmp(options->output, "kustomize") == 0;
    struct error err = {0};
    bool ok;

    if (strcmp(options->gang, "none") != 0 && strcmp(options->mode, "kube") != 0) {
        cli_errorf("--gang needs --mode=kube: in mode %s Volcano's scheduler places gangs",
                   options->mode);
        return EXIT_REFUSED;
    }
    if (in_files != (n_operands == 1)) {
        cli_errorf(in_files ? "-o %s needs the directory in which the files are written"
                            : "-o %s takes no directory: it prints the documents",
                   options->output);
        return EXIT_REFUSED;
    }
    ok = is_chart   ? write_chart(options, operands[0], &err)
         : in_files ? write_kustomize(options, operands[0], &err)
                    : print(options, &err);
    if (!ok)
        cli_error(&err);
    return ok ? EXIT_OK : EXIT_FAILED;
}

const struct command cmd_manifests = {
    .name = "manifests",
    .operands = "[DIR]",
    .summary = "Print what a Kubernetes cluster needs for 'jobflow controller'",
    .details =
        "Prints the namespace, the definitions of JobFlows and JobTemplates, a service account "
        "with "
        "the rights of the controller, and the controller's Deployment.\n"
        "With -o kustomize or -o helm the same is written as files into DIR. No cluster is asked.",
    .examples = "  jobflow manifests | kubectl apply --server-side -f -\n"
                "  jobflow manifests --only=crds -o json\n"
                "  jobflow manifests --mode=kube --image=registry.example/jobflow:1 -o helm chart",
    .flags = flags,
    .options_size = sizeof(struct manifests_options),
    .defaults = &defaults,
    .max_operands = 1,
    .run = run,
};
