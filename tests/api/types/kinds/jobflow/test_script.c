/*
 * Tests api/types/kinds/jobflow/script: which words of commands are scripts, and what is said of the
 * references in them.
 */
#include "tests/unit.h"

#include "api/types/kinds/jobflow/script.h"
#include "base/mem.h"

static void tell(void *arg, const struct script_reference *found)
{
    struct buf *out = arg;
    const char *place = strstr(found->path, "containers[0].");

    buf_printf(out, "%s%s ", out->len ? "; " : "", place ? place + strlen("containers[0].") : "?");
    flow_ref_write(found->ref, out);
}

/* Finds the references in scripts of a job with one container, given in YAML flow style as JSON. */
static char *found_in(const char *container)
{
    scoped_str text =
        mem_printf("{\"tasks\":[{\"template\":{\"spec\":{\"containers\":[%s]}}}]}", container);
    scoped(json) json_t *spec = json_loads(text, 0, NULL);
    struct buf out = {0};

    assert_non_null(spec);
    script_references_each(spec, tell, &out);
    return out.data ? out.data : mem_strdup("");
}

#define X "$(params.x)"

/* covers: see everyday.md EVD-083 and DC-26 */
static void scripts_are_known_by_their_interpreters(void **state)
{
    static const struct {
        const char *container, *found;
    } rows[] = {
        /* clang-format off */
        {"{\"command\": [\"sh\", \"-c\", \"echo " X "\"]}",                     "command[2] " X},
        {"{\"command\": [\"/bin/bash\", \"-euxc\", \"" X "\"]}",                "command[2] " X},
        {"{\"command\": [\"bash\", \"-o\", \"pipefail\", \"-c\", \"" X "\"]}",  "command[4] " X},
        {"{\"command\": [\"bash\", \"-eo\", \"pipefail\", \"-c\", \"" X "\"]}", "command[4] " X},
        {"{\"command\": [\"bash\", \"--login\", \"-c\", \"" X "\"]}",           "command[3] " X},
        {"{\"command\": [\"sh\", \"-c\"], \"args\": [\"" X "\"]}",              "args[0] " X},
        {"{\"command\": [\"sh\"], \"args\": [\"-c\", \"" X "\"]}",              "args[1] " X},
        {"{\"command\": [\"timeout\", \"5\", \"sh\", \"-c\", \"" X "\"]}",      "command[4] " X},
        {"{\"command\": [\"/usr/bin/env\", \"python3.11\", \"-uc\", \"" X "\"]}", "command[3] " X},
        {"{\"command\": [\"perl\", \"-ne\", \"" X "\"]}",                       "command[2] " X},
        {"{\"command\": [\"perl\", \"-e'" X "'\"]}",                            "command[1] " X},
        {"{\"command\": [\"node\", \"--eval=" X "\"]}",                         "command[1] " X},
        {"{\"command\": [\"node\", \"--print\", \"" X "\"]}",                   "command[2] " X},
        {"{\"command\": [\"sh\", \"-c\", \"$(item) $(steps.a.outputs.k)\"]}",   "command[2] $(item); command[2] $(steps.a.outputs.k)"},
        {"{\"lifecycle\": {\"preStop\": {\"exec\": {\"command\": [\"sh\", \"-c\", \"" X "\"]}}}}", "lifecycle.preStop.exec.command[2] " X},
        {"{\"livenessProbe\": {\"exec\": {\"command\": [\"sh\", \"-c\", \"" X "\"]}}}", "livenessProbe.exec.command[2] " X},
        /* arguments, variables and programs in files are no scripts */
        {"{\"command\": [\"sh\", \"-c\", \"echo $1\", \"sh\", \"" X "\"]}",     ""},
        {"{\"command\": [\"sh\", \"run.sh\", \"-c\", \"" X "\"]}",              ""},
        {"{\"command\": [\"python\", \"train.py\", \"--lr\", \"" X "\"]}",      ""},
        {"{\"command\": [\"python\", \"-m\", \"train\", \"" X "\"]}",           ""},
        {"{\"command\": [\"echo\", \"" X "\"]}",                                ""},
        {"{\"args\": [\"" X "\"]}",                                             ""},
        {"{\"command\": [\"sh\", \"-c\", \"echo $X\"], \"env\": [{\"name\": \"X\", \"value\": \"" X "\"}]}", ""},
        {"{\"command\": [\"sh\", \"-c\", \"echo $(date) $(id)\"]}",             ""},
        {"{\"command\": [\"sh\", \"-c\", \"echo $$(params.x)\"]}",              ""},
        {"{\"command\": [\"sh\", \"-c\"]}",                                     ""},
        {"{\"command\": [\"sh\", \"\", \"-c\", \"" X "\"]}",                    ""},
        {"{\"command\": \"sh -c " X "\"}",                                      ""},
        /* clang-format on */
    };

    for (size_t i = 0; i < countof(rows); i++) {
        scoped_str found = found_in(rows[i].container);

        check_str(rows[i].container, found, rows[i].found);
    }
}

static void keep(void *arg, const struct flow_ref *ref)
{
    script_reference_refusal(ref, arg);
}

static void the_refusal_names_the_way_out(void **state)
{
    static const struct {
        const char *text, *variable;
    } rows[] = {
        {"$(params.lr)", "LR"},        {"$(params.a-b.c)", "A_B_C"}, {"$(item)", "ITEM"},
        {"$(steps.a.outputs.k)", "K"}, {"$(flow.name)", "NAME"},     {"$(attempt)", "ATTEMPT"},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        scoped_str wanted = mem_printf(
            "%s is not pasted into a script, because its value would be code: write env: "
            "[{name: %s, value: %s}] in the container, and \"$%s\" in the script",
            rows[i].text, rows[i].variable, rows[i].text, rows[i].variable);
        scoped(buf) struct buf got = {0};

        flow_ref_each(rows[i].text, keep, &got);
        check_str(rows[i].text, got.data, wanted);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_are_known_by_their_interpreters),
        cmocka_unit_test(the_refusal_names_the_way_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
