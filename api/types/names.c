/*
 * The formats of names and labels. The error texts are those of Kubernetes. Ref: apimachinery
 * pkg/util/validation/validation.go.
 */
#include <string.h>

#include "api/types/labels.h"
#include "api/types/limits.h"

enum { LOWER = 1, UPPER = 2, DIGIT = 4, DASH = 8, UNDERSCORE = 16, DOT = 32 };

/* clang-format off */
static const unsigned char classes[256] = {
    ['a' ... 'z'] = LOWER, ['A' ... 'Z'] = UPPER, ['0' ... '9'] = DIGIT, ['-'] = DASH, ['_'] = UNDERSCORE, ['.'] = DOT,
};

struct format {
    unsigned first, inside, last; /* character classes allowed there */
    const char *rule;
};
static const struct format label_1123 = {LOWER | DIGIT, LOWER | DIGIT | DASH, LOWER | DIGIT,
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
    "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"};
static const struct format label_1035 = {LOWER, LOWER | DIGIT | DASH, LOWER | DIGIT,
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end "
    "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"};
static const struct format qualified = {LOWER | UPPER | DIGIT, LOWER | UPPER | DIGIT | DASH | UNDERSCORE | DOT, LOWER | UPPER | DIGIT,
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"};
static const char subdomain_rule[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with "
    "an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
static const char label_value_rule[] =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with "
    "an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
static const char key_rule[] =
    "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
/* clang-format on */

static bool follows(const struct format *format, const char *text, size_t len)
{
    if (!len || !(classes[(unsigned char)text[0]] & format->first) ||
        !(classes[(unsigned char)text[len - 1]] & format->last))
        return false;
    for (size_t i = 1; i + 1 < len; i++)
        if (!(classes[(unsigned char)text[i]] & format->inside))
            return false;
    return true;
}

static bool too_long(struct error *err, size_t max)
{
    return error_set(err, ERR_INVALID, "", "must be no more than %zu characters", max);
}

static bool check_format(const struct format *format, const char *name, struct error *err)
{
    size_t len = strlen(name);

    if (len > LABEL_BYTES_MAX)
        return too_long(err, LABEL_BYTES_MAX);
    return follows(format, name, len) || error_set(err, ERR_INVALID, "", "%s", format->rule);
}

bool name_is_dns_label(const char *name, struct error *err)
{
    return check_format(&label_1123, name, err);
}

bool name_is_dns1035_label(const char *name, struct error *err)
{
    return check_format(&label_1035, name, err);
}

bool name_is_qualified(const char *name, struct error *err)
{
    return *name ? check_format(&qualified, name, err)
                 : error_set(err, ERR_INVALID, "", "name part must be non-empty");
}

/* Checks for labels of any length joined by dots. */
static bool is_subdomain(const char *name, size_t len)
{
    const char *end = name + len;

    for (;;) {
        const char *dot = memchr(name, '.', (size_t)(end - name));
        const char *stop = dot ? dot : end;

        if (!follows(&label_1123, name, (size_t)(stop - name)))
            return false;
        if (!dot)
            return true;
        name = dot + 1;
    }
}

static bool check_subdomain(const char *name, size_t len, struct error *err)
{
    if (len > NAME_BYTES_MAX)
        return too_long(err, NAME_BYTES_MAX);
    return is_subdomain(name, len) || error_set(err, ERR_INVALID, "", "%s", subdomain_rule);
}

bool name_is_dns_subdomain(const char *name, struct error *err)
{
    return check_subdomain(name, strlen(name), err);
}

bool label_key_valid(const char *key, struct error *err)
{
    const char *slash = strchr(key, '/');

    if (!slash)
        return name_is_qualified(key, err);
    if (strchr(slash + 1, '/'))
        return error_set(err, ERR_INVALID, "", "%s", key_rule);
    if (slash == key)
        return error_set(err, ERR_INVALID, "", "prefix part must be non-empty");
    if (!check_subdomain(key, (size_t)(slash - key), err)) {
        error_prefix(err, "prefix part ");
        return false;
    }
    return name_is_qualified(slash + 1, err);
}

bool label_value_valid(const char *value, struct error *err)
{
    size_t len = strlen(value);

    if (len > LABEL_BYTES_MAX)
        return too_long(err, LABEL_BYTES_MAX);
    return !len || follows(&qualified, value, len) ||
           error_set(err, ERR_INVALID, "", "%s", label_value_rule);
}
