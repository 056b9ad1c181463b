/*
 * Tests api/types/schema/schema: check and decode. covers: kube-api.md 41 42 43 44; reliability.md
 * FZ-03
 */
#include "tests/unit.h"

#include <stddef.h>

#include "api/types/schema/schema.h"

struct port {
    int32_t number;
    const char *protocol;
};
struct probe {
    int64_t period_ns;
    bool strict;
};
struct part {
    const char *name;
    int32_t count;
    struct opt_i32 limit;
    int64_t size;
    struct opt_i64 grace;
    bool on;
    int8_t maybe;
    const char *cpu, *port_or_name, *secret;
    int64_t wait_ns, at_ms;
    struct str_list words;
    struct str_map labels, resources;
    struct {
        struct str_list_pair *items;
        size_t count;
    } plugins;
    struct port *first;
    struct probe probe;
    struct {
        struct port *items;
        size_t count;
    } ports;
    struct {
        struct {
            const char *key;
            struct port value;
        } * items;
        size_t count;
    } by_name;
    json_t *any, *ports_json;
    struct str_list targets;
    const char *strategy;
    enum { RED, GREEN } color;
    enum { NO_SIZE, SMALL, LARGE } shirt;
};

static bool no_x(const char *value, struct error *err)
{
    return *value != 'x' || error_set(err, ERR_INVALID, "", "must not begin with x");
}

static const char *const protocols[] = {"TCP", "UDP", NULL};
static const char *const colors[] = {[RED] = "red", [GREEN] = "green", NULL};
static const char *const shirts[] = {"small", "large", NULL};
static const char *const strategies[] = {"all", "any", NULL};
#define PORT(member)  offsetof(struct port, member)
#define PROBE(member) offsetof(struct probe, member)
#define PART(member)  offsetof(struct part, member)
/* clang-format off */
static const struct field port_fields[] = {
    {"number",   FIELD_I32, PORT(number),   .required = true, .bounded = true, .min = 1, .max = 65535},
    {"protocol", FIELD_STR, PORT(protocol), .one_of = protocols, .default_json = "\"TCP\""},
    {0},
};
static const struct schema port_schema = {"Port", port_fields, sizeof(struct port)};
static const struct field probe_fields[] = {
    {"period", FIELD_DURATION, PROBE(period_ns)},
    {"strict", FIELD_BOOL,     PROBE(strict)},
    {0},
};
static const struct schema probe_schema = {"Probe", probe_fields, sizeof(struct probe)};
static const struct field part_fields[] = {
    {"name",      FIELD_STR,          PART(name), .required = true, .min_length = 1, .max_length = 10, .check = no_x},
    {"count",     FIELD_I32,          PART(count), .default_json = "3"},
    {"limit",     FIELD_OPT_I32,      PART(limit)},
    {"size",      FIELD_I64,          PART(size)},
    {"grace",     FIELD_OPT_I64,      PART(grace)},
    {"on",        FIELD_BOOL,         PART(on)},
    {"maybe",     FIELD_OPT_BOOL,     PART(maybe)},
    {"cpu",       FIELD_QUANTITY,     PART(cpu)},
    {"port",      FIELD_INT_OR_STR,   PART(port_or_name)},
    {"secret",    FIELD_BASE64,       PART(secret)},
    {"wait",      FIELD_DURATION,     PART(wait_ns)},
    {"at",        FIELD_TIME,         PART(at_ms)},
    {"words",     FIELD_STR_LIST,     PART(words), .max_length = 3},
    {"labels",    FIELD_STR_MAP,      PART(labels)},
    {"resources", FIELD_QUANTITY_MAP, PART(resources)},
    {"plugins",   FIELD_STR_LIST_MAP, PART(plugins)},
    {"first",     FIELD_OBJECT,       PART(first), &port_schema},
    {"probe",     FIELD_INLINE,       PART(probe), &probe_schema},
    {"ports",     FIELD_LIST,         PART(ports), &port_schema, .min_length = 1},
    {"byName",    FIELD_MAP,          PART(by_name), &port_schema},
    {"any",       FIELD_ANY,          PART(any)},
    {"kept",      FIELD_LIST,         PART(ports_json), &port_schema, .as_json = true},
    {"passed",    FIELD_STR,          FIELD_PASS},
    {"color",     FIELD_ENUM,         PART(color), .one_of = colors},
    {"shirt",     FIELD_ENUM,         PART(shirt), .one_of = shirts, .first_value = SMALL},
    {"depends.targets",  FIELD_STR_LIST, PART(targets), .required = true},
    {"depends.strategy", FIELD_STR,      PART(strategy), .one_of = strategies, .default_json = "\"all\""},
    {0},
};
static const struct schema part_schema = {"Part", part_fields, sizeof(struct part)};
static const struct schema patch_schema = {"PartPatch", part_fields, sizeof(struct part), .partial = true};
/* clang-format on */

static json_t *parse(const char *text)
{
    json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

    if (!doc)
        check_fail("no JSON: %s", text);
    return doc;
}

static const struct {
    const char *text, *field, *message; /* expected finding; NULL: there is none */
} cases[] = {
    {"{'name':'a'}", NULL, NULL},
    {"{'name':'a','limit':null,'any':null,'kept':[{'number':1}]}", NULL, NULL},
    {"{}", "p.name", "Required value"},
    {"{'name':null}", "p.name", "Required value"},
    {"{'name':1}", "p.name",
     "Invalid value: \"integer\": p.name in body must be of type string: \"integer\""},
    {"{'name':''}", "p.name",
     "Invalid value: \"\": p.name in body should be at least 1 chars long"},
    {"{'name':'aaaaaaaaaaa'}", "p.name", "Too long: may not be more than 10 bytes"},
    {"{'name':'xy'}", "p.name", "Invalid value: \"xy\": must not begin with x"},
    {"{'name':'a','nmae':1}", "p.nmae", "unknown field \"p.nmae\", did you mean \"name\"?"},
    {"{'name':'a','dependsOn':{}}", "p.dependsOn",
     "unknown field \"p.dependsOn\", did you mean \"depends\"?"},
    {"{'name':'a','whatever':{}}", "p.whatever", "unknown field \"p.whatever\""},
    {"{'name':'a','count':1.5}", "p.count", "must be of type integer: \"number\""},
    {"{'name':'a','count':2147483648}", "p.count", "should be less than or equal to 2147483647"},
    {"{'name':'a','on':'yes'}", "p.on", "must be of type boolean: \"string\""},
    {"{'name':'a','cpu':'12x'}", "p.cpu", "Invalid value: \"12x\": quantities must match"},
    {"{'name':'a','cpu':0.5}", NULL, NULL},
    {"{'name':'a','cpu':[]}", "p.cpu", "must be of type string or number"},
    {"{'name':'a','port':true}", "p.port", "must be of type integer or string: \"boolean\""},
    {"{'name':'a','color':'blue'}", "p.color",
     "Unsupported value: \"blue\": supported values: \"red\", \"green\""},
    {"{'name':'a','color':1}", "p.color", "must be of type string: \"integer\""},
    {"{'name':'a','secret':'dg='}", "p.secret", "must be base64"},
    {"{'name':'a','secret':'d=g='}", "p.secret", "must be base64"},
    {"{'name':'a','secret':'dg=='}", NULL, NULL},
    {"{'name':'a','wait':'1 h'}", "p.wait", "Invalid value: \"1 h\""},
    {"{'name':'a','at':'now'}", "p.at", "Invalid value: \"now\""},
    {"{'name':'a','words':['a',1]}", "p.words[1]", "must be of type string"},
    {"{'name':'a','words':['a','b','c','d']}", "p.words", "Too many: 4: must have at most 3 items"},
    {"{'name':'a','labels':{'k':1}}", "p.labels[k]", "must be of type string"},
    {"{'name':'a','resources':{'cpu':'1','memory':'lots'}}", "p.resources[memory]",
     "Invalid value: \"lots\": quantities must match"},
    {"{'name':'a','plugins':{'svc':[1]}}", "p.plugins[svc][0]", "must be of type string"},
    {"{'name':'a','plugins':{'svc':null,'ssh':[]}}", NULL, NULL},
    {"{'name':'a','first':{}}", "p.first.number", "Required value"},
    {"{'name':'a','ports':[]}", "p.ports", "should have at least 1 items"},
    {"{'name':'a','ports':[{'number':1},{'number':0}]}", "p.ports[1].number",
     "Invalid value: 0: p.ports[1].number in body should be greater than or equal to 1"},
    {"{'name':'a','ports':[{'number':70000}]}", "p.ports[0].number",
     "should be less than or equal to 65535"},
    {"{'name':'a','ports':[{'number':1,'protocol':'tpc'}]}", "p.ports[0].protocol",
     "Unsupported value: \"tpc\": supported values: \"TCP\", \"UDP\"; did you mean \"TCP\"?"},
    {"{'name':'a','ports':[null]}", "p.ports[0]", "must be of type object: \"null\""},
    {"{'name':'a','ports':{}}", "p.ports", "must be of type array: \"object\""},
    {"{'name':'a','byName':{'k':{'number':'1'}}}", "p.byName[k].number", "must be of type integer"},
    {"{'name':'a','kept':[{'number':0}]}", "p.kept[0].number", "greater than or equal to 1"},
    {"{'name':'a','depends':[]}", "p.depends", "must be of type object: \"array\""},
    {"{'name':'a','depends':{}}", "p.depends.targets", "Required value"},
    {"{'name':'a','depends':{'targets':[],'strategy':'some'}}", "p.depends.strategy",
     "Unsupported value: \"some\""},
    {"{'name':'a','depends':{'targets':[],'target':[]}}", "p.depends.target",
     "did you mean \"targets\"?"},
    {"[]", "p", "must be of type object: \"array\""},
};

static char *json_of(const char *quoted)
{
    char *text = mem_strdup(quoted);

    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    return text;
}

static void each_rule_reports_path_and_reason(void **state)
{
    static const struct schema_options strict = {UNKNOWN_ERROR, .defaults = true,
                                                 .drop_null = true};

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str text = json_of(cases[i].text);
        scoped(json) json_t *doc = parse(text);
        struct error_list errors = {0};

        schema_check(&part_schema, doc, "p", &strict, &errors);
        if (!cases[i].message)
            check_str(text, errors.count ? errors.items[0].message : NULL, NULL);
        else if (errors.count != 1)
            check_fail("%s: %zu findings", text, errors.count);
        else {
            check_str(text, errors.items[0].field, cases[i].field);
            check_has(text, errors.items[0].message, cases[i].message);
        }
        error_list_release(&errors);
    }
}

static void check_result(const struct schema *schema, const char *before, const char *after,
                         const struct schema_options *options)
{
    scoped_str before_text = json_of(before);
    scoped_str after_text = json_of(after);
    scoped(json) json_t *doc = parse(before_text), *expected = parse(after_text);
    struct error_list errors = {0};

    for (int pass = 0; pass < 2; pass++) { /* a second pass of defaulting changes nothing */
        schema_check(schema, doc, "", options, &errors);
        check_str(before, errors.count ? errors.items[0].message : NULL, NULL);
        if (!json_equal(doc, expected))
            check_fail("%s became %s", before, json_dumps(doc, JSON_COMPACT));
    }
    error_list_release(&errors);
}

static void documents_are_pruned_and_defaulted_in_place(void **state)
{
    struct error_list pruned = {0};
    const struct schema_options all = {UNKNOWN_PRUNE, .defaults = true, .drop_null = true};
    const struct schema_options plain = {UNKNOWN_PRUNE};
    const struct schema_options told = {UNKNOWN_PRUNE, .pruned = &pruned};

    check_result(&part_schema, "{'name':'a','bogus':1,'ports':[{'number':1,'x':{}}]}",
                 "{'name':'a','ports':[{'number':1,'protocol':'TCP'}],'count':3}", &all);
    check_result(&part_schema, "{'name':'a','count':null,'size':null,'any':null}",
                 "{'name':'a','count':3,'any':null}", &all);
    check_result(&part_schema, "{'name':'a','depends':{'targets':[]}}",
                 "{'name':'a','count':3,'depends':{'targets':[],'strategy':'all'}}", &all);
    check_result(&part_schema, "{'name':'a','size':null,'y':1}", "{'name':'a','size':null}",
                 &plain);
    check_result(&part_schema, "{'name':'a','nam':1}", "{'name':'a'}", &told);
    assert_int_equal(pruned.count, 1);
    check_str("told", pruned.items[0].message, "unknown field \"nam\", did you mean \"name\"?");
    error_list_release(&pruned);
}

static void partial_schema_requires_and_defaults_nothing(void **state)
{
    const struct schema_options all = {UNKNOWN_ERROR, .defaults = true, .drop_null = true};

    check_result(&patch_schema, "{}", "{}", &all);
    check_result(&patch_schema, "{'ports':[],'depends':{'$patch':'replace'}}",
                 "{'ports':[],'depends':{'$patch':'replace'}}", &all);
    check_result(&patch_schema, "{'first':{'$retainKeys':[]},'kept':[{'$patch':'delete'}]}",
                 "{'first':{'$retainKeys':[]},'kept':[{'$patch':'delete'}]}", &all);
}

static void structs_hold_the_decoded_fields(void **state)
{
    scoped_str text = json_of(
        "{'name':'a','count':-2,'limit':0,'size':9007199254740993,'grace':5,'on':true,'maybe':"
        "false,'cpu':0.1,"
        "'port':80,'secret':'dg==','wait':'1m','at':'1970-01-01T00:00:01Z','words':['u','v'],'"
        "labels':{'k':'w'},"
        "'resources':{'cpu':2},'plugins':{'svc':null,'ssh':['--x']},'first':{'number':1},'probe':{'"
        "strict':true},"
        "'ports':[{'number':2,'protocol':'UDP'}],'byName':{'n':{'number':3}},'any':[1],'kept':[{}],"
        "'color':'green','shirt':'large','depends':{'targets':['t'],'strategy':'any'}}");
    scoped(json) json_t *doc = parse(text);
    scoped(arena) struct arena *arena = arena_new(0);
    struct part part;
    struct error err = {0};

    check_ok("decode", schema_decode(&part_schema, doc, arena, &part, &err), err);
    check_str("name", part.name, "a");
    assert_int_equal(part.count, -2);
    assert_true(part.limit.set && part.limit.value == 0);
    assert_true(part.size == 9007199254740993);
    assert_true(part.grace.set && part.grace.value == 5);
    assert_true(part.on);
    assert_int_equal(part.maybe, 0);
    check_str("cpu", part.cpu, "0.1");
    check_str("port", part.port_or_name, "80");
    check_str("secret", part.secret, "dg==");
    assert_true(part.wait_ns == 60000000000 && part.at_ms == 1000);
    assert_int_equal(part.words.count, 2);
    check_str("word", part.words.items[1], "v");
    check_str("label", part.labels.items[0].value, "w");
    check_str("resource", part.resources.items[0].value, "2");
    assert_int_equal(part.plugins.count, 2);
    assert_int_equal(part.plugins.items[0].value.count, 0);
    check_str("plugin", part.plugins.items[1].value.items[0], "--x");
    assert_int_equal(part.first->number, 1);
    assert_true(part.probe.strict && part.probe.period_ns == -1);
    check_str("protocol", part.ports.items[0].protocol, "UDP");
    check_str("key", part.by_name.items[0].key, "n");
    assert_int_equal(part.by_name.items[0].value.number, 3);
    assert_true(json_is_array(part.any) && json_is_array(part.ports_json));
    check_str("target", part.targets.items[0], "t");
    check_str("strategy", part.strategy, "any");
    assert_int_equal(part.color, GREEN);
    assert_int_equal(part.shirt, LARGE);
}

static void absent_members_have_their_absent_form(void **state)
{
    scoped(json) json_t *doc = json_object();
    scoped(arena) struct arena *arena = arena_new(0);
    struct part part;

    assert_true(schema_decode(&part_schema, doc, arena, &part, NULL));
    check_str("a required text is empty", part.name, "");
    assert_int_equal(part.count, 0);
    assert_false(part.limit.set || part.grace.set);
    assert_int_equal(part.maybe, -1);
    assert_true(part.wait_ns == -1 && part.at_ms == 0 && part.probe.period_ns == -1);
    assert_int_equal(part.color, RED);
    assert_int_equal(part.shirt, NO_SIZE);
    assert_null(part.first);
    assert_null(part.any);
    assert_int_equal(part.words.count + part.labels.count + part.ports.count + part.targets.count,
                     0);
}

static void unchecked_documents_fail_to_decode_instead_of_crashing(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str text = json_of(cases[i].text);
        scoped(json) json_t *doc = parse(text);
        scoped(arena) struct arena *arena = arena_new(0);
        struct part part;
        struct error err = {0};

        if (!schema_decode(&part_schema, doc, arena, &part, &err))
            check(text, err.code == ERR_INVALID && *err.message);
    }
}

static const struct {
    const char *path, *name; /* `name`: name of the row that the path leads to; NULL: there is no
                              * such row */
} paths[] = {
    {"name", "name"},
    {"ports.number", "number"},
    {"ports[3].number", "number"},
    {"depends.targets", "depends.targets"},
    {"depends.targets[0]", "depends.targets"},
    {"byName.key.protocol", "protocol"},
    {"byName.key", "byName"},
    {"labels.x", NULL},
    {"depends", NULL},
    {"depends.x", NULL},
    {"name.x", NULL},
    {"", NULL},
    {"ports..number", NULL},
};

static void rows_are_found_by_path(void **state)
{
    for (size_t i = 0; i < countof(paths); i++) {
        const struct field *field = schema_find(&part_schema, paths[i].path);

        check_str(paths[i].path, field ? field->name : NULL, paths[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_reports_path_and_reason),
        cmocka_unit_test(documents_are_pruned_and_defaulted_in_place),
        cmocka_unit_test(partial_schema_requires_and_defaults_nothing),
        cmocka_unit_test(structs_hold_the_decoded_fields),
        cmocka_unit_test(absent_members_have_their_absent_form),
        cmocka_unit_test(unchecked_documents_fail_to_decode_instead_of_crashing),
        cmocka_unit_test(rows_are_found_by_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
