/*
 * Finds scripts among the words of commands. A table names the interpreters, and the options behind
 * which each takes a program; wrappers such as `timeout 5 sh -c …` need no rows, because every word
 * of a command is looked up.
 */
#include "api/types/kinds/jobflow/script.h"

#include <ctype.h>
#include <string.h>

#include "base/compiler.h"

struct interpreter {
    const char *name;
    const char *letters;  /* short options that precede a program, alone or in clusters (-ec) */
    const char *words[3]; /* long options that precede a program */
    const char *values;   /* short options whose value is the next word */
};

/* clang-format off */
static const struct interpreter interpreters[] = {
    {"sh",      "c",  .values = "oO"},
    {"bash",    "c",  .values = "oO"},
    {"dash",    "c",  .values = "oO"},
    {"ash",     "c",  .values = "oO"},
    {"zsh",     "c",  .values = "oO"},
    {"ksh",     "c",  .values = "oO"},
    {"mksh",    "c",  .values = "oO"},
    {"fish",    "c",  {"--command"}},
    {"su",      "c",  {"--command"}, .values = "sg"},
    {"runuser", "c",  {"--command"}, .values = "sgu"},
    {"python",  "c",  .values = "WX"},
    {"pypy",    "c",  .values = "WX"},
    {"perl",    "eE"},
    {"ruby",    "e"},
    {"node",    "ep", {"--eval", "--print"}, .values = "r"},
    {"nodejs",  "ep", {"--eval", "--print"}, .values = "r"},
    {"php",     "r",  {"--run"}},
    {"lua",     "e"},
    {"Rscript", "e"},
    {"R",       "e"},
    {0},
};
/* clang-format on */

/* Whether the program of that name is the interpreter: "python3.11" is "python". */
static bool is_named(const char *program, const char *interpreter)
{
    size_t len = strlen(interpreter);

    return strncmp(program, interpreter, len) == 0 &&
           !program[len + strspn(program + len, "0123456789.")];
}

static const struct interpreter *interpreter_of(const char *word)
{
    const char *slash = strrchr(word, '/');
    const char *program = slash ? slash + 1 : word;

    for (const struct interpreter *row = interpreters; row->name; row++)
        if (is_named(program, row->name))
            return row;
    return NULL;
}

enum option { OPTION_OTHER, OPTION_WITH_VALUE, OPTION_PROGRAM, OPTION_PROGRAM_HERE, OPTION_NONE };

/* What a word behind an interpreter is: an option behind which, or within which, its program
 * stands; another option; or none, so that no option follows. */
static enum option option_of(const struct interpreter *interpreter, const char *word)
{
    size_t len = strlen(word);
    char last = len ? word[len - 1] : '\0';

    if ((word[0] != '-' && word[0] != '+') || len < 2 || strcmp(word, "--") == 0)
        return OPTION_NONE;
    for (size_t i = 0; i < countof(interpreter->words) && interpreter->words[i]; i++) {
        size_t word_len = strlen(interpreter->words[i]);

        if (strncmp(word, interpreter->words[i], word_len) == 0 &&
            (!word[word_len] || word[word_len] == '='))
            return word[word_len] ? OPTION_PROGRAM_HERE : OPTION_PROGRAM;
    }
    if (word[1] == '-')
        return OPTION_OTHER;
    if (word[0] == '-' && word[1 + strcspn(word + 1, interpreter->letters)]) {
        size_t at = 1 + strcspn(word + 1, interpreter->letters);

        /* perl -e'print 1' has its program in the same word; a shell never has */
        return word[at + 1] && !isalpha((unsigned char)word[at + 1]) ? OPTION_PROGRAM_HERE
                                                                     : OPTION_PROGRAM;
    }
    return interpreter->values && strchr(interpreter->values, last) ? OPTION_WITH_VALUE
                                                                    : OPTION_OTHER;
}

struct search {
    const json_t *command, *args;
    size_t n_command, count;
    const char *path; /* path of the container in the JobSpec */
    void (*visit)(void *arg, const struct script_reference *found);
    void *arg;
};

static const char *word_at(const struct search *s, size_t at)
{
    const json_t *word = at < s->n_command ? json_array_get(s->command, at)
                                           : json_array_get(s->args, at - s->n_command);

    return json_is_string(word) ? json_string_value(word) : "";
}

struct in_script {
    const struct search *search;
    const char *path, *script;
};

static void found_reference(void *arg, const struct flow_ref *ref)
{
    const struct in_script *in = arg;

    if (ref->kind != FLOW_REF_DOUBTFUL)
        in->search->visit(in->search->arg, &(struct script_reference){in->path, in->script, ref});
}

static void look_into(const struct search *s, size_t at)
{
    const char *list = at < s->n_command ? "command" : "args";
    size_t entry = at < s->n_command ? at : at - s->n_command;
    scoped(buf) struct buf path = {0};
    struct in_script in = {.search = s, .script = word_at(s, at)};

    if (at >= s->count || !flow_ref_in(in.script))
        return;
    buf_printf(&path, "%s.%s[%zu]", s->path, list, entry);
    in.path = path.data;
    flow_ref_each(in.script, found_reference, &in);
}

/* The words behind an interpreter, up to its program or the first word that is no option. */
static void look_behind(const struct search *s, const struct interpreter *interpreter, size_t from)
{
    for (size_t at = from; at < s->count; at++) {
        enum option option = option_of(interpreter, word_at(s, at));

        if (option == OPTION_NONE)
            return;
        if (option == OPTION_PROGRAM || option == OPTION_PROGRAM_HERE) {
            look_into(s, option == OPTION_PROGRAM ? at + 1 : at);
            return;
        }
        at += option == OPTION_WITH_VALUE;
    }
}

static void look_at_words(const struct search *s)
{
    for (size_t at = 0; at < s->count; at++) {
        const struct interpreter *interpreter = interpreter_of(word_at(s, at));

        if (interpreter)
            look_behind(s, interpreter, at + 1);
    }
}

/* The commands of handlers and probes, which run in the container as well. */
static void look_at_handlers(struct search s, const json_t *container)
{
    static const char *const places[][2] = {{"livenessProbe", NULL},
                                            {"readinessProbe", NULL},
                                            {"startupProbe", NULL},
                                            {"lifecycle", "postStart"},
                                            {"lifecycle", "preStop"}};
    const char *container_path = s.path;

    for (size_t i = 0; i < countof(places); i++) {
        const json_t *handler = json_object_get(container, places[i][0]);
        scoped(buf) struct buf path = {0};

        if (places[i][1])
            handler = json_object_get(handler, places[i][1]);
        s.command = json_object_get(json_object_get(handler, "exec"), "command");
        s.args = NULL;
        s.n_command = s.count = json_array_size(s.command);
        buf_printf(&path, "%s.%s%s%s.exec", container_path, places[i][0], places[i][1] ? "." : "",
                   places[i][1] ? places[i][1] : "");
        s.path = path.data;
        look_at_words(&s);
    }
}

static void look_at_container(struct search s, const json_t *container)
{
    s.command = json_object_get(container, "command");
    s.args = json_object_get(container, "args");
    s.n_command = json_array_size(s.command);
    s.count = s.n_command ? s.n_command + json_array_size(s.args) : 0;
    look_at_words(&s);
    look_at_handlers(s, container);
}

static void look_at_pod(struct search s, const json_t *pod, size_t task)
{
    static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};

    for (size_t k = 0; k < countof(lists); k++) {
        const json_t *container;
        size_t i;

        json_array_foreach(json_object_get(pod, lists[k]), i, container)
        {
            scoped(buf) struct buf path = {0};

            buf_printf(&path, "tasks[%zu].template.spec.%s[%zu]", task, lists[k], i);
            s.path = path.data;
            look_at_container(s, container);
        }
    }
}

void script_references_each(const json_t *job_spec,
                            void (*visit)(void *arg, const struct script_reference *found),
                            void *arg)
{
    const struct search s = {.visit = visit, .arg = arg};
    const json_t *task;
    size_t i;

    json_array_foreach(json_object_get(job_spec, "tasks"), i, task)
    {
        look_at_pod(s, json_object_get(json_object_get(task, "template"), "spec"), i);
    }
}

/* Appends the name of a variable for a reference: LR for the text $(params.lr). */
static void write_variable(const struct flow_ref *ref, const char *text, struct buf *out)
{
    const char *dot = strrchr(text, '.'), *from = dot ? dot + 1 : text + strlen("$(");
    size_t len = strlen(from) - strlen(")");

    if (ref->kind == FLOW_REF_PARAMETER || ref->kind == FLOW_REF_OUTPUT) {
        from = ref->kind == FLOW_REF_OUTPUT ? ref->key : ref->name;
        len = ref->kind == FLOW_REF_OUTPUT ? ref->key_len : ref->name_len;
    }
    for (size_t i = 0; i < len; i++)
        buf_char(out,
                 isalnum((unsigned char)from[i]) ? (char)toupper((unsigned char)from[i]) : '_');
}

void script_reference_refusal(const struct flow_ref *ref, struct buf *out)
{
    scoped(buf) struct buf text = {0}, variable = {0};

    flow_ref_write(ref, &text);
    write_variable(ref, text.data, &variable);
    buf_printf(out,
               "%s is not pasted into a script, because its value would be code: write env: "
               "[{name: %s, value: %s}] in the container, and \"$%s\" in the script",
               text.data, variable.data, text.data, variable.data);
}
