/*
 * The environment of a container's program is merged from several lists, in time linear in their
 * lengths. See container_env in pod.h.
 */
#include <string.h>

#include "base/collections/hash.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/shim/shim.h"

/* A hash set of the names kept so far, by open addressing; each slot is an entry of the
 * environment. */
struct names {
    const char **slots;
    size_t mask;
};

/* Adds the name of `entry` to the set. Returns false when the set has the name already. */
static bool names_add(struct names *names, const char *entry)
{
    size_t len = strcspn(entry, "=") + 1;

    for (size_t i = hash_bytes(entry, len - 1) & names->mask;; i = (i + 1) & names->mask) {
        if (!names->slots[i]) {
            names->slots[i] = entry;
            return true;
        }
        if (strncmp(names->slots[i], entry, len) == 0)
            return false;
    }
}

/* Puts those of the `n` entries that have a new name before out[at], from the last entry to the
 * first, so that the last value of a name is kept. Returns the new start of the result. */
static size_t keep_last(char **out, size_t at, struct names *names, char *const *entries, size_t n)
{
    while (n-- > 0)
        if (names_add(names, entries[n]))
            out[--at] = entries[n];
    return at;
}

char *const *container_env(const struct container *c, const char *marker)
{
    struct shim *shim = c->pod->shim;
    const struct shim_container *spec = c->spec;
    size_t n_sandbox = shim->sandbox ? shim->sandbox->n_env : 0, slots = 16;
    char *const *root = shim->sandbox ? &shim->sandbox->mount_roots[c->index] : NULL;
    size_t n_root = root && *root ? 1 : 0;
    size_t all = (size_t)shim->config.n_env + n_sandbox + n_root + spec->n_env + 1;

    while (slots < 2 * all)
        slots *= 2;
    if (shim->cap_env < all + 1 + slots) {
        shim->cap_env = all + 1 + slots;
        mem_free(shim->env);
        shim->env = mem_array(shim->cap_env, sizeof *shim->env);
    }

    struct names names = {(const char **)shim->env + all + 1, slots - 1};
    size_t at = all;

    memset(names.slots, 0, slots * sizeof *names.slots);
    shim->env[all] = NULL;
    names_add(&names, marker); /* no list can replace the marker */
    at = keep_last(shim->env, at, &names, spec->env, spec->n_env);
    if (n_root)
        at = keep_last(shim->env, at, &names, root, n_root);
    if (n_sandbox)
        at = keep_last(shim->env, at, &names, shim->sandbox->env, n_sandbox);
    at = keep_last(shim->env, at, &names, shim->config.env, shim->config.n_env);
    shim->env[--at] = (char *)marker; /* execve takes char *, but does not write to it */
    return shim->env + at;
}
