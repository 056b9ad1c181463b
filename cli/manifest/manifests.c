/*
 * Loads files into documents with line numbers, splits Lists into their items, and prints findings
 * with file, line and field.
 */
#include "cli/manifest/manifests.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/types/schema/flow_reference.h"
#include "base/file.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "cli/command/command.h"
#include "cli/manifest/submission.h"

/* Enough for the largest supported flow (10^6 steps) with its templates. YAML alias bombs are
 * stopped by a limit on their expanded size. */
static const size_t file_max_bytes = (size_t)512 << 20;

struct manifest_file {
    char *name;
    struct yaml_stream *stream;
    char **paths; /* paths of the directory's entries, [n_paths] */
    size_t n_paths, cap;
    json_t *made; /* objects of submissions; owned, or NULL */
    bool is_lent; /* the stream is borrowed */
};

/* Appends the path in the file of a field of the manifest's object. */
static void write_path(const struct manifest *manifest, const char *field, struct buf *out)
{
    static const char task[] = "spec.tasks[", first[] = "spec.tasks[0].template.spec";
    bool of_task = strncmp(field, task, strlen(task)) == 0;
    const char *rest = of_task ? strchr(field, ']') : NULL;

    buf_str(out, manifest->path);
    if (manifest->origin == MANIFEST_WRITTEN)
        buf_printf(out, "%s%s", manifest->path[0] && field[0] ? "." : "", field);
    else if (manifest->origin == MANIFEST_POD && strncmp(field, first, strlen(first)) == 0)
        buf_printf(out, ".mainObject.podSpec%s", field + strlen(first));
    else if (manifest->origin == MANIFEST_GROUP && rest)
        buf_printf(out, ".mainObject.podGroupSpec.subsets[%.*s%s",
                   (int)(rest - field - (long)strlen(task)), field + strlen(task), rest);
    else if (manifest->origin != MANIFEST_PART)
        buf_str(out, ".mainObject");
}

size_t manifest_line(const struct manifest *manifest, const char *field)
{
    scoped(buf) struct buf path = {0};

    write_path(manifest, field, &path);
    return yaml_line(manifest->stream, manifest->document, path.data ? path.data : "");
}

#define OF_TYPE "must be of type "

/* Returns the value at a path such as "spec.tasks[0].name" or "requests[cpu]", or NULL. Borrowed.
 */
static const json_t *value_at(const json_t *value, const char *path)
{
    while (value && *path) {
        size_t bare = strcspn(path, ".[");
        size_t len = *path == '[' ? strcspn(path + 1, "]") : bare;
        const char *key = *path == '[' ? path + 1 : path;

        if (json_is_array(value)) {
            value = json_array_get(value, strtoul(key, NULL, 10));
        } else {
            char member[256];

            snprintf(member, sizeof member, "%.*s", (int)len, key);
            value = json_object_get(value, member);
        }
        path = key + len;
        path += *path == ']';
        path += *path == '.';
    }
    return value;
}

/* Appends a value for a message, shortened to one line. */
static void write_value(const json_t *value, struct buf *out)
{
    enum { VALUE_MAX = 60 };
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

    if (text)
        buf_str_short(out, text, VALUE_MAX);
    free(text);
}

/* Returns true for values that messages never quote (SEC-30): data of Secrets, and arguments of the
 * ssh plugin, which may be private keys. */
static bool is_secret(const struct manifest *manifest, const char *field)
{
    return strstr(field, "plugins[ssh]") ||
           (manifest->kind == &kind_secret &&
            (strncmp(field, "data", strlen("data")) == 0 ||
             strncmp(field, "stringData", strlen("stringData")) == 0));
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* Appends a hint for writing a value of the wrong type correctly, when the intended value is clear.
 */
static void write_hint(const char *type, const json_t *value, const char *field, struct buf *out)
{
    bool is_scalar = value && !json_is_object(value) && !json_is_array(value);

    if (*flow_ref_hint(json_string_value(value))) {
        buf_str(out, flow_ref_hint(json_string_value(value)));
    } else if (strcmp(type, "string") == 0 && is_scalar && !json_is_null(value)) {
        buf_str(out, "; put it in quotes");
        if (json_is_boolean(value))
            buf_str(out, ": YAML takes y, yes and on for true, and n, no and off for false");
        if (json_is_integer(value)) { /* other values have several spellings, such as no or 1.10 */
            buf_str(out, ": \"");
            write_value(value, out);
            buf_char(out, '"');
        }
    } else if (strcmp(type, "array") == 0 && is_scalar && !json_is_null(value)) {
        buf_str(out, ends_with(field, "command") && json_is_string(value) &&
                             strchr(json_string_value(value), ' ')
                         ? "; as a list it is [\"sh\", \"-c\", "
                         : "; as a list it is [");
        write_value(value, out);
        buf_char(out, ']');
    } else if (strcmp(type, "object") == 0 && (json_is_array(value) || json_is_string(value)) &&
               ends_with(field, "dependsOn")) {
        buf_str(out, json_is_array(value) ? "; write {targets: " : "; write {targets: [");
        write_value(value, out);
        buf_str(out, json_is_array(value) ? "}" : "]}");
    }
}

/* Appends a message without the words that the API has for other programs: the field's name, which
 * is printed before it, and the sentence that clients of Volcano look for. */
static void write_short(const struct error *err, struct buf *out)
{
    static const char *const naming[] = {"unknown field", "duplicate field"};
    const char *message = err->message;
    const char *aside = strstr(message, " (jobflow Flow is not DAG: ");

    for (size_t i = 0; i < countof(naming); i++) {
        scoped_str named = mem_printf("%s \"%s\"", naming[i], err->field);

        if (strncmp(message, named, strlen(named)) != 0)
            continue;
        buf_str(out, naming[i]);
        message += strlen(named);
    }
    buf_add(out, message, aside ? (size_t)(aside - message) : strlen(message));
}

/* Appends the message of a finding. The API's message, worded as in Kubernetes, repeats the field
 * and gives only the type of a wrong value; beside a file's line, this prints a shorter text with
 * the value. */
static void write_message(const struct manifest *manifest, const struct error *err, struct buf *out)
{
    scoped(buf) struct buf again = {0};
    const char *message = err->message, *place, *type;

    buf_printf(&again, "%s in body ", err->field);
    place = err->field[0] ? strstr(message, again.data) : NULL;
    if (!place) {
        write_short(err, out);
        return;
    }
    place += again.len;
    type = strncmp(place, OF_TYPE, strlen(OF_TYPE)) == 0 ? place + strlen(OF_TYPE) : NULL;
    if (type) {
        const json_t *value = value_at(manifest->doc, err->field);
        scoped_str wanted = mem_printf("%.*s", (int)strcspn(type, ":"), type);

        buf_str(out, "Invalid value: ");
        if (!is_secret(manifest, err->field)) {
            write_value(value, out);
            buf_str(out, ": ");
        }
        buf_printf(out, OF_TYPE "%s", wanted);
        if (!is_secret(manifest, err->field))
            write_hint(wanted, value, err->field, out);
        return;
    }
    buf_add(out, message, (size_t)(place - again.len - message));
    buf_str(out, place);
}

void manifest_print(const struct manifest *manifest, const char *severity, const struct error *err)
{
    scoped(buf) struct buf message = {0}, path = {0};

    write_message(manifest, err, &message);
    if (manifest->origin != MANIFEST_WRITTEN)
        write_path(manifest, err->field, &path);
    fprintf(stderr, "%s: %s:%zu: ", severity, manifest->file, manifest_line(manifest, err->field));
    if (path.len > 0 || err->field[0])
        fprintf(stderr, "%s: ", path.len > 0 ? path.data : err->field);
    fprintf(stderr, "%s\n", message.data ? message.data : "");
}

static bool add_object(struct manifests *set, struct manifest_file *file, size_t document,
                       const char *path, json_t *doc)
{
    struct manifest manifest = {
        .file = file->name, .stream = file->stream, .document = document, .path = path, .doc = doc};
    const char *api_version = json_string_value(json_object_get(doc, "apiVersion"));
    const char *kind = json_string_value(json_object_get(doc, "kind"));
    struct error err = {0};

    if (!json_is_object(doc))
        error_set(&err, ERR_INVALID, "", "must be an object with apiVersion, kind and metadata");
    else if (submission_is(doc))
        error_set(
            &err, ERR_INVALID, "",
            "this is a submission, not a manifest: 'jobflow submit FILE' sends it to a daemon, "
            "and 'jobflow run FILE' runs it without one");
    else if (!api_version && !kind && json_object_get(doc, "manifests"))
        error_set(&err, ERR_INVALID, "",
                  "this is a file of flow tests, not a manifest; run it with 'jobflow test FILE'");
    else if (!api_version)
        error_set(
            &err, ERR_INVALID, "apiVersion",
            "is missing; write apiVersion: flow.volcano.sh/v1alpha1 for a JobFlow or JobTemplate, "
            "batch.volcano.sh/v1alpha1 for a Job");
    else if (!kind)
        error_set(&err, ERR_INVALID, "kind", "is missing; write kind: JobFlow, JobTemplate or Job");
    else if (!(manifest.kind = kind_by_gvk(api_version, kind))) {
        const struct kind *near = kind_nearest(kind);

        if (near)
            error_set(&err, ERR_INVALID, strcmp(near->name, kind) == 0 ? "apiVersion" : "kind",
                      "no kind \"%s\" in \"%s\"; did you mean %s in %s?", kind, api_version,
                      near->name, kind_api_version(near));
        else
            error_set(
                &err, ERR_INVALID, "kind",
                "no kind \"%s\" in \"%s\"; what runs here is a JobFlow, JobTemplate or Job, with "
                "what they use (ConfigMap, Secret, PersistentVolumeClaim, Service, Queue, …)",
                kind, api_version);
    }
    if (err.code != ERR_NONE) {
        manifest_print(&manifest, "error", &err);
        return false;
    }
    if (!manifest.kind->namespaced) /* ignored by every server, so that look-ups need no care */
        json_object_del(json_object_get(doc, "metadata"), "namespace");
    mem_grow(set->items, set->count, set->cap);
    set->items[set->count++] = manifest;
    return true;
}

static bool is_list(const json_t *doc)
{
    const char *kind = json_string_value(json_object_get(doc, "kind"));
    const char *api_version = json_string_value(json_object_get(doc, "apiVersion"));

    return kind && api_version && strcmp(kind, "List") == 0 && strcmp(api_version, "v1") == 0;
}

static bool add_list(struct manifests *set, struct manifest_file *file, size_t document,
                     json_t *doc)
{
    size_t index;
    json_t *entry;
    bool ok = true;

    json_array_foreach(json_object_get(doc, "items"), index, entry)
    {
        mem_grow(file->paths, file->n_paths, file->cap);
        file->paths[file->n_paths] = mem_printf("items[%zu]", index);
        ok &= add_object(set, file, document, file->paths[file->n_paths++], entry);
    }
    return ok;
}

static void print_problems(const struct manifest_file *file, size_t document, const char *severity,
                           const struct submit_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        const struct submit_problem *problem = &problems->items[i];

        fprintf(stderr, "%s: %s:%zu: %s%s%s\n", severity, file->name,
                yaml_line(file->stream, document, problem->field), problem->field,
                *problem->field ? ": " : "", problem->message);
    }
}

/* Adds the objects of an item. `path` is that of the item. */
static void add_made(struct manifests *set, struct manifest_file *file, size_t document,
                     const char *path, const struct submission_objects *made)
{
    size_t n = json_array_size(made->docs);

    for (size_t i = 0; i < n; i++) {
        json_t *doc = json_array_get(made->docs, i);
        bool is_job = i + 1 == n;
        struct manifest manifest = {
            .file = file->name,
            .stream = file->stream,
            .document = document,
            .origin = !is_job          ? MANIFEST_PART
                      : made->is_group ? MANIFEST_GROUP
                                       : MANIFEST_POD,
            .doc = doc,
            .kind = kind_by_gvk(json_string_value(json_object_get(doc, "apiVersion")),
                                json_string_value(json_object_get(doc, "kind")))};

        mem_grow(file->paths, file->n_paths, file->cap);
        file->paths[file->n_paths] = is_job             ? mem_strdup(path)
                                     : made->one_by_one ? mem_printf("%s.objects[%zu]", path, i)
                                                        : mem_printf("%s.objects", path);
        manifest.path = file->paths[file->n_paths++];
        mem_grow(set->items, set->count, set->cap);
        set->items[set->count++] = manifest;
    }
    json_array_append(file->made, made->docs);
}

static bool add_submission(struct manifests *set, struct manifest_file *file, size_t document,
                           json_t *doc)
{
    const char *key;
    struct submit_problems problems = {0}, warnings = {0};
    size_t count;
    bool ok;

    submission_set_defaults(doc, file->name, NULL, NULL);
    count =
        submission_check_head(doc, &problems) ? json_array_size(submission_items(doc, &key)) : 0;
    file->made = file->made ? file->made : json_array();
    set->submitted = set->submitted ? set->submitted : json_object();
    for (size_t i = 0; i < count; i++) {
        const struct submission_place place = {file->name, document, i};
        struct submission_objects made;
        scoped_str path = mem_printf("%s[%zu]", key, i);

        submission_make(doc, &place, set->submitted, &made, &problems, &warnings);
        add_made(set, file, document, path, &made);
        json_decref(made.docs);
    }
    print_problems(file, document, "error", &problems);
    print_problems(file, document, "warning", &warnings);
    ok = problems.count == 0;
    submit_problems_release(&problems);
    submit_problems_release(&warnings);
    return ok;
}

bool manifests_add_submission(struct manifests *set, const char *name, struct yaml_stream *stream,
                              size_t document, json_t *doc)
{
    mem_grow(set->files, set->n_files, set->files_cap);
    set->files[set->n_files++] =
        (struct manifest_file){.name = mem_strdup(name), .stream = stream, .is_lent = true};
    return add_submission(set, &set->files[set->n_files - 1], document, doc);
}

/* Parses a word followed by a number at `*at` and advances `*at` past them. */
static bool take_number(const char **at, const char *word, unsigned long *out)
{
    size_t len = strlen(word);
    char *end;

    if (strncmp(*at, word, len) != 0)
        return false;
    *out = strtoul(*at + len, &end, 10);
    *at = end;
    return true;
}

/* Prints the parser's "line 3, column 5: text" as "FILE:3:5: text", which editors can open. */
static void print_syntax_error(const char *name, const char *message)
{
    unsigned long line, column;
    const char *at = message;

    if (take_number(&at, "line ", &line) && take_number(&at, ", column ", &column) &&
        strncmp(at, ": ", 2) == 0)
        cli_errorf("%s:%lu:%lu: %s", name, line, column, at + 2);
    else
        cli_errorf("%s: %s", name, message);
}

static bool add_stream(struct manifests *set, const char *name, const struct buf *text)
{
    struct error err = {0};
    struct yaml_stream *stream =
        yaml_parse(text->data ? text->data : "", text->len, &yaml_limits_default, &err);
    bool ok = true;

    if (!stream) {
        print_syntax_error(name, err.message);
        return false;
    }
    mem_grow(set->files, set->n_files, set->files_cap);
    set->files[set->n_files++] = (struct manifest_file){.name = mem_strdup(name), .stream = stream};

    struct manifest_file *file = &set->files[set->n_files - 1];

    if (yaml_count(stream) == 0) {
        cli_errorf("%s: is empty: no object in it", name);
        return false;
    }
    for (size_t i = 0; i < yaml_count(stream); i++) {
        json_t *doc = yaml_document(stream, i);

        if (set->takes_submissions && submission_is(doc))
            ok &= add_submission(set, file, i, doc);
        else
            ok &= is_list(doc) ? add_list(set, file, i, doc) : add_object(set, file, i, "", doc);
    }
    return ok;
}

/* Loads one operand: a file, or any other readable path such as a pipe of `<(generate)`. */
static bool load_file(struct manifests *set, const char *operand)
{
    bool is_stdin = strcmp(operand, "-") == 0;
    const char *name = is_stdin ? "standard input" : operand;
    int fd = is_stdin ? STDIN_FILENO : open(operand, O_RDONLY | O_CLOEXEC);
    scoped(buf) struct buf text = {0};
    struct error err = {0};
    bool ok = fd >= 0 ? file_read_stream(fd, name, file_max_bytes, &text, &err)
                      : error_errno(&err, errno, "%s", name);

    if (fd >= 0 && !is_stdin)
        close(fd);
    if (!ok) {
        cli_errorf("%s", err.message);
        return false;
    }
    return add_stream(set, name, &text);
}

static int is_manifest_name(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return entry->d_name[0] != '.' && dot && !strstr(entry->d_name, ".test.") &&
           (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

static bool load_directory(struct manifests *set, const char *name)
{
    struct dirent **entries = NULL;
    int n = scandir(name, &entries, is_manifest_name, alphasort);
    bool ok = true;

    if (n <= 0) {
        cli_errorf("%s: no *.yaml, *.yml or *.json file in this directory", name);
        ok = false;
    }
    for (int i = 0; i < n; i++) {
        size_t len = strlen(name);
        scoped_str path =
            mem_printf("%s%s%s", name, len && name[len - 1] == '/' ? "" : "/", entries[i]->d_name);

        ok &= load_file(set, path);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

bool manifests_load(struct manifests *set, int n_operands, char *const *operands)
{
    bool ok = true;

    for (int i = 0; i < n_operands; i++) {
        struct stat info;

        if (strcmp(operands[i], "-") != 0 && stat(operands[i], &info) == 0 && S_ISDIR(info.st_mode))
            ok &= load_directory(set, operands[i]);
        else
            ok &= load_file(set, operands[i]);
    }
    return ok;
}

void manifests_release(struct manifests *set)
{
    for (size_t i = 0; i < set->n_files; i++) {
        struct manifest_file *file = &set->files[i];

        for (size_t j = 0; j < file->n_paths; j++)
            mem_free(file->paths[j]);
        mem_free(file->paths);
        json_decref(file->made);
        mem_free(file->name);
        if (!file->is_lent)
            yaml_stream_free(file->stream);
    }
    mem_free(set->files);
    mem_free(set->items);
    json_decref(set->submitted);
    *set = (struct manifests){0};
}

struct release {
    struct pool_work work;
    struct manifests set;
};

static void release_run(struct pool_work *work)
{
    manifests_release(&container_of(work, struct release, work)->set);
}

static void release_done(struct pool_work *work)
{
    mem_free(container_of(work, struct release, work));
}

void manifests_release_aside(struct manifests *set, struct loop *loop)
{
    struct release *release = mem_alloc(sizeof *release);

    release->work.run = release_run;
    release->work.done = release_done;
    release->set = *set;
    *set = (struct manifests){0};
    loop_work(loop, &release->work);
}

void manifest_docs_copy(const struct manifests *set, struct manifest_docs *out)
{
    *out = (struct manifest_docs){mem_array(set->count + 1, sizeof *out->items), set->count};
    for (size_t i = 0; i < set->count; i++)
        out->items[i] = json_deep_copy(set->items[i].doc);
}

void manifest_docs_release(struct manifest_docs *docs)
{
    for (size_t i = 0; i < docs->count; i++)
        json_decref(docs->items[i]);
    mem_free(docs->items);
    *docs = (struct manifest_docs){0};
}
