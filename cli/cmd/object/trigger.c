/*
 * The command `jobflow trigger`: has a CronJob make a job, or a FlowTrigger a flow, now. It sends a
 * Command, which the controller carries out and deletes.
 */
#include <string.h>

#include "api/types/kinds/schedule/flowtrigger.h"
#include "api/types/text/doc.h"
#include "api/types/text/suggest.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/client/client.h"
#include "cli/client/event_list.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"

struct trigger_options {
    struct client_endpoint endpoint;
    const char *namespace;
    const char *id;
    struct flag_list parameters;
    bool wait;
    int64_t timeout_ms;
};

/* What one Command is to make. */
struct firing {
    const struct resource *of; /* the FlowTrigger or CronJob */
    char *command, *made;      /* names of the Command and of the flow or job; owned */
};

#define TRIGGER(member) offsetof(struct trigger_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR, "namespace", 'n', "NAME", "namespace to look in; default: that of the kubeconfig, or default", TRIGGER(namespace)},
    {FLAG_STR,  "id",        0,   "ID",   "of a FlowTrigger: fire only if no flow was made with this id", TRIGGER(id)},
    {FLAG_LIST, "parameter", 'p', "NAME=VALUE", "of a FlowTrigger: a parameter of the flow; may be given several times", TRIGGER(parameters)},
    {FLAG_BOOL, "wait",      0,   NULL,   "wait for the end of what is made; the exit code is that of wait", TRIGGER(wait)},
    {FLAG_DURATION, "timeout", 0, "D",    "with --wait: give up and exit with 4; default: never", TRIGGER(timeout_ms)},
    CLIENT_ENDPOINT_FLAGS(TRIGGER(endpoint)),
    {0},
};
/* clang-format on */

static const struct trigger_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL,
                                                .timeout_ms = -1};

/* {NAME: VALUE} of the parameters on the command line; owned. NULL with the error. */
static json_t *parameters_of(const struct flag_list *list, struct error *err)
{
    json_t *parameters = json_object();

    for (size_t i = 0; i < list->count; i++) {
        const char *equals = strchr(list->items[i], '=');
        scoped_str name =
            equals ? mem_printf("%.*s", (int)(equals - list->items[i]), list->items[i]) : NULL;

        if (!equals || equals == list->items[i]) {
            json_decref(parameters);
            error_set(err, ERR_BAD_REQUEST, "", "-p %.64s is not of the form NAME=VALUE",
                      list->items[i]);
            return NULL;
        }
        json_object_set_new(parameters, name, json_string(equals + 1));
    }
    return parameters;
}

/* The message of the Command: what a FlowTrigger needs to know. Owned. */
static char *message_of(const struct resource *one, const char *id,
                        const struct trigger_options *options, struct error *err)
{
    scoped(json) json_t *message = NULL;
    json_t *parameters = parameters_of(&options->parameters, err);

    if (!parameters)
        return NULL;
    if (one->kind == &kind_cron_job) {
        bool extra = json_object_size(parameters) || options->id;

        json_decref(parameters);
        if (!extra)
            return mem_strdup("asked for on the command line");
        error_set(err, ERR_BAD_REQUEST, "",
                  "a CronJob has neither parameters nor ids: leave out "
                  "-p and --id");
        return NULL;
    }
    message = json_pack("{s:s, s:o}", "id", id, "parameters", parameters);
    return json_dumps(message, JSON_COMPACT);
}

/* Returns the parameters that the flows of a FlowTrigger have: those of its own flow, or of the one
 * that it names. NULL when that one is not there, which the firing tells. Owned. */
static json_t *parameters_known(struct client *client, const char *ns, const json_t *trigger)
{
    const char *name = doc_text(trigger, "spec.flowName");
    scoped(buf) struct buf path = {0};
    scoped(json) json_t *flow = NULL;

    if (!name)
        return json_deep_copy(doc_at(trigger, "spec.flowTemplate.spec.parameters"));
    resource_write_path(&kind_job_flow, ns, name, &path);
    flow = client_get(client, path.data, NULL);
    return flow ? json_deep_copy(doc_at(flow, "spec.parameters")) : NULL;
}

/* Refuses a parameter that the flow does not have: the firing would make nothing. */
static bool check_parameters(struct client *client, const struct trigger_options *options,
                             const char *ns, const json_t *trigger, struct error *err)
{
    scoped(json) json_t *given = parameters_of(&options->parameters, err);
    scoped(json) json_t *known = NULL;
    const char *name;
    json_t *value, *one;
    size_t i;

    if (!given || !json_object_size(given))
        return given != NULL;
    known = parameters_known(client, ns, trigger);
    json_object_foreach(given, name, value)
    {
        struct suggest best = {0};
        bool found = false;

        json_array_foreach(known, i, one)
        {
            const char *its = doc_text(one, "name");

            found |= its && strcmp(its, name) == 0;
            if (its)
                suggest_offer(&best, name, its);
        }
        if (!found && known)
            return error_set(err, ERR_INVALID, "", "-p %.64s: the flow has no such parameter%s%s%s",
                             name, best.word ? "; did you mean \"" : "", best.word ? best.word : "",
                             best.word ? "\"?" : "");
    }
    return true;
}

static json_t *command_to(const struct resource *one, const json_t *doc, const char *message)
{
    scoped(json) json_t *target = json_pack(
        "{s:s, s:s, s:s, s:s, s:b}", "apiVersion", kind_api_version(one->kind), "kind",
        one->kind->name, "name", one->name, "uid", doc_text(doc, "metadata.uid"), "controller", 1);

    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:O, s:{s:[O], s:o}}", "apiVersion",
                     kind_api_version(&kind_command), "kind", kind_command.name, "action",
                     one->kind == &kind_cron_job ? "FireJob" : "FireFlow", "reason", "CommandLine",
                     "message", message, "target", target, "metadata", "ownerReferences", target,
                     "generateName", json_sprintf("%.200s-fire-", one->name));
}

static void print_result(struct client *client, const struct firing *firing)
{
    const struct resource *one = firing->of;
    scoped(buf) struct buf word = {0};

    resource_write_name(one->kind, one->name, &word);
    printf("%s triggered", word.data);
    if (one->kind == &kind_flow_trigger)
        printf(": jobflow %s", firing->made);
    puts(client_is_live(client) ? "" : "; 'jobflow serve' of this directory makes it");
}

/* Remembers the names of the Command and of what it makes. */
static void read_answer(struct firing *firing, const struct buf *text, const char *id)
{
    scoped(json) json_t *command = json_loadb(text->data ? text->data : "", text->len, 0, NULL);
    const char *name = doc_text(command, "metadata.name");
    const char *uid = doc_text(command, "metadata.uid");

    firing->command = mem_strdup(name ? name : "");
    firing->made = firing->of->kind == &kind_flow_trigger
                       ? trigger_name_for_id(firing->of->name, CAUSE_HAND, id)
                       : cronjob_name_by_hand(firing->of->name, uid ? uid : "");
}

static bool trigger(struct client *client, const struct trigger_options *options, const char *ns,
                    struct firing *firing, struct error *err)
{
    const struct resource *one = firing->of;
    char unique[CLOCK_UUID_LEN + 1];
    const char *id = options->id;
    scoped_str message = NULL;
    scoped(buf) struct buf path = {0};
    scoped(client_call) struct client_call call = {.method = "POST",
                                                   .content_type = "application/json"};
    scoped(json) json_t *doc = NULL, *command = NULL;
    char *text;
    bool ok;

    clock_uuid(clock_real(), unique);
    id = id ? id : unique;
    message = message_of(one, id, options, err);
    if (!message)
        return false;
    resource_write_path(one->kind, ns, one->name, &path);
    doc = client_get(client, path.data, err);
    if (!doc ||
        (one->kind == &kind_flow_trigger && !check_parameters(client, options, ns, doc, err)))
        return false;
    command = command_to(one, doc, message);
    text = json_dumps(command, JSON_COMPACT);
    buf_clear(&path);
    resource_write_path(&kind_command, ns, NULL, &path);
    call.target = path.data;
    call.body = text;
    call.body_len = strlen(text);
    ok = client_do(client, &call, err);
    free(text);
    if (ok) {
        read_answer(firing, &call.text, id);
        print_result(client, firing);
    }
    return ok;
}

/* Prints why a Command was carried out and made nothing: the newest event of its target that names
 * the Command or the object. */
static void print_refusal(struct client *client, const char *ns, const struct firing *firing)
{
    const struct resource *of = firing->of;
    scoped_str about = event_selector(of->kind->name, of->name, NULL);
    scoped(eventlist) struct eventlist events = {0};
    scoped(buf) struct buf word = {0};

    resource_write_name(of->kind, of->name, &word);
    eventlist_get(client, ns, about, &events, NULL);
    for (size_t i = events.count; i > 0; i--) {
        const struct event *event = &events.items[i - 1];

        if (event->message &&
            (strstr(event->message, firing->command) || strstr(event->message, firing->made))) {
            cli_errorf("%s: %s", word.data, event->message);
            return;
        }
    }
    cli_errorf("%s: %s is not there: 'describe' shows the events", word.data, firing->made);
}

static int wait_for_firing(struct client *client, const struct trigger_options *options,
                           const char *ns, const struct firing *firing)
{
    const struct resource made = {
        firing->of->kind == &kind_flow_trigger ? &kind_job_flow : &kind_job, firing->made};
    int code = wait_for_made(&options->endpoint, ns, firing->command, &made, options->timeout_ms);

    if (code >= 0)
        return code;
    print_refusal(client, ns, firing);
    return EXIT_FAILED;
}

/* Sends all Commands and then, if asked, waits for what each makes. Returns the exit code. */
static int trigger_all(struct client *client, const struct trigger_options *options,
                       const struct resources *named)
{
    const char *ns = client_namespace(client, options->namespace);
    struct firing *firings = mem_array(named->count, sizeof *firings);
    int code = EXIT_OK;

    for (size_t i = 0; i < named->count; i++) {
        struct error err = {0};

        firings[i].of = &named->items[i];
        if (trigger(client, options, ns, &firings[i], &err))
            continue;
        cli_error(&err);
        code = EXIT_FAILED;
    }
    for (size_t i = 0; i < named->count; i++) {
        int one = firings[i].command && options->wait
                      ? wait_for_firing(client, options, ns, &firings[i])
                      : EXIT_OK;

        code = code == EXIT_OK ? one : code;
        mem_free(firings[i].command);
        mem_free(firings[i].made);
    }
    mem_free(firings);
    return code;
}

static bool parse(int n, char **words, struct resources *out, struct error *err)
{
    if (!resources_parse(n, words, out, err))
        return strchr(words[0], '/')
                   ? false
                   : error_set(err, ERR_BAD_REQUEST, "",
                               "\"%s\" is not of the form ft/NAME: write ft/%s or cronvj/%s",
                               words[0], words[0], words[0]);
    for (size_t i = 0; i < out->count; i++)
        if ((out->items[i].kind != &kind_cron_job && out->items[i].kind != &kind_flow_trigger) ||
            !out->items[i].name)
            return error_set(err, ERR_BAD_REQUEST, "",
                             "only CronJobs and FlowTriggers are triggered: name them, as in "
                             "cronvj/NAME and ft/NAME");
    return true;
}

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct trigger_options *options = opaque;
    scoped(resources) struct resources named = {0};
    scoped(client) struct client *client = NULL;
    struct error err = {0};
    int code = EXIT_OK;

    if (!parse(n_operands, operands, &named, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    client = client_open_or_say(&options->endpoint, CLIENT_CHANGE, &code);
    if (!client)
        return code;
    if (options->wait && !client_is_live(client)) {
        scoped_str why = client_not_live_reason(client);

        cli_errorf("%s: start '%s serve', or leave out --wait", why, cli_program);
        return EXIT_REFUSED;
    }
    return trigger_all(client, options, &named);
}

const struct command cmd_trigger = {
    .name = "trigger",
    .operands = "ft/NAME… | cronvj/NAME…",
    .summary = "Have a FlowTrigger make a flow, or a CronJob a job, now",
    .details =
        "No schedule is moved, and what is suspended makes one, too. The job of a CronJob is "
        "named NAME-manual-XXXXX.\n"
        "With --id the same call can be repeated: while the flow of an id is kept, no other "
        "is made with it.\n"
        "With --wait it exits with 0 when the flow or job has succeeded, 1 when it has failed or "
        "was "
        "not made, 4 when the time was up.",
    .examples = "  jobflow trigger ft/nightly -p day=2026-10-01\n"
                "  jobflow trigger cronvj/backup --wait --timeout 1h",
    .flags = flags,
    .options_size = sizeof(struct trigger_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "resource",
    .run = run,
};
