/*
 * A chart and plain documents come from the same texts: only the words that stand in their places
 * differ.
 */
#include "cli/controller/install.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/crd_document.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/text/json_text.h"
#include "api/types/text/yaml.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/version.h"
#include "cli/controller/gang.h"
#include "cli/controller/names.h"

/* Minor versions of Kubernetes from which on FlowSchemas have a newer version. */
enum { MINOR_FLOW_SCHEMA_V1 = 29, MINOR_FLOW_SCHEMA_BETA3 = 26 };

/* JSON is YAML: a text in quotes, whatever is in it. */
static void write_quoted(const char *text, struct buf *out)
{
    scoped(json) json_t *value = json_string(text);

    json_text(value, out);
}

static void write_name(const struct install_options *options, struct buf *out)
{
    buf_str(out, options->name);
}

static void write_name_value(const struct install_options *options, struct buf *out)
{
    write_quoted(options->name, out);
}

static void write_namespace_name(const struct install_options *options, struct buf *out)
{
    buf_str(out, options->namespace);
}

static void write_version(const struct install_options *options, struct buf *out)
{
    buf_str(out, JOBFLOW_VERSION);
}

static void write_mode(const struct install_options *options, struct buf *out)
{
    buf_str(out, options->mode->name);
    if (strcmp(options->gang, "none") != 0)
        buf_printf(out, "\n        - --gang=%s", options->gang);
    if (options->namespaces)
        buf_printf(out, "\n        - --namespaces=%s", options->namespaces);
}

static void write_replicas(const struct install_options *options, struct buf *out)
{
    buf_printf(out, "%lld", (long long)options->replicas);
}

static void write_image(const struct install_options *options, struct buf *out)
{
    write_quoted(options->image, out);
}

static void write_pull_policy(const struct install_options *options, struct buf *out)
{
    buf_str(out, options->pull_policy);
}

static void write_pull_secrets(const struct install_options *options, struct buf *out)
{
    buf_char(out, '[');
    if (options->pull_secret) {
        buf_str(out, "{name: ");
        write_quoted(options->pull_secret, out);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void write_pull_secrets_line(const struct install_options *options, struct buf *out)
{
    if (!options->pull_secret)
        return;
    buf_str(out, "      imagePullSecrets: ");
    write_pull_secrets(options, out);
    buf_char(out, '\n');
}

static void write_args(const struct install_options *options, struct buf *out)
{
    for (size_t i = 0; i < options->n_args; i++) {
        buf_str(out, "\n        - ");
        write_quoted(options->args[i], out);
    }
}

static void write_arg_list(const struct install_options *options, struct buf *out)
{
    buf_char(out, '[');
    for (size_t i = 0; i < options->n_args; i++) {
        buf_str(out, i ? ", " : "");
        write_quoted(options->args[i], out);
    }
    buf_char(out, ']');
}

static void write_annotations(const struct install_options *options, struct buf *out)
{
    buf_str(out, options->monitoring ? "{prometheus.io/scrape: \"true\", prometheus.io/port: "
                                       "\"8080\", prometheus.io/path: /metrics}"
                                     : "{}");
}

static void write_annotations_line(const struct install_options *options, struct buf *out)
{
    if (!options->monitoring)
        return;
    buf_str(out, "      annotations: ");
    write_annotations(options, out);
    buf_char(out, '\n');
}

static void write_priority_class(const struct install_options *options, struct buf *out)
{
    buf_str(out, "system-cluster-critical");
}

static void write_resources(const struct install_options *options, struct buf *out)
{
    buf_str(out, "{requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 512Mi}}");
}

static void write_nothing(const struct install_options *options, struct buf *out)
{
}

static void write_empty_map(const struct install_options *options, struct buf *out)
{
    buf_str(out, "{}");
}

static void write_empty_list(const struct install_options *options, struct buf *out)
{
    buf_str(out, "[]");
}

static void write_flow_schema_version(const struct install_options *options, struct buf *out)
{
    buf_str(out, options->minor >= MINOR_FLOW_SCHEMA_V1      ? "v1"
                 : options->minor >= MINOR_FLOW_SCHEMA_BETA3 ? "v1beta3"
                                                             : "v1beta2");
}

/* A place in the texts, or only a value of the chart. */
struct word {
    const char *name; /* "" for a value without a place of its own */
    void (*write)(const struct install_options *options, struct buf *out);
    const char *chart; /* what stands there in a chart; NULL: the same as in plain documents */
    /* Name of the value in values.yaml; NULL: the word is no value. */
    const char *value;
    /* Writes the value; NULL: `write` does. */
    void (*write_value)(const struct install_options *options, struct buf *out);
};

#define BLOCK(value, indent) "{{ toYaml .Values." value " | nindent " indent " }}"
/* A member of the pod that stands there only when its value is not empty. */
#define LINE_OF(member, value)                                                                     \
    "      {{- if .Values." value " }}\n      " member ": " BLOCK(value, "8") "\n      {{- end "   \
                                                                              "}}\n"
#define LINE(value) LINE_OF(value, value)
/* clang-format off */
static const struct word words[] = {
    {"name",           write_name,                "{{ .Values.name }}", "name", write_name_value},
    {"namespace",      write_namespace_name,      "{{ .Release.Namespace }}"},
    {"version",        write_version,             NULL},
    {"mode",           write_mode,                NULL},
    {"flowschema",     write_flow_schema_version, NULL},
    {"image",          write_image,               "{{ .Values.image | quote }}", "image"},
    {"pull-policy",    write_pull_policy,         "{{ .Values.imagePullPolicy }}", "imagePullPolicy"},
    {"pull-secrets",   write_pull_secrets_line,   LINE("imagePullSecrets"), "imagePullSecrets", write_pull_secrets},
    {"replicas",       write_replicas,            "{{ .Values.replicas }}", "replicas"},
    {"args",           write_args,                "\n        {{- if .Values.args }}\n        {{- toYaml .Values.args | nindent 8 }}\n        {{- end }}", "args", write_arg_list},
    {"resources",      write_resources,           BLOCK("resources", "10"), "resources"},
    {"placement",      write_nothing,             LINE("nodeSelector") LINE("tolerations"), NULL},
    {"",               write_nothing,             NULL, "nodeSelector", write_empty_map},
    {"",               write_nothing,             NULL, "tolerations", write_empty_list},
    {"annotations",    write_annotations_line,    LINE_OF("annotations", "podAnnotations"), "podAnnotations", write_annotations},
    {"priority-class", write_priority_class,      "{{ .Values.priorityClassName }}", "priorityClassName"},
};
/* clang-format on */

static const struct word *word_named(const char *name, size_t len)
{
    for (size_t i = 0; i < countof(words); i++)
        if (strlen(words[i].name) == len && strncmp(words[i].name, name, len) == 0)
            return &words[i];
    return NULL;
}

static void fill(const struct install_options *options, const char *text, enum install_form form,
                 struct buf *out)
{
    for (const char *place; (place = strstr(text, "${")); text = strchr(place, '}') + 1) {
        const struct word *word = word_named(place + 2, strcspn(place + 2, "}"));

        buf_add(out, text, (size_t)(place - text));
        if (form == INSTALL_CHART && word->chart)
            buf_str(out, word->chart);
        else
            word->write(options, out);
    }
    buf_str(out, text);
}

static void write_crds(const struct install_options *options, struct buf *out)
{
    static const struct kind *const kinds[] = {&kind_job_flow, &kind_job_template, &kind_job,
                                               &kind_command};
    bool with_jobs = options->own_job_crd || !options->mode->beside_volcano;

    for (size_t i = 0; i < (with_jobs ? countof(kinds) : 2); i++) {
        scoped(json) json_t *doc = crd_document(kinds[i], CRD_CLUSTER);

        buf_str(out, i ? "---\n" : "");
        yaml_write(doc, out);
    }
}

/* Writes words separated by blanks as a YAML list. */
static void write_list(const char *text, struct buf *out)
{
    buf_char(out, '[');
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, " ");

        buf_printf(out, "%s%.*s", at > text ? ", " : "", (int)len, at);
        at += len + (at[len] == ' ');
    }
    buf_char(out, ']');
}

/* A set of scopes. */
enum {
    SCOPE_CLUSTER = 1 << RIGHT_CLUSTER,
    SCOPE_WHOLE = 1 << RIGHT_WHOLE,
    SCOPE_OWN = 1 << RIGHT_OWN
};

static void write_rules(const struct install_options *options, unsigned scopes, struct buf *out)
{
    buf_str(out, "rules:\n");
    for (size_t i = 0; i < rights_count; i++) {
        const struct right *right = &rights[i];

        if (!(scopes & (1u << right->scope)) ||
            !(right->modes & (options->mode->rights | gang_rights(options->gang))))
            continue;
        buf_printf(out, "- {apiGroups: [\"%s\"], resources: ", right->group);
        write_list(right->resources, out);
        buf_str(out, ", verbs: ");
        write_list(right->verbs, out);
        if (right->names) {
            buf_str(out, ", resourceNames: ");
            write_list(right->names, out);
        }
        buf_str(out, "}\n");
    }
}

#define ROLES   "apiVersion: rbac.authorization.k8s.io/v1\n"
#define LABELED "labels: {app.kubernetes.io/name: \"${name}\"}"

static const char account_text[] =
    "apiVersion: v1\n"
    "kind: ServiceAccount\n"
    "metadata: {name: ${name}-controller, namespace: \"${namespace}\", " LABELED "}\n"
    "automountServiceAccountToken: true\n"
    "---\n" ROLES "kind: ClusterRole\n"
    "metadata: {name: ${name}-controller, " LABELED "}\n";

static const char binding_text[] =
    "---\n" ROLES "kind: ClusterRoleBinding\n"
    "metadata: {name: ${name}-controller, " LABELED "}\n"
    "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ${name}-controller}\n"
    "subjects:\n"
    "- {kind: ServiceAccount, name: ${name}-controller, namespace: \"${namespace}\"}\n"
    "---\n" ROLES "kind: Role\n"
    "metadata: {name: ${name}-controller, namespace: \"${namespace}\", " LABELED "}\n";

static const char own_binding_text[] =
    "---\n" ROLES "kind: RoleBinding\n"
    "metadata: {name: ${name}-controller, namespace: \"${namespace}\", " LABELED "}\n"
    "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ${name}-controller}\n"
    "subjects:\n"
    "- {kind: ServiceAccount, name: ${name}-controller, namespace: \"${namespace}\"}\n";

static const char acts_text[] =
    "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ${name}-acts}\n"
    "subjects:\n"
    "- {kind: ServiceAccount, name: ${name}-controller, namespace: \"${namespace}\"}\n";

/* What people may do, by the roles view and edit that clusters have. */
static const char people_text[] =
    "---\n" ROLES "kind: ClusterRole\n"
    "metadata:\n"
    "  name: ${name}-viewer\n"
    "  labels: {app.kubernetes.io/name: \"${name}\", "
    "rbac.authorization.k8s.io/aggregate-to-view: \"true\"}\n"
    "rules:\n"
    "- {apiGroups: [flow.volcano.sh], resources: [jobflows, jobtemplates], "
    "verbs: [get, list, watch]}\n"
    "- {apiGroups: [batch.volcano.sh], resources: [jobs], verbs: [get, list, watch]}\n"
    "- {apiGroups: [scheduling.volcano.sh], resources: [podgroups, queues], "
    "verbs: [get, list, watch]}\n"
    "---\n" ROLES "kind: ClusterRole\n"
    "metadata:\n"
    "  name: ${name}-editor\n"
    "  labels: {app.kubernetes.io/name: \"${name}\", "
    "rbac.authorization.k8s.io/aggregate-to-edit: \"true\"}\n"
    "rules:\n"
    "- {apiGroups: [flow.volcano.sh], resources: [jobflows, jobtemplates], "
    "verbs: [create, update, patch, delete, deletecollection]}\n"
    "- {apiGroups: [batch.volcano.sh], resources: [jobs], "
    "verbs: [create, update, patch, delete, deletecollection]}\n"
    "- {apiGroups: [bus.volcano.sh], resources: [commands], verbs: [create]}\n";

/* With namespaces the rights are those of a Role in each of them. */
static const char role_text[] = "metadata: {name: ${name}-acts, " LABELED ", namespace: \"";

static void write_roles(const struct install_options *options, enum install_form form,
                        struct buf *out)
{
    char **namespaces = names_split(options->namespaces);

    for (size_t i = 0; namespaces && namespaces[i]; i++) {
        buf_str(out, "---\n" ROLES "kind: Role\n");
        fill(options, role_text, form, out);
        buf_printf(out, "%s\"}\n", namespaces[i]);
        write_rules(options, SCOPE_CLUSTER, out);
        buf_str(out, "---\n" ROLES "kind: RoleBinding\n");
        fill(options, role_text, form, out);
        buf_printf(out, "%s\"}\n", namespaces[i]);
        fill(options, acts_text, form, out);
    }
    names_free(namespaces);
}

static void write_rbac(const struct install_options *options, enum install_form form,
                       struct buf *out)
{
    fill(options, account_text, form, out);
    write_rules(options, SCOPE_WHOLE | (options->namespaces ? 0 : SCOPE_CLUSTER), out);
    fill(options, binding_text, form, out);
    write_rules(options, SCOPE_OWN, out);
    fill(options, own_binding_text, form, out);
    write_roles(options, form, out);
    fill(options, people_text, form, out);
}

static bool has_part(const struct install_options *options, const struct install_part *part,
                     enum install_form form)
{
    bool is_service = strcmp(part->name, "service") == 0;

    return options->minor >= part->minor_least &&
           (form == INSTALL_CHART || options->replicas >= part->replicas_least) &&
           (options->monitoring || !is_service);
}

static void write_text(const struct install_options *options, const struct install_part *part,
                       enum install_form form, struct buf *out)
{
    bool on_condition = form == INSTALL_CHART && part->replicas_least > 0;

    if (on_condition)
        buf_printf(out, "{{- if ge (int .Values.replicas) %d }}\n", part->replicas_least);
    fill(options, part->text, form, out);
    if (on_condition)
        buf_str(out, "{{- end }}\n");
}

void install_write_part(const struct install_options *options, const struct install_part *part,
                        enum install_form form, struct buf *out)
{
    if (!has_part(options, part, form))
        return;
    if (part->text)
        write_text(options, part, form, out);
    else if (strcmp(part->name, "crds") == 0)
        write_crds(options, out);
    else
        write_rbac(options, form, out);
}

void install_write_values(const struct install_options *options, struct buf *out)
{
    for (size_t i = 0; i < countof(words); i++) {
        const struct word *word = &words[i];

        if (!word->value)
            continue;
        buf_printf(out, "%s: ", word->value);
        (word->write_value ? word->write_value : word->write)(options, out);
        buf_char(out, '\n');
    }
}

void install_write_chart(const struct install_options *options, struct buf *out)
{
    buf_printf(out,
               "apiVersion: v2\n"
               "name: jobflow\n"
               "description: Runs JobFlows, and in mode %s %s\n"
               "type: application\n"
               "version: %s\n"
               "appVersion: \"%s\"\n"
               "kubeVersion: \">=1.%d.0-0\"\n",
               options->mode->name,
               options->mode->runs_jobs ? "also their Jobs" : "lets Volcano run their Jobs",
               JOBFLOW_VERSION, JOBFLOW_VERSION, options->minor);
}
