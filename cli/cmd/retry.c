/*
 * The command `jobflow retry`: sets an annotation that asks for a retry.
 *
 * The flow controller acts on the annotation: at once in a running process, otherwise in the next
 * run.
 */
#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "base/clock.h"
#include "cli/client/client.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"

struct retry_options {
    struct client_place place;
    const char *namespace;
};

#define RETRY(member) offsetof(struct retry_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR, "namespace", 'n', "NAME", "namespace of the flow; default: that of the kubeconfig, or default", RETRY(namespace)},
    CLIENT_PLACE_FLAGS(RETRY(place)),
    {0},
};
/* clang-format on */

static const struct retry_options defaults = {.place = CLIENT_PLACE_USUAL};

static bool check_failed(struct client *client, const char *path, const char *name,
                         struct error *err)
{
    scoped(json) json_t *flow = client_get(client, path, err);
    const json_t *state = json_object_get(json_object_get(flow, "status"), "state");
    const char *phase = json_string_value(json_object_get(state, "phase"));

    if (!flow)
        return false;
    return (phase && strcmp(phase, flow_phase_text(FLOW_FAILED)) == 0) ||
           error_set(err, ERR_CONFLICT, "",
                     "jobflow \"%s\" is %s: only a flow that has failed can be retried", name,
                     phase && *phase ? phase : "not begun");
}

static bool retry(struct client *client, const char *ns, const char *name, struct error *err)
{
    scoped(buf) struct buf path = {0}, body = {0};
    scoped(client_call) struct client_call call = {.method = "PATCH",
                                                   .content_type = "application/merge-patch+json"};
    char value[CLOCK_UUID_LEN + 1];

    resource_write_path(&kind_job_flow, ns, name, &path);
    if (!check_failed(client, path.data, name, err))
        return false;
    clock_uuid(clock_real(), value);
    buf_printf(&body,
               "{\"metadata\":{\"annotations\":{\"" ANNOTATION_FLOW_RETRY
               "\":\"%s\",\"" ANNOTATION_FLOW_ABORT "\":null}}}",
               value);
    call.target = path.data;
    call.body = body.data;
    call.body_len = body.len;
    if (!client_do(client, &call, err))
        return false;
    buf_clear(&body);
    resource_write_name(&kind_job_flow, name, &body);
    printf("%s %s\n", body.data,
           client_is_live(client) ? "retried" : "is retried by the next 'jobflow run' of its file");
    return true;
}

static bool parse(int n, char **words, struct resources *out, struct error *err)
{
    if (!resources_parse(n, words, out, err))
        return strchr(words[0], '/') ? false
                                     : error_set(err, ERR_BAD_REQUEST, "",
                                                 "\"%s\" is not of the form jf/NAME: write jf/%s",
                                                 words[0], words[0]);
    for (size_t i = 0; i < out->count; i++)
        if (out->items[i].kind != &kind_job_flow || !out->items[i].name)
            return error_set(err, ERR_BAD_REQUEST, "",
                             "only flows are retried: name them, as in '%s retry jf/NAME'",
                             cli_program);
    return true;
}

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct retry_options *options = opaque;
    scoped(resources) struct resources flows = {0};
    scoped(client) struct client *client = NULL;
    struct error err = {0};
    int code = EXIT_OK;

    if (!parse(n_operands, operands, &flows, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    client = client_open_at(&options->place, CLIENT_CHANGE, &err);
    if (!client) {
        cli_error(&err);
        return client_open_failed(&err);
    }
    for (size_t i = 0; i < flows.count; i++) {
        err = (struct error){0};
        if (retry(client, client_namespace(client, options->namespace), flows.items[i].name, &err))
            continue;
        cli_error(&err);
        code = EXIT_FAILED;
    }
    return code;
}

const struct command cmd_retry = {
    .name = "retry",
    .operands = "jf/NAME…",
    .summary = "Run the failed and never-run steps of failed flows again, keep completed ones",
    .details = "The jobs of failed steps are removed and made again with the same names; each "
               "attempt stays in the flow's record. Without\n"
               "a process at work in the data directory, the next run goes on with the flow.",
    .examples = "  jobflow retry jf/pipeline",
    .flags = flags,
    .options_size = sizeof(struct retry_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "resource",
    .run = run,
};
