/*
 * Opens the client, checks which server answers, and sends the requests.
 */
#include "cli/cmd/object/submit_call.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command/command.h"

static const char start_one[] =
    "start one with 'jobflow serve'; 'jobflow run FILE' runs manifests without one";

struct client *submit_open(const struct client_endpoint *endpoint, int *out_code)
{
    struct error err = {0};
    struct client *client = client_open_at(endpoint, CLIENT_LOOK, &err);

    *out_code = EXIT_INTERNAL;
    if (!client) {
        cli_errorf("%s%sno server takes submissions: %s", err.message, *err.message ? "; " : "",
                   start_one);
        return NULL;
    }
    if (client_is_daemon(client))
        return client;
    if (client_endpoint_is_server(endpoint)) {
        cli_errorf("this API server is not 'jobflow serve' and takes no submissions: create vcjobs "
                   "with 'jobflow apply', whose annotations say the same");
        *out_code = EXIT_REFUSED;
    } else if (client_is_live(client)) {
        cli_errorf("a run has this directory, and it takes no submissions: %s", start_one);
    } else {
        scoped_str why = client_not_live_reason(client);

        cli_errorf("%s: %s", why, start_one);
    }
    client_close(client);
    return NULL;
}

json_t *submit_post(struct client *client, const char *path, const json_t *body, int *out_status,
                    struct error *err)
{
    char *text = json_dumps(body, JSON_COMPACT);
    scoped(client_call) struct client_call call = {.method = "POST",
                                                   .content_type = "application/json",
                                                   .target = path,
                                                   .body = text,
                                                   .body_len = strlen(text)};
    json_t *out = NULL;

    client_do(client, &call, err);
    free(text);
    *out_status = call.status;
    if (call.status == 0)
        return NULL;
    out = json_loadb(call.text.data ? call.text.data : "", call.text.len, 0, NULL);
    if (!out)
        error_set(err, ERR_INTERNAL, "", "the server's answer is not JSON (status %d)",
                  call.status);
    return out;
}

void submit_print_problems(const json_t *answer)
{
    const json_t *details = json_object_get(answer, "details"), *detail;
    const char *message = json_string_value(json_object_get(answer, "message"));
    size_t i;

    json_array_foreach((json_t *)(uintptr_t)details, i, detail)
    {
        const char *field = json_string_value(json_object_get(detail, "field"));

        cli_errorf("%s%s%s", field ? field : "", field && *field ? ": " : "",
                   json_string_value(json_object_get(detail, "message")));
    }
    if (json_array_size(details) == 0)
        cli_errorf("%s", message ? message : "the server refused the request");
}

bool submit_check_text(const char *text, struct error *err)
{
    scoped(json) json_t *sent = json_string(text);

    return sent || error_set(err, ERR_INVALID, "", "is not UTF-8, and cannot be sent");
}

bool submit_words_are_text(int n, char *const *words)
{
    for (int i = 0; i < n; i++) {
        scoped(json) json_t *text = json_string(words[i]);

        if (!text) {
            cli_errorf("word %d is not UTF-8, and cannot be sent: %s", i + 1, words[i]);
            return false;
        }
    }
    return true;
}
