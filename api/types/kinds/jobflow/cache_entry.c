/*
 * The field table of CacheEntries, and how their status is written.
 */
#include "api/types/kinds/jobflow/cache_entry.h"

#include "api/types/decoded.h"

#define PART(member)    offsetof(struct cache_part, member)
#define FILE_OF(member) offsetof(struct cache_file, member)
#define TARGET(member)  offsetof(struct cache_target, member)
#define CODE(member)    offsetof(struct cache_code, member)
#define ENTRY(member)   offsetof(struct cache_entry, member)

/* clang-format off */
static const struct field part_fields[] = {
    {"name",   FIELD_STR, PART(name), .pb = 1, .doc = "Path, pattern or word, as it is written."},
    {"digest", FIELD_STR, PART(digest), .pb = 2, .doc = "SHA-256 of names and contents."},
    {"files",  FIELD_I32, PART(files), .pb = 3, .doc = "Number of files and directories."},
    {0},
};
static const struct schema part_schema = {"CachePart", part_fields, sizeof(struct cache_part)};

static const struct field file_fields[] = {
    {"path",   FIELD_STR, FILE_OF(path), .pb = 1, .doc = "Path of the file."},
    {"digest", FIELD_STR, FILE_OF(digest), .pb = 2, .doc = "SHA-256 of the content. Absent for a file that was missing."},
    {"stamp",  FIELD_STR, FILE_OF(stamp), .pb = 3, .doc = "State of the file's inode. While it is the same, the file is not read again."},
    {0},
};
static const struct schema file_schema = {"CacheFile", file_fields, sizeof(struct cache_file)};

static const struct field target_fields[] = {
    {"step",   FIELD_STR, TARGET(step), .pb = 1, .doc = "Name of the target."},
    {"result", FIELD_STR, TARGET(result), .pb = 2, .doc = "What stands for the target's result."},
    {0},
};
static const struct schema target_schema = {"CacheTarget", target_fields, sizeof(struct cache_target)};

static const struct field code_fields[] = {
    {"task",  FIELD_STR, CODE(task), .pb = 1, .doc = "Task of the pod."},
    {"index", FIELD_I32, CODE(index), .pb = 2, .doc = "Position of the pod in its task."},
    {"code",  FIELD_I32, CODE(code), .pb = 3, .doc = "Exit code of the pod."},
    {0},
};
static const struct schema code_schema = {"CacheExitCode", code_fields, sizeof(struct cache_code)};

static const struct field status_fields[] = {
    {"key",          FIELD_STR,     ENTRY(key), .pb = 1, .doc = "Hash of the job's specification and of what belongs to it."},
    {"state",        FIELD_STR,     ENTRY(state), .pb = 2, .doc = "Pending while the job runs, Recorded when its result can be reused."},
    {"flow",         FIELD_STR,     ENTRY(flow), .pb = 3, .doc = "JobFlow whose step ran."},
    {"step",         FIELD_STR,     ENTRY(step), .pb = 4, .doc = "Step of the JobFlow."},
    {"job",          FIELD_STR,     ENTRY(job), .pb = 5, .doc = "Job of the step."},
    {"jobUID",       FIELD_STR,     ENTRY(job_uid), .pb = 6, .doc = "UID of the job."},
    {"madeTime",     FIELD_TIME,    ENTRY(made_ms), .pb = 7, .doc = "Time when the job had completed."},
    {"tookMs",       FIELD_I64,     ENTRY(took_ms), .pb = 8, .doc = "Milliseconds from the creation of the job to its end."},
    {"lastUsedTime", FIELD_TIME,    ENTRY(used_ms), .pb = 9, .doc = "Time when the entry was made or last reused, to the hour."},
    {"used",         FIELD_I32,     ENTRY(used), .pb = 10, .doc = "Number of times the result was reused. Several times within an hour count once."},
    {"apart",        FIELD_BOOL,    ENTRY(apart), .pb = 11, .doc = "Whether the job was started with --no-cache."},
    {"reads",        FIELD_LIST,    ENTRY(reads), &part_schema, .pb = 12, .doc = "What the step reads."},
    {"mentions",     FIELD_LIST,    ENTRY(mentions), &part_schema, .pb = 13, .doc = "Files that the commands of the step name."},
    {"writes",       FIELD_LIST,    ENTRY(writes), &part_schema, .pb = 14, .doc = "What the step writes."},
    {"made",         FIELD_LIST,    ENTRY(made), &part_schema, .pb = 15, .doc = "Files that the commands name and that appeared while the step ran."},
    {"targets",      FIELD_LIST,    ENTRY(targets), &target_schema, .pb = 16, .doc = "Results of the steps that this one depends on."},
    {"files",        FIELD_LIST,    ENTRY(files), &file_schema, .pb = 17, .doc = "The files, unless there are very many."},
    {"outputs",      FIELD_STR_MAP, ENTRY(outputs), .pb = 18, .doc = "Outputs of the step by key."},
    {"exitCodes",    FIELD_LIST,    ENTRY(codes), &code_schema, .pb = 19, .doc = "Exit codes of the job's pods."},
    {0},
};
static const struct schema status_schema = {"CacheEntryStatus", status_fields, sizeof(struct cache_entry)};

static const struct field entry_fields[] = {
    {"spec",   FIELD_ANY,    FIELD_PASS, .pb = 2, .pb_as = PB_JSON, .doc = "The work that the key was made from: job without fields that change no result, reads, writes."},
    {"status", FIELD_OBJECT, FIELD_PASS, &status_schema, .pb = 3, .doc = "What is known of the work of a step."},
    {0},
};
static const struct schema entry_schema = {"CacheEntry", entry_fields, .doc = "The remembered success of a step, which can be reused. It is made by flows whose steps have cache, and read with jobflow cache."};

static const struct column columns[] = {
    {"FLOW",  "string",  "status.flow",         0, "JobFlow whose step ran."},
    {"STEP",  "string",  "status.step",         0, "Step of the JobFlow."},
    {"STATE", "string",  "status.state",        0, "Pending or Recorded."},
    {"MADE",  "date",    "status.madeTime",     0, "Time since the result was made."},
    {"USED",  "integer", "status.used",         0, "Number of times it was reused, at most one an hour."},
    {0},
};
/* clang-format on */

static const struct decoded_type status_type = {.schema = &status_schema};

const struct cache_entry *cache_entry_of(const struct object *entry)
{
    static const struct cache_entry nothing;

    return entry->status ? decoded_of(entry->status, &status_type) : &nothing;
}

static void write_parts(struct jsonw *w, const char *member, const struct cache_parts *parts)
{
    if (!parts->count)
        return;
    jsonw_member_open_list(w, member);
    for (size_t i = 0; i < parts->count; i++) {
        jsonw_open(w);
        jsonw_member_str(w, "name", parts->items[i].name);
        jsonw_member_str_opt(w, "digest", parts->items[i].digest);
        jsonw_member_int_opt(w, "files", parts->items[i].files);
        jsonw_close(w);
    }
    jsonw_close_list(w);
}

static void write_targets(struct jsonw *w, const struct cache_entry *entry)
{
    if (!entry->targets.count)
        return;
    jsonw_member_open_list(w, "targets");
    for (size_t i = 0; i < entry->targets.count; i++) {
        jsonw_open(w);
        jsonw_member_str(w, "step", entry->targets.items[i].step);
        jsonw_member_str(w, "result", entry->targets.items[i].result);
        jsonw_close(w);
    }
    jsonw_close_list(w);
}

static void write_files(struct jsonw *w, const struct cache_entry *entry)
{
    if (!entry->files.count)
        return;
    jsonw_member_open_list(w, "files");
    for (size_t i = 0; i < entry->files.count; i++) {
        jsonw_open(w);
        jsonw_member_str(w, "path", entry->files.items[i].path);
        jsonw_member_str_opt(w, "digest", entry->files.items[i].digest);
        jsonw_member_str_opt(w, "stamp", entry->files.items[i].stamp);
        jsonw_close(w);
    }
    jsonw_close_list(w);
}

static void write_results(struct jsonw *w, const struct cache_entry *entry)
{
    if (entry->outputs.count) {
        jsonw_member_open(w, "outputs");
        for (size_t i = 0; i < entry->outputs.count; i++)
            jsonw_member_str(w, entry->outputs.items[i].key, entry->outputs.items[i].value);
        jsonw_close(w);
    }
    if (!entry->codes.count)
        return;
    jsonw_member_open_list(w, "exitCodes");
    for (size_t i = 0; i < entry->codes.count; i++) {
        jsonw_open(w);
        jsonw_member_str(w, "task", entry->codes.items[i].task);
        jsonw_member_int_opt(w, "index", entry->codes.items[i].index);
        jsonw_member_int(w, "code", entry->codes.items[i].code);
        jsonw_close(w);
    }
    jsonw_close_list(w);
}

struct blob *cache_entry_blob(const struct cache_entry *entry)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    jsonw_open(&w);
    jsonw_member_str(&w, "key", entry->key);
    jsonw_member_str(&w, "state", entry->state);
    jsonw_member_str(&w, "flow", entry->flow);
    jsonw_member_str(&w, "step", entry->step);
    jsonw_member_str(&w, "job", entry->job);
    jsonw_member_str_opt(&w, "jobUID", entry->job_uid);
    jsonw_member_time_opt(&w, "madeTime", entry->made_ms);
    jsonw_member_int_opt(&w, "tookMs", entry->took_ms);
    jsonw_member_time_opt(&w, "lastUsedTime", entry->used_ms);
    jsonw_member_int_opt(&w, "used", entry->used);
    jsonw_member_bool_opt(&w, "apart", entry->apart);
    write_parts(&w, "reads", &entry->reads);
    write_parts(&w, "mentions", &entry->mentions);
    write_parts(&w, "writes", &entry->writes);
    write_parts(&w, "made", &entry->made);
    write_targets(&w, entry);
    write_files(&w, entry);
    write_results(&w, entry);
    jsonw_close(&w);
    return blob_from_buf(&text);
}

const struct kind kind_cache_entry = {
    .id = KIND_CACHE_ENTRY,
    .group = "jobflow.dev",
    .version = "v1",
    .name = "CacheEntry",
    .plural = "cacheentries",
    .singular = "cacheentry",
    .namespaced = true,
    .no_generation = true,
    .schema = &entry_schema,
    .columns = columns,
};
