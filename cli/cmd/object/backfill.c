/*
 * The command `jobflow backfill`: has a FlowTrigger make the flows of past scheduled times.
 *
 * It works out the times as the controller does (api/types/kinds/schedule/backfill.h), prints with
 * --dry-run what would happen to each, and sends a Command, which the controller carries out.
 */
#include <string.h>

#include "api/types/kinds/schedule/flowtrigger.h"
#include "api/types/text/doc.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/client/client.h"
#include "cli/client/lister.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"
#include "cli/inspect/schedule_text.h"
#include "view/table_print.h"

struct backfill_options {
    struct client_endpoint endpoint;
    const char *namespace, *from, *to, *rerun, *cancel;
    int64_t parallelism;
    bool reverse, dry_run;
};

#define BACKFILL(member) offsetof(struct backfill_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR,    "from",        0,   "TIME", "beginning: a date, in the time zone of the trigger, or a time of RFC 3339", BACKFILL(from)},
    {FLAG_STR,    "to",          0,   "TIME", "end, included; a date means its end", BACKFILL(to)},
    {FLAG_INT,    "parallelism", 0,   "N",    "how many of its flows are active at once; default: 1", BACKFILL(parallelism), .min = 1, .max = BACKFILL_PARALLEL_MAX},
    {FLAG_CHOICE, "rerun",       0,   "WHICH", "flows that exist and run again: those that failed (their failed steps), or all that have ended; default: none", BACKFILL(rerun), backfill_rerun_texts},
    {FLAG_BOOL,   "reverse",     0,   NULL,   "make the flow of the newest time first", BACKFILL(reverse)},
    {FLAG_BOOL,   "dry-run",     0,   NULL,   "print what would happen to each time, and change nothing", BACKFILL(dry_run)},
    {FLAG_STR,    "cancel",      0,   "ID",   "end the backfill with this id; its flows that have begun go on", BACKFILL(cancel)},
    {FLAG_STR,    "namespace",   'n', "NAME", "namespace to look in; default: that of the kubeconfig, or default", BACKFILL(namespace)},
    CLIENT_ENDPOINT_FLAGS(BACKFILL(endpoint)),
    {0},
};
/* clang-format on */

static const struct backfill_options defaults = {
    .endpoint = CLIENT_ENDPOINT_USUAL, .parallelism = 1, .rerun = "none"};

/* A trigger, and what is asked of it. */
struct request {
    const struct backfill_options *options;
    struct client *client;
    const char *ns, *name;
    json_t *trigger; /* owned */
    struct backfill_order order;
    struct schedule_text schedule;
    struct backfill_range range;
};

static void request_release(struct request *request)
{
    json_decref(request->trigger);
    schedule_text_release(&request->schedule);
}

SCOPED_DEFINE(request, struct request, request_release)

/* Reads the ends of the range, and what else the command line says. */
static bool read_order(struct request *request, struct error *err)
{
    const struct backfill_options *options = request->options;
    struct error why = {0};

    if (!options->from || !options->to)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "name the range of times with --from and --to, or a backfill with "
                         "--cancel");
    if (!backfill_end_read(options->from, true, &request->order.from, &why))
        return error_set(err, ERR_BAD_REQUEST, "", "--from: %s", why.message);
    if (!backfill_end_read(options->to, false, &request->order.to, &why))
        return error_set(err, ERR_BAD_REQUEST, "", "--to: %s", why.message);
    request->order.reverse = options->reverse;
    request->order.parallelism = (int32_t)options->parallelism;
    while (strcmp(backfill_rerun_texts[request->order.rerun], options->rerun) != 0)
        request->order.rerun++;
    return true;
}

static bool read_trigger(struct request *request, struct error *err)
{
    scoped(buf) struct buf path = {0};

    resource_write_path(&kind_flow_trigger, request->ns, request->name, &path);
    request->trigger = client_get(request->client, path.data, err);
    return request->trigger != NULL;
}

static bool read_times(struct request *request, struct error *err)
{
    struct error why = {0};

    if (!schedule_text_init(request->trigger, &request->schedule, err))
        return false;
    if (request->schedule.none)
        return error_set(err, ERR_INVALID, "",
                         "flowtrigger %s has no schedule, so there are no times to make up for",
                         request->name);
    return backfill_range(&request->order, &request->schedule.cron, request->schedule.zone,
                          clock_wall_ms(clock_real()) / 1000, &request->range, &why) ||
           error_set(err, ERR_INVALID, "", "flowtrigger %s: %s", request->name, why.message);
}

/* The dry run. */

/* Flows by name. */
struct flows {
    json_t *phases; /* {name: phase}; owned */
    const char *trigger_uid;
};

static bool take_flow(void *ctx, json_t *flow)
{
    struct flows *flows = ctx;
    const char *phase = doc_text(flow, "status.state.phase");
    const json_t *owner;
    bool ours = false;
    size_t i;

    json_array_foreach(doc_at(flow, "metadata.ownerReferences"), i, owner)
    {
        const char *uid = doc_text(owner, "uid");

        ours |= uid && flows->trigger_uid && strcmp(uid, flows->trigger_uid) == 0;
    }
    json_object_set_new(flows->phases, doc_text(flow, "metadata.name"),
                        json_string(!ours             ? "foreign"
                                    : phase && *phase ? phase
                                                      : "Pending"));
    return true;
}

static enum backfill_found found(const char *phase)
{
    if (!phase)
        return FOUND_NONE;
    if (strcmp(phase, "foreign") == 0)
        return FOUND_FOREIGN;
    if (strcmp(phase, flow_phase_text(FLOW_SUCCEED)) == 0)
        return FOUND_SUCCEEDED;
    return strcmp(phase, flow_phase_text(FLOW_FAILED)) == 0 ? FOUND_FAILED : FOUND_ACTIVE;
}

static const char *then_text(enum backfill_then then, enum backfill_found found)
{
    /* clang-format off */
    static const char *const texts[] = {
        [THEN_MAKE] = "made", [THEN_KEEP] = "kept", [THEN_RETRY] = "tried again",
        [THEN_REPLACE] = "deleted and made again", [THEN_FOREIGN] = "left out: the flow is not of this trigger"};
    /* clang-format on */

    if (then == THEN_KEEP && found == FOUND_FAILED)
        return "kept; --rerun failed tries it again";
    return texts[then];
}

static void print_rows(const struct request *request, const struct flows *flows)
{
    static const char *const titles[] = {"TIME", "FLOW", "STATE", "THEN"};
    const struct schedule_text *schedule = &request->schedule;
    const struct backfill_range *range = &request->range;
    scoped(table_print) struct table_print table = {0};
    int kept = 0;

    table_print_init(&table, stdout, &(struct table_print_options){0});
    table_print_columns(&table, titles, countof(titles));
    for (int64_t at_s = range->first_s; at_s;
         at_s = backfill_after(&schedule->cron, schedule->zone, range->from_s, range->to_s,
                               request->order.reverse, at_s)) {
        scoped_str name = trigger_name_for_time(request->name, &schedule->cron, at_s);
        const char *phase = json_string_value(json_object_get(flows->phases, name));
        enum backfill_then then = backfill_decide(found(phase), request->order.rerun);
        char time[TIME_TEXT_MAX];
        char *const cells[] = {time, name, mem_strdup(phase ? phase : "-"),
                               mem_strdup(then_text(then, found(phase)))};

        zone_time_format(schedule->zone, at_s, time);
        table_print_rows(&table, cells, 1);
        kept += then == THEN_KEEP || then == THEN_FOREIGN;
        mem_free(cells[2]);
        mem_free(cells[3]);
    }
    printf("%d time%s: %d to make, %d to keep\n", range->times, range->times == 1 ? "" : "s",
           range->times - kept, kept);
}

/* Says that flows beyond the limits of the history do not stay, so that another backfill does not
 * find them. */
static void note_limits(const struct request *request)
{
    const json_t *spec = json_object_get(request->trigger, "spec");
    json_int_t limit = json_integer_value(json_object_get(spec, "successfulFlowsHistoryLimit"));

    if (request->range.times > limit)
        printf("note: of the flows that succeed, %" JSON_INTEGER_FORMAT
               " are kept (successfulFlowsHistoryLimit): another backfill makes the others again\n",
               limit);
}

static bool dry_run(const struct request *request, struct error *err)
{
    scoped_str labels = mem_printf("%s=%s", LABEL_TRIGGER, request->name);
    const struct list_query query = {.kind = &kind_job_flow, .ns = request->ns, .labels = labels};
    scoped(json) json_t *phases = json_object();
    struct flows flows = {phases, doc_text(request->trigger, "metadata.uid")};

    if (!list_each(request->client, &query, take_flow, &flows, NULL, err))
        return false;
    print_rows(request, &flows);
    note_limits(request);
    return true;
}

/* Commands. */

/* Returns the message of the Command (owned). */
static char *message_of(const struct request *request)
{
    const struct backfill_options *options = request->options;
    scoped(json) json_t *message =
        options->cancel ? json_pack("{s:s}", "id", options->cancel)
                        : json_pack("{s:s, s:s, s:I, s:s, s:b}", "from", options->from, "to",
                                    options->to, "parallelism", (json_int_t)options->parallelism,
                                    "rerun", options->rerun, "reverse", options->reverse);
    char *text = json_dumps(message, JSON_COMPACT), *copy = mem_strdup(text);

    free(text);
    return copy;
}

static bool send_command(const struct request *request, struct error *err)
{
    scoped_str message = message_of(request);
    scoped(buf) struct buf path = {0};
    scoped(client_call) struct client_call call = {.method = "POST",
                                                   .content_type = "application/json"};
    scoped(json) json_t *target =
        json_pack("{s:s, s:s, s:s, s:s, s:b}", "apiVersion", kind_api_version(&kind_flow_trigger),
                  "kind", kind_flow_trigger.name, "name", request->name, "uid",
                  doc_text(request->trigger, "metadata.uid"), "controller", 1);
    scoped(json) json_t *command = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:O, s:{s:[O], s:o}}", "apiVersion",
        kind_api_version(&kind_command), "kind", kind_command.name, "action",
        request->options->cancel ? COMMAND_CANCEL_BACKFILL : COMMAND_BACKFILL_FLOW, "reason",
        "CommandLine", "message", message, "target", target, "metadata", "ownerReferences", target,
        "generateName", json_sprintf("%.200s-backfill-", request->name));
    scoped(json) json_t *answer = NULL;
    const char *later =
        client_is_live(request->client) ? "" : "; 'jobflow serve' of this directory does it";
    char *text = json_dumps(command, JSON_COMPACT);
    bool ok;

    resource_write_path(&kind_command, request->ns, NULL, &path);
    call.target = path.data;
    call.body = text;
    call.body_len = strlen(text);
    ok = client_do(request->client, &call, err);
    free(text);
    if (!ok)
        return false;
    answer = json_loadb(call.text.data ? call.text.data : "", call.text.len, 0, NULL);
    if (request->options->cancel)
        printf("backfill %s is to be cancelled%s\n", request->options->cancel, later);
    else
        printf("backfill %s of %d time%s%s\n", doc_text(answer, "metadata.name"),
               request->range.times, request->range.times == 1 ? "" : "s", later);
    return true;
}

/* Refuses to cancel a backfill that does not run: the controller would only say so in an event. */
static bool check_cancel(const struct request *request, struct error *err)
{
    scoped(buf) struct buf running = {0};
    const json_t *one;
    size_t i;

    json_array_foreach(doc_at(request->trigger, "status.backfills"), i, one)
    {
        const char *id = doc_text(one, "id"), *state = doc_text(one, "state");

        if (!id || !state || strcmp(state, backfill_state_texts[BACKFILL_RUNNING]) != 0)
            continue;
        if (strcmp(id, request->options->cancel) == 0)
            return true;
        buf_printf(&running, "%s%s", running.len ? ", " : "", id);
    }
    return error_set(err, ERR_NOT_FOUND, "",
                     "no backfill %.64s of flowtrigger %s is running; running: %s",
                     request->options->cancel, request->name, running.len ? running.data : "none");
}

static bool backfill(struct request *request, struct error *err)
{
    if (!read_trigger(request, err))
        return false;
    if (request->options->cancel)
        return check_cancel(request, err) && send_command(request, err);
    if (!read_times(request, err))
        return false;
    return request->options->dry_run ? dry_run(request, err) : send_command(request, err);
}

static bool parse(char **words, struct resources *out, struct error *err)
{
    if (!strchr(words[0], '/'))
        return error_set(err, ERR_BAD_REQUEST, "", "\"%s\" is not of the form ft/NAME: write ft/%s",
                         words[0], words[0]);
    if (!resources_parse(1, words, out, err))
        return false;
    if (out->items[0].kind == &kind_cron_job)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "the jobs of a CronJob do not know the time they are made for: only "
                         "FlowTriggers have backfills, as in ft/NAME");
    return (out->items[0].kind == &kind_flow_trigger && out->items[0].name) ||
           error_set(err, ERR_BAD_REQUEST, "",
                     "only FlowTriggers have backfills: name one, as in ft/NAME");
}

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct backfill_options *options = opaque;
    scoped(resources) struct resources named = {0};
    scoped(client) struct client *client = NULL;
    scoped(request) struct request request = {.options = options};
    struct error err = {0};
    int code = EXIT_OK;

    if (!parse(operands, &named, &err) || (!options->cancel && !read_order(&request, &err))) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    client = client_open_or_say(&options->endpoint, options->dry_run ? CLIENT_LOOK : CLIENT_CHANGE,
                                &code);
    if (!client)
        return code;
    request.client = client;
    request.ns = client_namespace(client, options->namespace);
    request.name = named.items[0].name;
    if (backfill(&request, &err))
        return EXIT_OK;
    cli_error(&err);
    return EXIT_FAILED;
}

const struct command cmd_backfill = {
    .name = "backfill",
    .operands = "ft/NAME",
    .summary = "Have a FlowTrigger make the flows of past scheduled times",
    .details =
        "A time whose flow exists is left alone, unless --rerun says otherwise. The flow of a time "
        "has the same name whatever made it, so no time runs twice. The schedule goes on as "
        "before, and a suspended trigger has backfills, too.\n"
        "'jobflow describe' shows the progress; --cancel ends it.",
    .examples = "  jobflow backfill ft/nightly --from 2026-10-01 --to 2026-10-31 --dry-run\n"
                "  jobflow backfill ft/nightly --from 2026-10-01 --to 2026-10-31 --parallelism 4\n"
                "  jobflow backfill ft/nightly --from 2026-10-01 --to 2026-10-31 --rerun failed",
    .flags = flags,
    .options_size = sizeof(struct backfill_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = 1,
    .operand_kind = "resource",
    .run = run,
};
