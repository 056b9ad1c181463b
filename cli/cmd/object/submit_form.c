/*
 * Reads submission files. Every item gets a deduplication id, so that a request may be sent again
 * when its answer was lost.
 */
#include "cli/cmd/object/submit_form.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/cmd/object/submit_call.h"
#include "cli/manifest/submission.h"

enum { FILE_BYTES_MAX = 64 << 20 };

static void add_ids(json_t *items)
{
    json_t *item;
    size_t i;

    json_array_foreach(items, i, item)
    {
        char id[CLOCK_UUID_LEN + 1];

        if (json_object_get(item, "deduplicationId") || json_object_get(item, "deduplication_id"))
            continue;
        clock_uuid(clock_real(), id);
        json_object_set_new(item, "deduplicationId", json_string(id));
    }
}

static void set_namespace(json_t *items, const char *namespace)
{
    json_t *item;
    size_t i;

    json_array_foreach(items, i, item)
    {
        if (namespace)
            json_object_set_new(item, "namespace", json_string(namespace));
    }
}

static void add_request(struct submit_form *form, json_t *document,
                        const struct submit_flags *flags)
{
    json_t *items = submission_items(document, NULL);

    submission_set_defaults(document, form->name, flags->queue, flags->job_set);
    add_ids(items);
    set_namespace(items, flags->namespace);
    json_array_append(form->requests, document);
}

bool submit_form_read(struct submit_form *form, const char *file, const struct submit_flags *flags)
{
    scoped(buf) struct buf text = {0};
    struct error err = {0};
    bool is_stdin = strcmp(file, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 ? file_read_stream(fd, file, FILE_BYTES_MAX, &text, &err)
                      : error_set(&err, ERR_NOT_FOUND, "", "%s cannot be opened", file);

    if (fd >= 0 && !is_stdin)
        close(fd);
    *form = (struct submit_form){.requests = json_array(), .name = file};
    form->lines =
        ok ? yaml_parse(text.data ? text.data : "", text.len, &yaml_limits_default, &err) : NULL;
    if (!form->lines) {
        cli_errorf("%s: %s", file, err.message);
        return false;
    }
    for (size_t i = 0; i < yaml_count(form->lines); i++) {
        json_t *document = yaml_document(form->lines, i);

        if (!json_is_object(document)) {
            cli_errorf("%s: a document is no submission: it must have queue, jobSetId and jobs",
                       file);
            return false;
        }
        add_request(form, document, flags);
    }
    if (json_array_size(form->requests) == 0)
        cli_errorf("%s: has no document", file);
    return json_array_size(form->requests) > 0;
}

static json_t *resources_of(const struct submit_flags *flags)
{
    json_t *requests = json_object();

    if (flags->cpu)
        json_object_set_new(requests, "cpu", json_string(flags->cpu));
    if (flags->memory)
        json_object_set_new(requests, "memory", json_string(flags->memory));
    return json_pack("{s:o}", "requests", requests);
}

void submit_form_of_program(struct submit_form *form, int n_words, char **words,
                            const struct submit_flags *flags)
{
    json_t *command = json_array(), *main, *item, *document;

    for (int i = 0; i < n_words; i++) { /* $(NAME) is text here: the shell has replaced its own */
        scoped(buf) struct buf word = {0};

        for (const char *c = words[i]; *c; c++)
            buf_str(&word, *c == '$' ? "$$" : (char[]){*c, '\0'});
        json_array_append_new(command, json_string(word.data ? word.data : ""));
    }
    main = json_pack("{s:{s:[{s:s, s:o, s:o}]}}", "podSpec", "containers", "name",
                     flags->role ? flags->role : "main", "command", command, "resources",
                     resources_of(flags));
    item = json_pack("{s:o, s:I}", "mainObject", main, "priority", (json_int_t)flags->priority);
    if (flags->lifetime_ms > 0)
        json_object_set_new(item, "lifetime", json_integer((flags->lifetime_ms + 999) / 1000));
    if (flags->at_most_once)
        json_object_set_new(item, "atMostOnce", json_true());
    if (flags->dedup)
        json_object_set_new(item, "deduplicationId", json_string(flags->dedup));
    document = json_pack("{s:[o]}", "jobs", item);
    *form = (struct submit_form){.requests = json_array(), .name = "program"};
    add_request(form, document, flags);
    json_decref(document);
}

void submit_form_release(struct submit_form *form)
{
    json_decref(form->requests);
    yaml_stream_free(form->lines);
}

/* Returns a field of the server in the spelling of the file: jobs instead of jobRequestItems. */
static char *path_in_file(const struct submit_form *form, size_t request, const char *field)
{
    static const char items[] = "jobRequestItems";
    const json_t *document = json_array_get(form->requests, request);

    if (strncmp(field, items, strlen(items)) == 0 && json_object_get(document, "jobs"))
        return mem_printf("jobs%s", field + strlen(items));
    return mem_strdup(field);
}

void submit_form_print(const struct submit_form *form, size_t request, const json_t *answer)
{
    const json_t *details = json_object_get(answer, "details"), *detail;
    size_t i;

    if (!form->lines || json_array_size(details) == 0) {
        submit_print_problems(answer);
        return;
    }
    json_array_foreach((json_t *)(uintptr_t)details, i, detail)
    {
        const char *field = json_string_value(json_object_get(detail, "field"));
        scoped_str path = path_in_file(form, request, field ? field : "");

        cli_errorf("%s:%zu: %s%s%s", form->name, yaml_line(form->lines, request, path), path,
                   *path ? ": " : "", json_string_value(json_object_get(detail, "message")));
    }
}
