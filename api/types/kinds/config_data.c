/*
 * The kinds ConfigMap and Secret: values by key that pods use as files or environment variables.
 *
 * The values of a Secret are base64. stringData takes plain values; every write encodes them into
 * data, so that stringData is never stored. Ref: k8s.io/api core/v1; spec/reliability.md SEC-19,
 * L-16.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/decoded.h"
#include "base/encoding/base64.h"

/* clang-format off */
static const struct field config_map_fields[] = {
    {"data",       FIELD_STR_MAP,  FIELD_PASS, .pb = 2, .doc = "Text values by key."},
    {"binaryData", FIELD_STR_MAP,  FIELD_PASS, .pb = 3, .pb_as = PB_BYTES_MAP, .doc = "Binary values by key, encoded as base64."},
    {"immutable",  FIELD_OPT_BOOL, FIELD_PASS, .pb = 4, .doc = "Makes the values unchangeable for the rest of the object's life."},
    {0},
};
static const struct schema config_map_schema = {"ConfigMap", config_map_fields, .doc = "Values by key that pods use as files or environment variables."};

static const struct field secret_fields[] = {
    {"data",       FIELD_STR_MAP,  FIELD_PASS, .pb = 2, .pb_as = PB_BYTES_MAP, .doc = "Binary values by key, encoded as base64."},
    {"stringData", FIELD_STR_MAP,  FIELD_PASS, .pb = 4, .doc = "Plain text values by key. They are encoded and moved to data when the object is written."},
    {"type",       FIELD_STR,      FIELD_PASS, .pb = 3, .default_json = "\"Opaque\"", .immutable_doc = true,
     .doc = "Purpose of the Secret, for example kubernetes.io/tls."},
    {"immutable",  FIELD_OPT_BOOL, FIELD_PASS, .pb = 5, .doc = "Makes the values unchangeable for the rest of the object's life."},
    {0},
};
static const struct schema secret_schema = {"Secret", secret_fields, .doc = "Confidential values by key that pods use as files or environment variables."};
/* clang-format on */

static void secret_normalize(json_t *body)
{
    json_t *plain = json_object_get(body, "stringData"), *data = json_object_get(body, "data"),
           *value;
    const char *key;

    if (!plain)
        return;
    if (!data) {
        data = json_object();
        json_object_set_new(body, "data", data);
    }
    json_object_foreach(plain, key, value)
    {
        scoped(buf) struct buf encoded = {0};

        base64_encode(json_string_value(value), json_string_length(value), &encoded);
        json_object_set_new(data, key, json_string(encoded.len ? encoded.data : ""));
    }
    json_object_del(body, "stringData");
}

/* SEC-19: a key becomes a file name. */
static bool key_valid(const char *key)
{
    size_t len = strspn(key, "-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

    return *key && !key[len] && len <= NAME_BYTES_MAX && strcmp(key, ".") != 0 &&
           strncmp(key, "..", 2) != 0;
}

static const char *key_problem(const char *key)
{
    if (strcmp(key, ".") == 0)
        return "must not be '.'";
    if (strncmp(key, "..", 2) == 0)
        return key[2] ? "must not start with '..'" : "must not be '..'";
    if (strlen(key) > NAME_BYTES_MAX)
        return "must be no more than 253 characters";
    return "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
           "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
           "'[-._a-zA-Z0-9]+')";
}

enum encoding { PLAIN, BASE64 };

/* Checks the keys and values of a member and returns the total size of the decoded values. Messages
 * never show a value (SEC-30). */
static int64_t check_member(const json_t *body, const char *member, enum encoding encoding,
                            struct error_list *errors)
{
    const char *key;
    json_t *value;
    int64_t size = 0;

    json_object_foreach(json_object_get(body, member), key, value)
    {
        int64_t len = (int64_t)json_string_length(value);

        size += encoding == BASE64 ? len / 4 * 3 : len;
        if (!key_valid(key))
            FINDING(errors, ("%s[%s]", member, key), "Invalid value: \"%.256s\": %s", key,
                    key_problem(key));
        if (encoding == BASE64 &&
            !base64_valid(json_string_value(value), json_string_length(value)))
            FINDING(errors, ("%s[%s]", member, key),
                    "Invalid value: must be base64 text; plain text goes to %s",
                    strcmp(member, "data") == 0 ? "stringData" : "data");
    }
    return size;
}

static void check_unique(const json_t *body, struct error_list *errors)
{
    const json_t *data = json_object_get(body, "data");
    const char *key;
    json_t *value;

    json_object_foreach(json_object_get(body, "binaryData"), key, value)
    {
        if (json_object_get(data, key))
            FINDING(errors, ("data[%s]", key),
                    "Invalid value: \"%s\": duplicate of key present in binaryData", key);
    }
}

static void data_validate(const struct admission *adm, const struct object *old,
                          const struct object *object, struct error_list *errors)
{
    scoped(json) json_t *body = decoded_root(object->body);
    bool secret = object->kind == &kind_secret;
    int64_t size = check_member(body, "data", secret ? BASE64 : PLAIN, errors) +
                   check_member(body, "binaryData", BASE64, errors);
    int64_t most = limits_of(adm)->data_bytes;

    check_unique(body, errors);
    if (size > most)
        FINDING(errors, ("data"), "Too long: must have at most %lld bytes, has %lld",
                (long long)most, (long long)size);
}

static void data_validate_in_context(const struct admission *adm, const struct object *old,
                                     const struct object *object, struct error_list *errors)
{
    static const char *const members[] = {"data", "binaryData", "immutable"};
    scoped(json) json_t *before = NULL, *after = NULL;

    if (!old || old->body == object->body)
        return;
    before = object_body_json(old);
    after = object_body_json(object);
    if (object->kind == &kind_secret &&
        !json_equal(json_object_get(before, "type"), json_object_get(after, "type")))
        FINDING(errors, ("type"), "Invalid value: \"%s\": field is immutable",
                json_string_value(json_object_get(after, "type")));
    if (!json_is_true(json_object_get(before, "immutable")))
        return;
    for (size_t i = 0; i < countof(members); i++) {
        const json_t *left = json_object_get(before, members[i]),
                     *right = json_object_get(after, members[i]);

        if (left != right && (!left || !right || !json_equal(left, right)))
            FINDING(errors, ("%s", members[i]),
                    "Forbidden: field is immutable when `immutable` is set: delete the object and "
                    "make it anew");
    }
}

static const char *const config_map_short_names[] = {"cm", NULL};

const struct kind kind_config_map = {
    .id = KIND_CONFIG_MAP,
    .group = "",
    .version = "v1",
    .name = "ConfigMap",
    .plural = "configmaps",
    .singular = "configmap",
    .short_names = config_map_short_names,
    .namespaced = true,
    .no_generation = true,
    .schema = &config_map_schema,
    .validate = data_validate,
    .validate_in_context = data_validate_in_context,
};

const struct kind kind_secret = {
    .id = KIND_SECRET,
    .group = "",
    .version = "v1",
    .name = "Secret",
    .plural = "secrets",
    .singular = "secret",
    .namespaced = true,
    .no_generation = true,
    .schema = &secret_schema,
    .normalize = secret_normalize,
    .validate = data_validate,
    .validate_in_context = data_validate_in_context,
};
