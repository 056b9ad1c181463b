#include "tests/unit.h"

#include "api/server/message/protobuf.h"
#include "api/server/message/protobuf_tables.h"
#include "api/types/kind.h"
#include "api/types/text/json_text.h"
#include "base/buf.h"
#include "base/encoding/base64.h"

/* Tests reading and writing protobuf bodies. protobuf_golden.inc has bodies that Go's own types
 * make; tests/system/kubectl.py has those of kubectl. */

#include "tests/api/server/message/protobuf_golden.inc"

#define B(text) (text), sizeof(text) - 1

/* Appends an envelope around `raw`. */
static void envelope(struct buf *out, const char *kind, const char *raw, size_t len)
{
    scoped(buf) struct buf type = {0};

    const char *version = strcmp(kind, "Lease") == 0 ? "coordination.k8s.io/v1" : "v1";

    buf_printf(&type, "\x0a%c%s\x12%c%s", (char)strlen(version), version, (char)strlen(kind), kind);
    buf_add(out, "k8s\0\x0a", 5);
    buf_char(out, (char)type.len);
    buf_add(out, type.data, type.len);
    buf_char(out, '\x12');
    buf_char(out, (char)len);
    buf_add(out, raw, len);
}

struct message {
    const char *name, *kind, *raw;
    size_t len;
    const char *json; /* the body as JSON; NULL: it is refused with `why` */
    const char *why;
};

/* clang-format off */
static const struct message messages[] = {
    {"text and maps", "ConfigMap", B("\x0a\x04\x0a\x02" "cm" "\x12\x06\x0a\x01" "a" "\x12\x01" "b"),
     "{\"metadata\":{\"name\":\"cm\"},\"data\":{\"a\":\"b\"},\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}"},
    {"bytes become base64", "Secret", B("\x12\x08\x0a\x01" "k" "\x12\x03" "v\x00w"),
     "{\"data\":{\"k\":\"dgB3\"},\"apiVersion\":\"v1\",\"kind\":\"Secret\"}"},
    {"zero is left out where Go would", "ConfigMap", B("\x0a\x04\x0a\x00\x38\x00"),
     "{\"metadata\":{},\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}"},
    {"but kept where it was meant", "DeleteOptions", B("\x08\x00\x18\x00"),
     "{\"gracePeriodSeconds\":0,\"orphanDependents\":false,\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"}"},
    {"lists", "DeleteOptions", B("\x2a\x03" "All"),
     "{\"dryRun\":[\"All\"],\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"}"},
    {"a time", "ConfigMap", B("\x0a\x08\x42\x06\x08\x80\xf2\xd6\xca\x06"),
     "{\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:00:00Z\"},\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}"},
    {"an empty time", "ConfigMap", B("\x0a\x02\x42\x00"), "{\"metadata\":{},\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}"},
    {"microseconds", "Lease", B("\x12\x0d\x22\x0b\x08\x80\xf2\xd6\xca\x06\x10\x80\x94\xef\x3a"),
     "{\"spec\":{\"renewTime\":\"2026-01-01T00:00:00.123456Z\"},\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\"}"},
    {"a number or a text", "Service", B("\x12\x0f\x0a\x06\x18\x50\x22\x02\x10\x51\x0a\x05\x22\x03\x08\x01\x1a"),
     NULL, "damaged"},
    {"a number", "Service", B("\x12\x08\x0a\x06\x18\x50\x22\x02\x10\x51"),
     "{\"spec\":{\"ports\":[{\"port\":80,\"targetPort\":81}]},\"apiVersion\":\"v1\",\"kind\":\"Service\"}"},
    {"unknown fields", "ConfigMap", B("\xd8\x3e\x05\xd2\x3e\x01x"), "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}"},
    {"a length beyond the end", "ConfigMap", B("\x0a\x70\x0a"), NULL, "a length goes beyond its end"},
    {"a text shorter than its length", "ConfigMap", B("\x0a\x05\x0a\x07" "cm1"), NULL, "a length goes beyond its end"},
    {"half a number", "DeleteOptions", B("\x08\x80"), NULL, "it ends within a number"},
    {"the wrong wire type", "ConfigMap", B("\x08\x01"), NULL, "the wrong wire type"},
    {"no UTF-8", "ConfigMap", B("\x0a\x03\x0a\x01\xff"), NULL, "not UTF-8"},
    {"a NUL in a text", "ConfigMap", B("\x0a\x03\x0a\x01\0"), NULL, "a text has a NUL, which is not allowed"},
    {"a NUL in a key", "ConfigMap", B("\x12\x06\x0a\x01\0\x12\x01" "b"), NULL, "a text has a NUL, which is not allowed"},
    {"an empty message is kept", "Pod", B("\x12\x08\x0a\x06\x12\x02\x12\x00\x0a\x00"),
     "{\"spec\":{\"volumes\":[{\"emptyDir\":{},\"name\":\"\"}]},\"apiVersion\":\"v1\",\"kind\":\"Pod\"}"},
    {"a source without a table", "Pod", B("\x12\x0a\x0a\x08\x12\x06\xe2\x01\x03\x0a\x01" "d"),
     "{\"spec\":{\"volumes\":[{\"csi\":{}}]},\"apiVersion\":\"v1\",\"kind\":\"Pod\"}"},
    {"numbers one by one and packed", "Pod", B("\x12\x09\x72\x07\x20\x05\x22\x03\x06\xac\x02"),
     "{\"spec\":{\"securityContext\":{\"supplementalGroups\":[5,6,300]}},\"apiVersion\":\"v1\",\"kind\":\"Pod\"}"},
    {"half a packed number", "Pod", B("\x12\x05\x72\x03\x22\x01\x80"), NULL, "it ends within a number"},
    {"a kind without a table", "JobFlow", B(""), NULL, "no protobuf message of kind \"JobFlow\" in version \"v1\" is known here; send JSON"},
};
/* clang-format on */

static void messages_become_documents(void **state)
{
    for (size_t i = 0; i < countof(messages); i++) {
        const struct message *c = &messages[i];
        scoped(buf) struct buf bytes = {0}, text = {0};
        scoped(json) json_t *doc = NULL;
        struct error err = {0};

        envelope(&bytes, c->kind, c->raw, c->len);
        doc = protobuf_parse(bytes.data, bytes.len, &json_limits_body, &err);
        if (doc)
            json_text(doc, &text);
        check_str(c->name, doc ? text.data : NULL, c->json);
        if (!c->json) {
            check_int(c->name, err.code, ERR_BAD_REQUEST);
            check_has(c->name, err.message, c->why);
        }
    }
}

static void bytes_without_an_envelope_are_refused(void **state)
{
    struct error err = {0};

    check_error("json", protobuf_parse("{}", 2, &json_limits_body, &err), err, ERR_BAD_REQUEST);
    check_has("json", err.message, "expected prefix [107 56 115 0]");
    check_error("nothing", protobuf_parse("", 0, &json_limits_body, &err), err, ERR_BAD_REQUEST);
}

static void drop_nulls(json_t *value)
{
    json_t *below;
    const char *key;
    void *next;
    size_t i;

    json_array_foreach(value, i, below)
    {
        drop_nulls(below);
    }
    json_object_foreach_safe(value, next, key, below)
    {
        if (json_is_null(below))
            json_object_del(value, key);
        else
            drop_nulls(below);
    }
}

/* Removes from a document what the tables do not know: unknown members and nulls. */
static void prune(json_t *doc, const struct schema *schema, const struct schema *metadata)
{
    const struct schema_options options = {UNKNOWN_PRUNE, .drop_null = true};
    scoped(json) json_t *meta = json_incref(json_object_get(doc, "metadata"));
    struct error_list found = {0};

    if (metadata) {
        json_object_del(doc, "metadata");
        schema_check(metadata, meta, "", &options, &found);
    }
    json_object_del(doc, "apiVersion");
    json_object_del(doc, "kind");
    schema_check(schema, doc, "", &options, &found);
    if (metadata)
        json_object_set(doc, "metadata", meta);
    error_list_release(&found);
}

/* Removes a port of 0. IntOrString is no pointer, so Go's JSON has a zero that stands for
 * absent. */
static void drop_zero_port(json_t *doc)
{
    json_t *port = json_array_get(json_object_get(json_object_get(doc, "spec"), "ports"), 0);
    const json_t *target = json_object_get(port, "targetPort");

    if (json_is_integer(target) && json_integer_value(target) == 0)
        json_object_del(port, "targetPort");
}

static void text_of(const json_t *doc, struct buf *out)
{
    char *text = json_dumps(doc, JSON_SORT_KEYS | JSON_COMPACT);

    buf_str(out, text);
    free(text);
}

static json_t *reparsed(const struct golden *golden, const json_t *doc)
{
    scoped(buf) struct buf bytes = {0};
    struct error err = {0};

    check(golden->name, protobuf_write(doc, &bytes));
    return protobuf_parse(bytes.data, bytes.len, &json_limits_body, &err);
}

static void what_go_writes_says_the_same_as_its_json(void **state)
{
    for (size_t i = 0; i < countof(goldens); i++) {
        const struct golden *golden = &goldens[i];
        scoped(buf) struct buf bytes = {0}, got = {0}, wanted = {0};
        scoped(json) json_t *json = json_read(golden->json, strlen(golden->json));
        scoped(json) json_t *doc = NULL, *again = NULL;
        const struct schema *schema, *metadata;
        struct error err = {0};

        base64_decode(golden->protobuf, strlen(golden->protobuf), &bytes);
        schema = protobuf_schema_of(json_string_value(json_object_get(json, "apiVersion")),
                                    json_string_value(json_object_get(json, "kind")), &metadata);
        check(golden->name, schema);
        doc = protobuf_parse(bytes.data, bytes.len, &json_limits_body, &err);
        check_str(golden->name, err.message, "");
        again = reparsed(golden, doc);
        check(golden->name, json_equal(doc, again));
        drop_nulls(json);
        prune(json, schema, metadata);
        drop_zero_port(json);
        prune(doc, schema, metadata);
        text_of(doc, &got);
        text_of(json, &wanted);
        check_str(golden->name, got.data, wanted.data);
    }
}

static void check_numbers(const struct schema *schema, int depth)
{
    for (const struct field *field = schema->fields; field && field->name; field++) {
        scoped_str name = mem_printf("%s.%s", schema->name, field->name);

        if (field->type == FIELD_OBJECT && strcmp(name, "ContainerStatus.usage") == 0)
            continue; /* Kubernetes does not have this member */
        check(name, field->pb > 0);
        for (const struct field *other = schema->fields; other != field; other++)
            check(name, other->pb != field->pb || other->pb_in != field->pb_in);
        if (field->of && depth > 0)
            check_numbers(field->of, depth - 1);
    }
}

/* A new row of a built-in kind must not be lost when a client sends protobuf. */
static void every_member_of_a_built_in_kind_has_a_number(void **state)
{
    for (int id = 0; id < KIND_N; id++) {
        const struct kind *kind = kind_by_id((enum kind_id)id);
        const struct schema *metadata;

        if (!protobuf_has(kind))
            continue;
        check(kind->name, protobuf_schema_of(kind_api_version(kind), kind->name, &metadata));
        check(kind->name, metadata == &metadata_schema);
        check_numbers(kind->schema, 16);
    }
    check_numbers(&metadata_schema, 16);
}

static void the_values_of_a_message_are_counted(void **state)
{
    const struct json_limits limits = {.max_bytes = 1 << 20, .max_depth = 8, .max_values = 10};
    struct error err = {0};

    for (size_t n = 10; n <= 11; n++) {
        scoped(buf) struct buf raw = {0}, bytes = {0};
        scoped(json) json_t *doc = NULL;

        for (size_t i = 0; i < n; i++)
            buf_add(&raw, "\x2a\x00", 2);
        envelope(&bytes, "DeleteOptions", raw.data, raw.len);
        doc = protobuf_parse(bytes.data, bytes.len, &limits, &err);
        check_int("at most ten", doc != NULL, n == 10);
    }
    check_has("which limit", err.message, "more than 10 values");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_become_documents),
        cmocka_unit_test(bytes_without_an_envelope_are_refused),
        cmocka_unit_test(what_go_writes_says_the_same_as_its_json),
        cmocka_unit_test(every_member_of_a_built_in_kind_has_a_number),
        cmocka_unit_test(the_values_of_a_message_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
