/*
 * Percent-encodes whatever is not unreserved, so that names and selectors cannot change the path
 * they stand in.
 */
#include "api/client/resource_path.h"

#include <string.h>

static void write_encoded(const char *text, struct buf *out)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    for (; *text; text++)
        if (strchr(plain, *text))
            buf_char(out, *text);
        else
            buf_printf(out, "%%%02X", (unsigned char)*text);
}

void resource_write_path(const struct kind *kind, const char *ns, const char *name, struct buf *out)
{
    buf_str(out, *kind->group ? "/apis/" : "/api/");
    buf_str(out, kind_api_version(kind));
    if (kind->namespaced && ns) {
        buf_str(out, "/namespaces/");
        write_encoded(ns, out);
    }
    buf_printf(out, "/%s", kind->plural);
    if (name) {
        buf_char(out, '/');
        write_encoded(name, out);
    }
}

void resource_write_query(const char *key, const char *value, struct buf *out)
{
    if (!value || !*value)
        return;
    buf_char(out, memchr(out->data, '?', out->len) ? '&' : '?');
    buf_printf(out, "%s=", key);
    write_encoded(value, out);
}
