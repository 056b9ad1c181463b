/*
 * Tests api/types/schema/flow_reference: valid references, text that only resembles one, and
 * replacement.
 */
#include "tests/unit.h"

#include <string.h>

#include "api/types/schema/flow_reference.h"
#include "api/types/text/json_text.h"
#include "base/buf.h"

/* Appends a reference as "params NAME;" or "output NAME KEY;". */
static void tell(void *arg, const struct flow_ref *ref)
{
    static const char *const kinds[] = {
        [FLOW_REF_PARAMETER] = "params",      [FLOW_REF_ITEM] = "item",
        [FLOW_REF_INDEX] = "index",           [FLOW_REF_ATTEMPT] = "attempt",
        [FLOW_REF_OUTPUT] = "output",         [FLOW_REF_FLOW_NAME] = "flow.name",
        [FLOW_REF_FLOW_PHASE] = "flow.phase", [FLOW_REF_DOUBTFUL] = "doubtful",
    };
    struct buf *out = arg;

    buf_printf(out, "%s%s", out->len ? "; " : "", kinds[ref->kind]);
    if (ref->name_len)
        buf_printf(out, " %.*s", (int)ref->name_len, ref->name);
    if (ref->every)
        buf_str(out, " every");
    if (ref->key_len)
        buf_printf(out, " %.*s", (int)ref->key_len, ref->key);
}

static void found_in(const char *text, struct buf *out)
{
    scoped(json) json_t *doc = json_pack("{s:[s]}", "a", text);

    flow_refs_each(doc, tell, out);
}

static void references_are_found(void **unused)
{
    /* clang-format off */
    static const struct { const char *name, *text, *found; } cases[] = {
        {"none",              "plain text (of $5)",           ""},
        {"a parameter",       "-n $(params.n)",               "params n"},
        {"its long form",     "$(parameters.n)",              "params n"},
        {"an output",         "$(steps.a.outputs.k.l)",       "output a k.l"},
        {"by node",           "$(nodes.a-b.outputs.k)",       "output a-b k"},
        {"of every iteration", "$(steps.a-b.*.outputs.k)",   "output a-b every k"},
        {"of every iteration, by node", "$(nodes.a.b.*.outputs.*)", "output a.b every *"},
        {"of one iteration",  "$(steps.a.1.outputs.k)",       "output a.1 k"},
        {"of no name",        "$(steps..*.outputs.k)",        "output .* k"},
        {"of an iteration",   "$(item) $(index) $(attempt)",  "item; index; attempt"},
        {"of the flow",       "$(flow.name)$(flow.phase)",    "flow.name; flow.phase"},
        {"escaped",           "$$(params.n)",                 ""},
        {"a variable",        "$(HOME)/$(PATH)",              ""},
        {"not closed",        "$(params.n",                   ""},
        {"around another",    "$($(params.n))",               "params n"},
        {"behind an open one", "$(steps. $(params.n)",        "params n"},
        {"no such thing",     "$(flow.uid)",                  "doubtful $(flow.uid)"},
        {"an output, nearly", "$(steps.a.output.k)",          "doubtful $(steps.a.output.k)"},
        {"a word, nearly",    "$(param.n) $(step.a.outputs.k)", "doubtful $(param.n); doubtful $(step.a.outputs.k)"},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf found = {0};

        found_in(cases[i].text, &found);
        check_str(cases[i].name, found.data ? found.data : "", cases[i].found);
    }
}

/* The parser reads each character a bounded number of times. With quadratic time the test would run
 * for hours. */
static void hostile_text_is_read_in_linear_time(void **unused)
{
    enum { TIMES = 1 << 20 };
    static const char *const pieces[] = {"$(", "$(steps.a.outputs", "$(params.", "$$("};

    for (size_t p = 0; p < countof(pieces); p++) {
        scoped(buf) struct buf text = {0}, found = {0};

        for (int i = 0; i < TIMES; i++)
            buf_str(&text, pieces[p]);
        buf_str(&text, "params.n)");
        found_in(text.data, &found);
        check("one at most", !found.data || !strchr(found.data, ';'));
    }
}

static bool as_upper(void *ctx, const struct flow_ref *ref, struct buf *out, bool *out_leave,
                     struct error *err)
{
    if (ref->kind != FLOW_REF_PARAMETER)
        return error_set(err, ERR_NOT_FOUND, "", "not known");
    *out_leave = ref->name_len == 4 && memcmp(ref->name, "left", 4) == 0;
    if (!*out_leave)
        buf_printf(out, "<%.*s>", (int)ref->name_len, ref->name);
    return true;
}

static void references_are_replaced_by_values(void **unused)
{
    static const struct {
        const char *name, *text, *becomes; /* `becomes`: the replaced text; NULL: an error */
    } cases[] = {
        {"one", "$(params.a)", "<a>"},
        {"among others", "x $(params.a)y$(HOME)$(params.b)", "x <a>y$(HOME)<b>"},
        {"escaped", "$$(params.a) $(params.b)", "$(params.a) <b>"},
        {"left as it is", "$(params.left)", "$(params.left)"},
        {"behind an open one", "$($(params.a)", "$(<a>"},
        {"not known", "$(item)", NULL},
    };
    const struct flow_ref_values values = {.value = as_upper};

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf text = {0};
        struct error err = {0};
        bool ok = flow_refs_replace_text(cases[i].text, &values, &text, &err);

        check_str(cases[i].name, ok ? text.data : NULL, cases[i].becomes);
    }
}

static bool a_kilobyte(void *ctx, const struct flow_ref *ref, struct buf *out, bool *out_leave,
                       struct error *err)
{
    buf_printf(out, "%01024d", 0);
    return true;
}

/* Many references to a long value fail before the text is built. covers: see reliability.md L-11 */
static void replaced_text_has_a_size_limit(void **unused)
{
    static const struct {
        const char *name;
        int references;
        bool fits;
    } cases[] = {
        {"at the limit", FLOW_REFS_BYTES_MAX >> 10, true},
        {"beyond", (FLOW_REFS_BYTES_MAX >> 10) + 1, false},
        {"far beyond", FLOW_REFS_BYTES_MAX >> 6, false},
    };
    const struct flow_ref_values values = {.value = a_kilobyte};

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf text = {0};
        struct error err = {0};

        for (int n = 0; n < cases[i].references / 2; n++)
            buf_str(&text, "$(item)");
        scoped(json) json_t *doc =
            json_pack("[sss]", text.data, text.data, cases[i].references % 2 ? "$(item)" : "");
        scoped(json) json_t *replaced = flow_refs_replace(NULL, doc, &values, &err);

        check(cases[i].name, !replaced == !cases[i].fits);
        check_int(cases[i].name, err.code == ERR_TOO_LARGE, !cases[i].fits);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_are_found),
        cmocka_unit_test(hostile_text_is_read_in_linear_time),
        cmocka_unit_test(references_are_replaced_by_values),
        cmocka_unit_test(replaced_text_has_a_size_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
