/*
 * Finding the entries in compact JSON text without a tree of it.
 */
#include "flow/spec_hash.h"
#include "base/hash.h"
#include "base/mem.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Behind a string that begins at `p`. */
static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        p += *p == '\\' && p[1];
    return *p ? p + 1 : p;
}

/* Behind a value that begins at `p`: at the comma or bracket that ends it. */
static const char *skip_value(const char *p)
{
    unsigned depth = 0;

    while (*p && (depth || !strchr(",]}", *p))) {
        depth += *p == '{' || *p == '[';
        depth -= *p == '}' || *p == ']';
        p = *p == '"' ? skip_string(p) : p + 1;
    }
    return p;
}

/* The value of a member of the object that begins at `p`; NULL when it has none of that name. */
static const char *member(const char *p, const char *name)
{
    size_t len = strlen(name);

    if (!p || *p != '{')
        return NULL;
    for (p++; *p == '"'; p += *p == ',') {
        const char *value = skip_string(p);
        bool found = (size_t)(value - p) == len + 2 && strncmp(p + 1, name, len) == 0;

        if (*value != ':')
            return NULL;
        if (found)
            return value + 1;
        p = skip_value(value + 1);
    }
    return NULL;
}

static void hash_all(struct flow_record *r)
{
    const char *p = member(member(r->body->text, "spec"), "flows");
    size_t n = r->graph->spec->steps.count;

    r->spec_hashes = mem_array(n ? n : 1, sizeof *r->spec_hashes);
    p = p && *p == '[' ? p + 1 : "";
    for (size_t i = 0; i < n && *p == '{'; i++) {
        const char *end = skip_value(p);

        r->spec_hashes[i] = hash_stable(p, (size_t)(end - p));
        p = *end == ',' ? end + 1 : end;
    }
}

uint64_t flow_spec_hash(struct flow_record *r, uint32_t step)
{
    if (!r->spec_hashes)
        hash_all(r);
    return r->spec_hashes[flow_graph_step(r->graph, step) - r->graph->spec->steps.items];
}

void spec_hash_format(uint64_t hash, char out[SPEC_HASH_TEXT_MAX])
{
    snprintf(out, SPEC_HASH_TEXT_MAX, "%016" PRIx64, hash);
}

uint64_t spec_hash_parse(const char *text)
{
    return strlen(text) == SPEC_HASH_TEXT_MAX - 1 ? strtoull(text, NULL, 16) : 0;
}
