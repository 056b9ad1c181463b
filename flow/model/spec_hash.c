/*
 * Finds the entries in the text of the flow's body with a scanner, without parsing it into a tree.
 */
#include "flow/model/spec_hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/collections/hash.h"
#include "base/encoding/jsonscan.h"
#include "base/mem.h"

static void hash_all(struct flow_model *m)
{
    const char *spec = jsonscan_member(m->body->text, "spec");
    const char *at = jsonscan_member(spec, "flows"), *entry;
    size_t n = m->graph->spec->steps.count;

    m->spec_hashes = mem_array(n ? n : 1, sizeof *m->spec_hashes);
    for (size_t i = 0; i < n && at && (entry = jsonscan_next_element(&at)); i++)
        m->spec_hashes[i] = hash_stable(entry, (size_t)(at - entry));
}

uint64_t flow_spec_hash(struct flow_model *m, uint32_t step)
{
    if (!m->spec_hashes)
        hash_all(m);
    return m->spec_hashes[flow_graph_step(m->graph, step) - m->graph->spec->steps.items];
}

void spec_hash_format(uint64_t hash, char out[SPEC_HASH_TEXT_MAX])
{
    snprintf(out, SPEC_HASH_TEXT_MAX, "%016" PRIx64, hash);
}

uint64_t spec_hash_parse(const char *text)
{
    return strlen(text) == SPEC_HASH_TEXT_MAX - 1 ? strtoull(text, NULL, 16) : 0;
}
