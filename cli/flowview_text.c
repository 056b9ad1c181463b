/*
 * A view of a flow from its text. The list of steps is cut out of it before the rest becomes a
 * document; of each step its name, its template and its targets are read where they stand.
 */
#include "base/jsonscan.h"
#include "base/mem.h"
#include "cli/flowview_impl.h"
#include <string.h>

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

/* Steps as they are read. */
struct scan {
    struct arena *words;
    struct flowview_step *steps;
    const char **targets; /* of each, where the list begins; NULL */
    size_t count, cap, targets_cap;
};

static const char *keep_word(struct scan *scan, const struct jsonscan_member *member)
{
    size_t len;
    const char *word = jsonscan_string(member->value, &len);

    return word ? arena_strndup(scan->words, word, len) : NULL;
}

static bool is_word(const struct jsonscan_member *member, const char *word)
{
    size_t len;
    const char *text = jsonscan_string(member->value, &len);

    return text && len == strlen(word) && memcmp(text, word, len) == 0;
}

/* Steps of one template often stand together. */
static const char *keep_template(struct scan *scan, const struct jsonscan_member *member)
{
    const char *before = scan->count ? scan->steps[scan->count - 1].template_ : NULL;

    return before && is_word(member, before) ? before : keep_word(scan, member);
}

/* Returns where the list of targets begins, or NULL. */
static const char *scan_depends(struct flowview_step *step, const char *at)
{
    struct jsonscan_member member;
    const char *targets = NULL;

    while (jsonscan_next_member(&at, &member))
        if (jsonscan_key_is(&member, "targets"))
            targets = member.value;
        else if (jsonscan_key_is(&member, "strategy"))
            step->any = is_word(&member, "any");
    return targets;
}

/* The entry that begins at `at`. Returns where it ends, or NULL when it is none. */
static const char *scan_step(struct scan *scan, const char *at)
{
    static const char estimate[] = "\"runningEstimate\"";
    struct flowview_step step = {.text = at};
    struct jsonscan_member member;
    const char *template_ = NULL, *targets = NULL;
    bool chooses = false;

    while (jsonscan_next_member(&at, &member))
        if (jsonscan_key_is(&member, "name"))
            step.name = keep_word(scan, &member);
        else if (jsonscan_key_is(&member, "dependsOn"))
            targets = scan_depends(&step, member.value);
        else if (jsonscan_key_is(&member, "jobTemplateName"))
            template_ = keep_template(scan, &member);
        else if (jsonscan_key_is(&member, "patch"))
            step.estimate = memmem(member.value, (size_t)(member.end - member.value), estimate,
                                   sizeof estimate - 1) != NULL;
        else if (jsonscan_key_is(&member, "for"))
            step.loops = true;
        else if (jsonscan_key_is(&member, "switch"))
            chooses = true;
    if (*at != '}' || !step.name)
        return NULL;
    if (!chooses)
        step.template_ = template_ ? template_ : step.name;
    step.text_len = (size_t)(at + 1 - step.text);
    mem_grow(scan->steps, scan->count, scan->cap);
    mem_grow(scan->targets, scan->count, scan->targets_cap);
    scan->targets[scan->count] = targets;
    scan->steps[scan->count++] = step;
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

static bool scan_targets(struct flowview_load *load, uint32_t i, const char *at)
{
    const char *element;

    for (size_t t = 0; at && (element = jsonscan_next_element(&at)); t++) {
        size_t len = 0;
        const char *name = jsonscan_string(element, &len);

        if (!flowview_load_target(load, i, t, name ? name : "", len))
            return false;
    }
    return true;
}

static struct flowview *make_view(struct scan *scan, struct buf *text, json_t *doc,
                                  struct error *err)
{
    struct flowview_load load;
    struct flowview *view =
        flowview_begin(&load, doc, take(scan->steps), (uint32_t)scan->count, err);
    bool ok = true;

    view->text = *text; /* its bytes stay where they are */
    *text = (struct buf){0};
    view->words = take(scan->words);
    for (uint32_t i = 0; ok && i < view->n_steps; i++)
        ok = flowview_load_name(&load, i);
    for (uint32_t i = 0; ok && i < view->n_steps; i++)
        ok = scan_targets(&load, i, scan->targets[i]);
    return flowview_finish(&load, ok);
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
    struct scan scan = {.words = arena_new(0)};
    const char *list = find_steps(&own), *end = list ? scan_steps(&scan, list) : NULL;
    struct flowview *view;

    *text = (struct buf){0};
    if (end) {
        scoped(json) json_t *doc = parse_rest(&own, list, end, err);

        view = doc ? make_view(&scan, &own, doc, err) : NULL;
    } else {
        view = from_document(&own, err);
    }
    arena_free(scan.words);
    mem_free(scan.steps);
    mem_free(scan.targets);
    return view;
}
