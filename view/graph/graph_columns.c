/*
 * The graph of a flow as columns: what does not change while the flow runs, and the states at one
 * moment.
 *
 * The header has "kind": "FlowGraph", "name", "namespace", "uid", "generation", "count" (steps),
 * "phase", "states" and "marks" (texts that sections point into), "criticalPath" (numbers of
 * steps), and "layout" or "layoutMissing" as graph_positions writes them. The sections, one value
 * for each step in the order of the spec:
 *
 *   name       utf8  the names
 *   template   u32   number of a text of "templateName"; NONE: the step makes no job of a template
 *   layer      u32
 *   flags      u8    GRAPH_ANY, GRAPH_CRITICAL
 *   state      u8    index into "states"
 *   mark       u32   index into "marks"
 *   estimate   u32   expected duration in milliseconds; NONE: not known
 *   afterAt    u32   the targets of step i are after[afterAt[i]] up to after[afterAt[i + 1]]
 *   after      u32
 *
 * Ref: spec/web.md 7.3.
 */
#include "api/types/text/doc.h"
#include "api/types/text/json_text.h"
#include "base/collections/name_index.h"
#include "base/encoding/columns.h"
#include "base/encoding/jsonw.h"
#include "base/mem.h"
#include "view/graph/graph_forms.h"

enum { GRAPH_ANY = 1 << 0, GRAPH_CRITICAL = 1 << 1 };
enum { MARKS_MAX = 4096, STATES_MAX = UINT8_MAX }; /* different texts; further ones are left out */
#define NONE UINT32_MAX

/* Texts with numbers, in the order in which they first appear. */
struct texts {
    json_t *list, *known; /* `known`: the numbers by text */
    uint32_t most;
};

struct graph_sections {
    const struct flow_view *view;
    struct columns_texts names, templates;
    uint32_t *template, *layer, *mark, *estimate;
    uint8_t *flags, *state;
    struct texts marks, states;
};

/* Numbers the templates in the order in which they first appear. */
static void number_templates(struct graph_sections *s)
{
    scoped(name_index) struct name_index known = {0};
    const struct flow_view *view = s->view;
    uint32_t n = 0;

    name_index_init(&known, view->n_steps);
    for (uint32_t i = 0; i < view->n_steps; i++) {
        const struct flow_view_step *step = &view->steps[i];

        s->template[i] = NONE;
        if (!step->template || step->inlined)
            continue;
        s->template[i] = name_index_get(&known, step->template);
        if (s->template[i] != NAME_NONE)
            continue;
        columns_texts_add(&s->templates, step->template);
        name_index_put(&known, step->template, n);
        s->template[i] = n++;
    }
}

static void begin_texts(struct texts *texts)
{
    texts->list = json_array();
    texts->known = json_object();
}

static void release_texts(struct texts *texts)
{
    json_decref(texts->list);
    json_decref(texts->known);
}

/* Returns the number of a text; that of the first one when there are too many. */
static uint32_t number_of(struct texts *texts, const char *text)
{
    const json_t *found = json_object_get(texts->known, text);
    uint32_t n = (uint32_t)json_array_size(texts->list);

    if (found)
        return (uint32_t)json_integer_value(found);
    if (n == texts->most)
        return 0;
    json_array_append_new(texts->list, json_string(text));
    json_object_set_new(texts->known, text, json_integer(n));
    return n;
}

static void fill(struct graph_sections *s)
{
    const struct flow_view *view = s->view;
    scoped(buf) struct buf marks = {0};

    number_templates(s);
    number_of(&s->marks, "");
    number_of(&s->states, "");
    for (uint32_t i = 0; i < view->n_steps; i++) {
        const struct flow_view_step *step = &view->steps[i];
        const char *state;

        columns_texts_add(&s->names, step->name);
        s->layer[i] = step->layer;
        state = flow_view_step_state(step);
        s->state[i] = (uint8_t)number_of(&s->states, state ? state : "");
        s->flags[i] =
            (uint8_t)((step->any ? GRAPH_ANY : 0) | (step->path_place ? GRAPH_CRITICAL : 0));
        s->estimate[i] = step->estimated != ESTIMATE_NONE && step->estimate_ms < NONE
                             ? (uint32_t)step->estimate_ms
                             : NONE;
        buf_clear(&marks);
        flow_view_step_marks(step, &marks);
        s->mark[i] = marks.len ? number_of(&s->marks, marks.data) : 0;
    }
}

static void write_raw(struct jsonw *w, const char *key, const json_t *value)
{
    scoped(buf) struct buf text = {0};

    if (!value)
        return;
    json_text(value, &text);
    jsonw_member_raw(w, key, text.data, text.len);
}

static void write_header(const struct graph_sections *s, struct buf *out)
{
    const struct flow_view *view = s->view;
    const json_t *meta = json_object_get(view->doc, "metadata");
    scoped(json) json_t *drawn = json_object();
    struct jsonw w = jsonw_to(out);

    jsonw_member_str(&w, "kind", "FlowGraph");
    jsonw_member_str(&w, "name", view->name);
    jsonw_member_str(&w, "namespace", view->ns);
    jsonw_member_str_opt(&w, "uid", doc_text(meta, "uid"));
    jsonw_member_int(&w, "generation", json_integer_value(json_object_get(meta, "generation")));
    jsonw_member_int(&w, "count", view->n_steps);
    jsonw_member_str_opt(&w, "phase", flow_phase_text(view->phase));
    write_raw(&w, "states", s->states.list);
    write_raw(&w, "marks", s->marks.list);
    jsonw_member_open_list(&w, "criticalPath");
    for (uint32_t i = 0; i < view->path_listed; i++)
        jsonw_int(&w, view->path[i]);
    jsonw_close_list(&w);
    graph_positions(view, drawn);
    write_raw(&w, "layout", json_object_get(drawn, "layout"));
    write_raw(&w, "layoutMissing", json_object_get(drawn, "layoutMissing"));
}

static void write_sections(struct graph_sections *s, const char *members, struct buf *out)
{
    const struct dag *targets = &s->view->targets;
    size_t n = s->view->n_steps;
    struct columns_section names[2], templates[2];

    columns_texts_sections(&s->names, "name", "nameAt", names);
    columns_texts_sections(&s->templates, "templateName", "templateNameAt", templates);
    columns_write(
        members,
        (struct columns_section[]){
            names[0],
            names[1],
            templates[0],
            templates[1],
            {"template", COLUMNS_U32, s->template, n * sizeof *s->template},
            {"layer", COLUMNS_U32, s->layer, n * sizeof *s->layer},
            {"flags", COLUMNS_U8, s->flags, n},
            {"state", COLUMNS_U8, s->state, n},
            {"mark", COLUMNS_U32, s->mark, n * sizeof *s->mark},
            {"estimate", COLUMNS_U32, s->estimate, n * sizeof *s->estimate},
            {"afterAt", COLUMNS_U32, targets->first, (n + 1) * sizeof *targets->first},
            {"after", COLUMNS_U32, targets->next, dag_edges(targets) * sizeof *targets->next},
        },
        12, out);
}

void graph_columns(const struct flow_view *view, struct buf *out)
{
    scoped(buf) struct buf members = {0};
    size_t n = (size_t)view->n_steps + 1;
    struct graph_sections s = {
        .view = view,
        .template = mem_array(n, sizeof *s.template),
        .layer = mem_array(n, sizeof *s.layer),
        .mark = mem_array(n, sizeof *s.mark),
        .estimate = mem_array(n, sizeof *s.estimate),
        .flags = mem_array(n, 1),
        .state = mem_array(n, 1),
        .marks = {.most = MARKS_MAX},
        .states = {.most = STATES_MAX},
    };

    begin_texts(&s.marks);
    begin_texts(&s.states);
    fill(&s);
    write_header(&s, &members);
    write_sections(&s, members.data, out);
    columns_texts_release(&s.names);
    columns_texts_release(&s.templates);
    mem_free(s.template);
    mem_free(s.layer);
    mem_free(s.mark);
    mem_free(s.estimate);
    mem_free(s.flags);
    mem_free(s.state);
    release_texts(&s.marks);
    release_texts(&s.states);
}
