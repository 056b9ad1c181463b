/*
 * A view of a flow from its text. The list of steps is cut out of it before the rest becomes a
 * document; of each step its name, its template and its targets are read where they stand.
 */
#include <string.h>

#include "base/jsonscan.h"
#include "base/mem.h"
#include "view/internal.h"

/* ---- cutting ---- */

/* Where the list of steps begins; NULL when there is none, or the text is not as expected. */
static const char *find_steps(const struct buf *text)
{
    const char *spec = text->len ? jsonscan_member(text->data, "spec") : NULL;
    const char *steps = jsonscan_member(spec, "flows");

    return steps && *steps == '[' ? steps : NULL;
}

static json_t *parse(const char *text, size_t len, struct error *err)
{
    json_error_t why;
    json_t *doc = json_loadb(text, len, 0, &why);

    if (!doc)
        error_set(err, ERR_BAD_REQUEST, "", "the answer is no JSON: %s", why.text);
    return doc;
}

/* The document without the elements of the list. */
static json_t *parse_rest(const struct buf *text, const char *list, const char *end,
                          struct error *err)
{
    scoped(buf) struct buf rest = {0};

    buf_add(&rest, text->data, (size_t)(list + 1 - text->data));
    buf_add(&rest, end, (size_t)(text->data + text->len - end));
    return parse(rest.data, rest.len, err);
}

/* ---- steps ---- */

/* Places in the text, which is smaller than 4 GiB: of 100,000 steps much is read, and little kept.
 */
struct place {
    uint32_t at, len;
};

/* A step as it is found. */
struct found {
    struct place all, name, template_; /* a template of no length: none is named */
    uint32_t targets;                  /* the list of targets; 0: it has none */
    bool any, loops, estimate, chooses, final;
};

struct scan {
    const char *text;
    struct found *items;
    size_t count, cap;
};

static struct place place_of(const struct scan *scan, const char *from, size_t len)
{
    return (struct place){from ? (uint32_t)(from - scan->text) : 0, (uint32_t)len};
}

static struct place string_at(const struct scan *scan, const char *value)
{
    size_t len = 0;
    const char *word = jsonscan_string(value, &len);

    return place_of(scan, word, len);
}

static bool is_word(const struct scan *scan, struct place place, const char *word)
{
    return place.len == strlen(word) && memcmp(scan->text + place.at, word, place.len) == 0;
}

/* Returns where it ends. */
static const char *scan_depends(const struct scan *scan, struct found *step, const char *at)
{
    struct jsonscan_member member;

    if (*at != '{')
        return jsonscan_skip(at);
    while (jsonscan_next_member(&at, &member))
        if (jsonscan_key_is(&member, "targets"))
            step->targets = place_of(scan, member.value, 0).at;
        else if (jsonscan_key_is(&member, "strategy"))
            step->any = is_word(scan, string_at(scan, member.value), "any");
    at += *at == '{'; /* an empty object */
    return *at ? at + 1 : at;
}

/* Returns where its value ends. */
static const char *scan_member(const struct scan *scan, struct found *step,
                               const struct jsonscan_member *member)
{
    static const char estimate[] = "\"runningEstimate\"";
    const char *end;

    if (jsonscan_key_is(member, "dependsOn"))
        return scan_depends(scan, step, member->value);
    end = jsonscan_skip(member->value);
    if (jsonscan_key_is(member, "name"))
        step->name = string_at(scan, member->value);
    else if (jsonscan_key_is(member, "jobTemplateName"))
        step->template_ = string_at(scan, member->value);
    else if (jsonscan_key_is(member, "patch"))
        step->estimate = memmem(member->value, (size_t)(end - member->value), estimate,
                                sizeof estimate - 1) != NULL;
    else if (jsonscan_key_is(member, "for"))
        step->loops = true;
    else if (jsonscan_key_is(member, "when"))
        step->final = true;
    else if (jsonscan_key_is(member, "switch"))
        step->chooses = true;
    return end;
}

/* The entry that begins at `at`. Returns where it ends, or NULL when it is none. */
static const char *scan_step(struct scan *scan, const char *at)
{
    const char *begin = at;
    struct found step = {0};
    struct jsonscan_member member;

    while (jsonscan_next_key(at, &member))
        at = scan_member(scan, &step, &member);
    if (*at != '}' || !step.name.at)
        return NULL;
    step.all = place_of(scan, begin, (size_t)(at + 1 - begin));
    mem_grow(scan->items, scan->count, scan->cap);
    scan->items[scan->count++] = step;
    return at + 1;
}

/* Where the list of steps that begins at `at` ends, each of them read; NULL when one of them is not
 * as expected. */
static const char *scan_steps(struct scan *scan, const char *at)
{
    if (at[1] == ']')
        return at + 1;
    while (at && (*at == '[' || *at == ','))
        at = at[1] == '{' ? scan_step(scan, at + 1) : NULL;
    return at && *at == ']' ? at : NULL;
}

/* ---- the view ---- */

static struct flowview_step *make_steps(const struct scan *scan, struct arena *words)
{
    struct flowview_step *steps = mem_array_wide(scan->count + 1, sizeof *steps);
    const char *template_ = NULL; /* steps of one template often stand together */

    for (size_t i = 0; i < scan->count; i++) {
        const struct found *found = &scan->items[i];
        const struct place named = found->template_;
        struct flowview_step *step = &steps[i];

        step->name = arena_strndup(words, scan->text + found->name.at, found->name.len);
        if (named.len && !(template_ && is_word(scan, named, template_)))
            template_ = arena_strndup(words, scan->text + named.at, named.len);
        if (!found->chooses)
            step->template_ = named.len ? template_ : step->name;
        step->any = found->any;
        step->loops = found->loops;
        step->final = found->final;
        step->estimate = found->estimate;
        step->text = scan->text + found->all.at;
        step->text_len = found->all.len;
        step->targets = found->targets ? scan->text + found->targets : NULL;
        step->expected_start_ms = step->expected_end_ms = -1;
    }
    return steps;
}

static struct flowview *make_view(const struct scan *scan, struct buf *text, json_t *doc,
                                  struct error *err)
{
    struct arena *words = arena_new(0);
    struct flowview *view = flowview_make(doc, make_steps(scan, words), (uint32_t)scan->count, err);

    if (!view) {
        arena_free(words);
        return NULL;
    }
    view->words = words;
    view->text = *text; /* its bytes stay where they are */
    *text = (struct buf){0};
    return view;
}

static struct flowview *from_document(const struct buf *text, struct error *err)
{
    scoped(json) json_t *doc = parse(text->data ? text->data : "", text->len, err);

    return doc ? flowview_new(doc, err) : NULL;
}

/* What is not as expected is left to the parser. */
struct flowview *flowview_from_text(struct buf *text, struct error *err)
{
    scoped(buf) struct buf own = *text;
    struct scan scan = {.text = own.data};
    const char *list = own.len < UINT32_MAX ? find_steps(&own) : NULL;
    const char *end = list ? scan_steps(&scan, list) : NULL;
    struct flowview *view;

    *text = (struct buf){0};
    if (end) {
        scoped(json) json_t *doc = parse_rest(&own, list, end, err);

        view = doc ? make_view(&scan, &own, doc, err) : NULL;
    } else {
        view = from_document(&own, err);
    }
    mem_free(scan.items);
    return view;
}
