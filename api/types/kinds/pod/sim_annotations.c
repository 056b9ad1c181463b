/*
 * Parses both annotations as lists separated by commas: durations by container, exit codes by run.
 */
#include "api/types/kinds/pod/sim_annotations.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/pod/pod.h"
#include "base/timefmt.h"

/* An element of a list, not terminated. */
struct part {
    const char *text;
    size_t len;
};

/* Takes the next element off `*list`; false at the end. */
static bool next_part(const char **list, struct part *out)
{
    if (!*list)
        return false;
    out->text = *list;
    out->len = strcspn(*list, ",");
    *list = out->text[out->len] ? out->text + out->len + 1 : NULL;
    return true; /* the text after a last comma is an empty element */
}

static bool parse_duration(const char *text, size_t len, int64_t *out_ns)
{
    char copy[TIME_TEXT_MAX];

    if (len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return duration_parse(copy, out_ns, NULL) && *out_ns >= 0;
}

static bool parse_code(const struct part *part, int *out)
{
    char *end;
    long code = strtol(part->text, &end, 10);

    if (end == part->text || end != part->text + part->len || code < 0 || code > 255)
        return false;
    *out = (int)code;
    return true;
}

/* Accepts "c=5s" when `named`, and "5s" otherwise. */
static bool check_duration(const struct part *part, bool named)
{
    const char *equals = memchr(part->text, '=', part->len);
    size_t name = equals ? (size_t)(equals - part->text) + 1 : 0;
    int64_t ns;

    return named == (name > 1) && parse_duration(part->text + name, part->len - name, &ns);
}

void pod_sim_check(const char *durations, const char *exit_codes, const char *path,
                   struct error_list *errors)
{
    bool named = durations && strchr(durations, '=');
    const char *list = durations;
    struct part part;
    int code;

    while (next_part(&list, &part))
        if (!check_duration(&part, named) || (!named && list))
            FINDING(errors, ("%s[" ANNOTATION_SIM_DURATION "]", path),
                    "Invalid value: \"%.*s\": write a duration like 90s or 1h30m, or one for each "
                    "container like c1=5s,c2=1s",
                    (int)part.len, part.text);
    list = exit_codes;
    while (next_part(&list, &part))
        if (!parse_code(&part, &code))
            FINDING(errors, ("%s[" ANNOTATION_SIM_EXIT_CODE "]", path),
                    "Invalid value: \"%.*s\": write an exit code from 0 to 255, or one for each "
                    "attempt like 1,1,0",
                    (int)part.len, part.text);
}

int64_t pod_sim_duration_ns(const char *durations, const char *container)
{
    size_t name = strlen(container);
    const char *list = durations;
    struct part part;
    int64_t ns = 0;

    if (durations && !strchr(durations, '='))
        return parse_duration(durations, strlen(durations), &ns) ? ns : 0;
    while (next_part(&list, &part))
        if (part.len > name && strncmp(part.text, container, name) == 0 && part.text[name] == '=')
            return parse_duration(part.text + name + 1, part.len - name - 1, &ns) ? ns : 0;
    return 0;
}

bool pod_sim_exit_code_varies(const char *exit_codes)
{
    return exit_codes && strchr(exit_codes, ',');
}

int pod_sim_exit_code(const char *exit_codes, size_t run)
{
    const char *list = exit_codes;
    struct part part;
    int code = 0;

    for (size_t at = 0; next_part(&list, &part); at++) {
        if (!parse_code(&part, &code))
            code = 0;
        if (at == run)
            break;
    }
    return code;
}
