/*
 * Reads the options of a write from the query: dryRun, fieldValidation, fieldManager and
 * settle. Ref: spec/kube-api.md 6.4, 10.5, 11.2.
 */
#include <ctype.h>
#include <string.h>

#include "api/server/rest/internal.h"

enum { MANAGER_BYTES_MAX = 128 };

void write_release(struct write *write)
{
    error_list_release(&write->errors);
    error_list_release(&write->warnings);
    error_list_release(&write->strict);
}

static bool parse_validation(struct write *write, const struct api_call *call, struct error *err)
{
    static const struct {
        const char *text;
        enum schema_unknown unknown;
        bool warn;
    } validations[] = {
        {"", UNKNOWN_PRUNE, true},
        {"Warn", UNKNOWN_PRUNE, true},
        {"Ignore", UNKNOWN_PRUNE, false},
        {"Strict", UNKNOWN_ERROR, true},
    };
    const char *text = request_query(&call->target, "fieldValidation");

    for (size_t i = 0; i < countof(validations); i++)
        if (strcmp(validations[i].text, text ? text : "") == 0) {
            write->how.unknown = validations[i].unknown;
            write->how.warnings = validations[i].warn ? &write->warnings : NULL;
            return true;
        }
    return error_set(err, ERR_INVALID, "fieldValidation",
                     "Unsupported value: \"%s\": supported values: \"\", \"Ignore\", \"Strict\", "
                     "\"Warn\"",
                     text);
}

bool dry_run_parse(const struct request_target *target, enum registry_dry_run *out,
                   struct error *err)
{
    *out = REGISTRY_APPLY;
    for (size_t i = 0; i < target->n_pairs; i++) {
        if (strcmp(target->keys[i], "dryRun") != 0)
            continue;
        if (strcmp(target->values[i], "All") != 0)
            return error_set(err, ERR_INVALID, "dryRun",
                             "Unsupported value: []string{\"%s\"}: supported values: \"All\"",
                             target->values[i]);
        *out = REGISTRY_DRY_RUN;
    }
    return true;
}

/* The field manager is named in the query; otherwise it is the user agent up to its first '/'. */
static bool parse_manager(struct write *write, const struct api_call *call, struct error *err)
{
    const char *name = request_query(&call->target, "fieldManager");
    const char *agent = call->request->user_agent ? call->request->user_agent : "unknown";
    size_t len = strcspn(agent, "/");

    write->manager_given = name && *name;
    if (!write->manager_given)
        name = arena_strndup(call->arena, agent,
                             len < MANAGER_BYTES_MAX ? len : (size_t)MANAGER_BYTES_MAX);
    if (strlen(name) > MANAGER_BYTES_MAX)
        return error_set(err, ERR_INVALID, "fieldManager", "Too long: must have at most %d bytes",
                         MANAGER_BYTES_MAX);
    for (const char *c = name; *c; c++)
        if (!isprint((unsigned char)*c) && (unsigned char)*c < 0x80)
            return error_set(err, ERR_INVALID, "fieldManager",
                             "Invalid value: \"%s\": should only contain printable characters",
                             name);
    write->how.manager = *name ? name : "unknown";
    return true;
}

/* A created job or flow settles unless the client says that it will not write it again. */
static bool parse_settle(struct write *write, const struct api_call *call, struct error *err)
{
    const char *text = request_query(&call->target, "settle");

    if (text && strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return error_set(err, ERR_INVALID, "settle",
                         "Unsupported value: \"%s\": supported values: \"true\", \"false\"", text);
    write->how.settles = !text || strcmp(text, "true") == 0;
    return true;
}

bool write_init(struct write *write, const struct api_call *call, struct error *err)
{
    *write = (struct write){0};
    return dry_run_parse(&call->target, &write->how.dry_run, err) &&
           parse_validation(write, call, err) && parse_manager(write, call, err) &&
           parse_settle(write, call, err);
}
