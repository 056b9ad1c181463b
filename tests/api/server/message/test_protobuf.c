#include "tests/unit.h"

#include "api/server/message/protobuf.h"
#include "api/types/text/json_text.h"
#include "base/buf.h"

/* Decoding of protobuf bodies; tests/system/kubectl.py has those of kubectl itself. */

#define B(text) (text), sizeof(text) - 1

/* Appends an envelope around `raw`. */
static void envelope(struct buf *out, const char *kind, const char *raw, size_t len)
{
    scoped(buf) struct buf type = {0};

    buf_printf(&type, "\x0a\x02v1\x12%c%s", (char)strlen(kind), kind);
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
    const char *json; /* NULL: refused with `why` */
    const char *why;
};

/* clang-format off */
static const struct message messages[] = {
    {"text and maps", "ConfigMap", B("\x0a\x04\x0a\x02" "cm" "\x12\x06\x0a\x01" "a" "\x12\x01" "b"),
     "{\"metadata\":{\"name\":\"cm\"},\"data\":{\"a\":\"b\"},\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}"},
    {"bytes become base64", "Secret", B("\x12\x08\x0a\x01" "k" "\x12\x03" "v\x00w"),
     "{\"data\":{\"k\":\"dgB3\"},\"apiVersion\":\"v1\",\"kind\":\"Secret\"}"},
    {"zero is left out where Go would", "ConfigMap", B("\x0a\x04\x0a\x00\x38\x00"),
     "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}"},
    {"but kept where it was meant", "DeleteOptions", B("\x08\x00\x18\x00"),
     "{\"gracePeriodSeconds\":0,\"orphanDependents\":false,\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"}"},
    {"lists", "DeleteOptions", B("\x2a\x03" "All"),
     "{\"dryRun\":[\"All\"],\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"}"},
    {"a time", "ConfigMap", B("\x0a\x08\x42\x06\x08\x80\xf2\xd6\xca\x06"),
     "{\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:00:00Z\"},\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}"},
    {"an empty time", "ConfigMap", B("\x0a\x02\x42\x00"), "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}"},
    {"microseconds", "Lease", B("\x12\x0d\x22\x0b\x08\x80\xf2\xd6\xca\x06\x10\x80\x94\xef\x3a"),
     "{\"spec\":{\"renewTime\":\"2026-01-01T00:00:00.123456Z\"},\"apiVersion\":\"v1\",\"kind\":\"Lease\"}"},
    {"a number or a text", "Service", B("\x12\x0f\x0a\x06\x18\x50\x22\x02\x10\x51\x0a\x05\x22\x03\x08\x01\x1a"),
     NULL, "damaged"},
    {"a number", "Service", B("\x12\x08\x0a\x06\x18\x50\x22\x02\x10\x51"),
     "{\"spec\":{\"ports\":[{\"port\":80,\"targetPort\":81}]},\"apiVersion\":\"v1\",\"kind\":\"Service\"}"},
    {"fields nobody knows", "ConfigMap", B("\xd8\x3e\x05\xd2\x3e\x01x"), "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}"},
    {"a length beyond the end", "ConfigMap", B("\x0a\x70\x0a"), NULL, "a length goes beyond its end"},
    {"half a number", "DeleteOptions", B("\x08\x80"), NULL, "it ends within a number"},
    {"the wrong wire type", "ConfigMap", B("\x08\x01"), NULL, "the wrong wire type"},
    {"no UTF-8", "ConfigMap", B("\x0a\x03\x0a\x01\xff"), NULL, "not UTF-8"},
    {"a kind without a table", "Pod", B(""), NULL, "no protobuf message of kind \"Pod\" is known here; send JSON"},
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
        doc = protobuf_parse(bytes.data, bytes.len, &err);
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

    check_error("json", protobuf_parse("{}", 2, &err), err, ERR_BAD_REQUEST);
    check_has("json", err.message, "expected prefix [107 56 115 0]");
    check_error("nothing", protobuf_parse("", 0, &err), err, ERR_BAD_REQUEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_become_documents),
        cmocka_unit_test(bytes_without_an_envelope_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
