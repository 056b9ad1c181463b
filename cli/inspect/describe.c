/*
 * Prints the parts that all descriptions share (lines, trees, tables, events), and the general form
 * of kinds that have no form of their own.
 */
#include "cli/inspect/describe.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/client/event_list.h"
#include "cli/command/command.h"

enum { KEY_WIDTH = 20 };

static void print_key(const char *key)
{
    printf("%s:%*s", key, (int)strlen(key) + 1 < KEY_WIDTH ? KEY_WIDTH - (int)strlen(key) - 1 : 1,
           "");
}

/* Prints a text without control characters. */
static void print_clean(const char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < 0x20 && *text != '\n') || *text == 0x7f)
            printf("^%c", *text ^ 0x40);
        else
            putchar(*text);
}

void describe_line(const char *key, const char *text)
{
    if (!text || !*text)
        return;
    print_key(key);
    print_clean(text);
    putchar('\n');
}

void describe_int(const char *key, int64_t value)
{
    print_key(key);
    printf("%" PRId64 "\n", value);
}

void describe_phase(const struct describer *d, const char *key, const char *phase)
{
    if (!phase || !*phase)
        return;
    print_key(key);
    fputs(term_color(&d->term, table_print_word_color(phase)), stdout);
    print_clean(phase);
    printf("%s\n", term_reset(&d->term));
}

void describe_time(const struct describer *d, const char *key, const char *time)
{
    char age[TIME_TEXT_MAX];
    int64_t at_ms;

    if (!time || !time_parse(time, &at_ms, NULL))
        return;
    duration_human(d->now_ms - at_ms, age);
    print_key(key);
    printf("%s (%s ago)\n", time, age);
}

char *describe_span(const struct describer *d, int64_t from_ms, int64_t to_ms)
{
    char text[TIME_TEXT_MAX];

    if (!from_ms)
        return mem_strdup("");
    duration_human((to_ms ? to_ms : d->now_ms) - from_ms, text);
    return mem_strdup(text);
}

/* The annotation that kubectl writes for itself. kubectl describe leaves it out too. */
#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/* Prints pairs as "a=b", one a line. */
static void describe_pairs(const char *key, json_t *pairs)
{
    const char *name;
    json_t *value;
    bool first = true;

    print_key(key);
    json_object_foreach(pairs, name, value)
    {
        if (strcmp(name, LAST_APPLIED) == 0)
            continue;
        printf("%*s%s=", first ? 0 : KEY_WIDTH, "", name);
        print_clean(json_is_string(value) ? json_string_value(value) : "");
        putchar('\n');
        first = false;
    }
    if (first)
        puts("<none>");
}

/* Prints the name of a member as words: "creationTimestamp" becomes "Creation Timestamp". */
static void print_words(const char *name)
{
    for (size_t i = 0; name[i]; i++) {
        if (i && isupper((unsigned char)name[i]) && islower((unsigned char)name[i - 1]))
            putchar(' ');
        putchar(i ? name[i] : toupper((unsigned char)name[i]));
    }
}

static void print_scalar(const json_t *value)
{
    if (json_is_string(value))
        print_clean(json_string_value(value));
    else if (json_is_integer(value))
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        printf("%g", json_real_value(value));
    else
        fputs(json_is_true(value) ? "true" : json_is_false(value) ? "false" : "<none>", stdout);
}

static bool is_scalar(const json_t *value)
{
    return !json_is_object(value) && !json_is_array(value);
}

static void describe_list(const json_t *list, int indent)
{
    size_t i;
    json_t *value;

    json_array_foreach(list, i, value)
    {
        if (is_scalar(value)) {
            printf("%*s", indent, "");
            print_scalar(value);
            putchar('\n');
        } else {
            describe_tree(value, indent);
        }
    }
}

void describe_tree(const json_t *value, int indent)
{
    const char *name;
    json_t *member;

    if (json_is_array(value)) {
        describe_list(value, indent);
        return;
    }
    json_object_foreach((json_t *)(size_t)value, name, member)
    {
        printf("%*s", indent, "");
        print_words(name);
        if (is_scalar(member)) {
            fputs(":  ", stdout);
            print_scalar(member);
            putchar('\n');
        } else {
            puts(":");
            describe_tree(member, indent + 2);
        }
    }
}

void describe_table(const char *heading, const char *const *titles, size_t n_columns, char **cells,
                    size_t n_rows)
{
    scoped(table_print) struct table_print table;

    table_print_init(&table, stdout, &(const struct table_print_options){.indent = "  "});
    table_print_columns(&table, titles, n_columns);
    if (n_rows)
        printf("%s:\n", heading);
    else
        describe_line(heading, "<none>");
    table_print_rows(&table, cells, n_rows);
    for (size_t i = 0; i < n_rows * n_columns; i++)
        mem_free(cells[i]);
}

struct pods {
    struct table_print table;
    bool any;
};

static bool print_pods(void *ctx, json_t *page)
{
    struct pods *pods = ctx;

    if (!pods->any && json_array_size(json_object_get(page, "rows")))
        puts("Pods:");
    pods->any = pods->any || json_array_size(json_object_get(page, "rows"));
    table_print_table(&pods->table, page);
    return true;
}

/* A part that the user may not read is left out, and said to be. */
static void left_out(const char *title, const char *what, const struct error *err)
{
    scoped_str text = mem_printf("(not allowed to see %s)", what);

    if (err->code == ERR_FORBIDDEN)
        describe_line(title, text);
    else
        cli_error(err);
}

void describe_pods(const struct describer *d, const char *labels)
{
    const struct list_query query = {
        .kind = &kind_pod,
        .ns = d->ns,
        .labels = labels,
        .accept = "application/json;as=Table;v=v1;g=meta.k8s.io",
    };
    struct pods pods = {0};
    struct error err = {0};

    table_print_init(&pods.table, stdout, &(const struct table_print_options){.indent = "  "});
    if (!list_pages(d->client, &query, print_pods, &pods, NULL, &err))
        left_out("Pods", "pods", &err);
    else if (!pods.any)
        describe_line("Pods", "<none>");
    table_print_release(&pods.table);
}

static void describe_events(const struct describer *d)
{
    static const char *const titles[] = {"TYPE", "REASON", "AGE", "FROM", "MESSAGE"};
    scoped_str fields = event_selector(d->kind->name, d->name, doc_text(d->doc, "metadata.uid"));
    scoped(eventlist) struct eventlist list = {0};
    struct error err = {0};
    char **cells;

    if (!eventlist_get(d->client, d->kind->namespaced ? d->ns : "default", fields, &list, &err)) {
        left_out("Events", "events", &err);
        return;
    }
    cells = mem_array(list.count * countof(titles) + 1, sizeof *cells);
    for (size_t i = 0; i < list.count; i++) {
        struct event *event = &list.items[i];
        char **row = cells + i * countof(titles);

        row[0] = take(event->type);
        row[1] = take(event->reason);
        row[2] = event_age(event, d->now_ms);
        row[3] = take(event->from);
        row[4] = take(event->message);
    }
    describe_table("Events", titles, countof(titles), cells, list.count);
    mem_free(cells);
}

static void describe_owner(const struct describer *d)
{
    const json_t *owners = doc_at(d->doc, "metadata.ownerReferences");
    size_t i;
    json_t *owner;

    json_array_foreach(owners, i, owner)
    {
        scoped_str text = mem_printf("%s/%s", doc_text(owner, "kind"), doc_text(owner, "name"));

        if (json_is_true(json_object_get(owner, "controller")))
            describe_line("Controlled By", text);
    }
}

static void describe_head(const struct describer *d)
{
    describe_line("Name", d->name);
    if (d->kind->namespaced)
        describe_line("Namespace", d->ns);
    describe_pairs("Labels", json_object_get(doc_at(d->doc, "metadata"), "labels"));
    describe_pairs("Annotations", json_object_get(doc_at(d->doc, "metadata"), "annotations"));
    describe_time(d, "Created", doc_text(d->doc, "metadata.creationTimestamp"));
    describe_time(d, "Deleted", doc_text(d->doc, "metadata.deletionTimestamp"));
    describe_owner(d);
}

/* Prints the general form: every member of the object. */
static void describe_other(const struct describer *d)
{
    const char *name;
    json_t *member;

    describe_line("API Version", kind_api_version(d->kind));
    describe_line("Kind", d->kind->name);
    json_object_foreach((json_t *)(size_t)d->doc, name, member)
    {
        scoped(json) json_t *one = NULL;

        if (strcmp(name, "apiVersion") == 0 || strcmp(name, "kind") == 0 ||
            strcmp(name, "metadata") == 0)
            continue;
        /* Prints the sizes of the values of a Secret, and not the values. */
        if (strcmp(name, "data") == 0 && d->kind == &kind_secret) {
            printf("Data:  %zu members\n", json_object_size(member));
            continue;
        }
        one = json_pack("{s:O}", name, member);
        describe_tree(one, 0);
    }
}

void describe(const struct describer *d)
{
    static const struct {
        const struct kind *kind;
        void (*describe)(const struct describer *d);
    } forms[] = {
        {&kind_job_flow, describe_flow},
        {&kind_job, describe_job},
        {&kind_pod_group, describe_podgroup},
        {&kind_queue, describe_queue},
        {&kind_cron_job, describe_cronjob},
        {&kind_flow_trigger, describe_flowtrigger},
        {&kind_pod, describe_pod},
    };
    void (*form)(const struct describer *d) = describe_other;

    for (size_t i = 0; i < countof(forms); i++)
        if (forms[i].kind == d->kind)
            form = forms[i].describe;
    describe_head(d);
    form(d);
    if (d->kind != &kind_event)
        describe_events(d);
}
