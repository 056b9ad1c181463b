/*
 * FZ-08: the file of tokens. A file that can be read can be written and reads back as the same
 * tokens; a file that cannot be read changes nothing.
 */
/* covers: reliability.md FZ-08 SEC-03 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/server/auth/bearer_tokens.h"
#include "api/server/auth/identity.h"
#include "base/file.h"
#include "base/mem.h"
#include "tests/support/scratch_dir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_same(const struct bearer_token *a, const struct bearer_token *b)
{
    if (strcmp(a->name, b->name) != 0 || a->role != b->role ||
        memcmp(a->hash, b->hash, sizeof a->hash) != 0 || a->n_namespaces != b->n_namespaces ||
        a->expires_ms != b->expires_ms)
        return false;
    for (size_t i = 0; i < a->n_namespaces; i++)
        if (strcmp(a->namespaces[i], b->namespaces[i]) != 0)
            return false;
    return true;
}

/* The rights of a token are those of its role, in its namespaces alone. */
static void check_rights(const struct bearer_token *token)
{
    assert(token->role != ROLE_NONE);
    assert(identity_best_role(token->identity) <= token->role);
    if (token->n_namespaces && token->role != ROLE_ADMIN)
        assert(identity_role(token->identity, NULL) == ROLE_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped_str path = mem_printf("%s/tokens", scratch_dir());
    scoped(bearer_tokens) struct bearer_tokens tokens = {0}, again = {0};
    struct error err = {0};

    assert(file_write_atomic(path, data, size, 0600, &err));
    if (!bearer_tokens_load(&tokens, path, &err)) {
        assert(err.code != ERR_NONE && *err.message && !tokens.count);
        return 0;
    }
    for (size_t i = 0; i < tokens.count; i++)
        check_rights(&tokens.items[i]);
    assert(bearer_tokens_save(&tokens, path, &err));
    assert(bearer_tokens_load(&again, path, &err));
    assert(again.count == tokens.count);
    for (size_t i = 0; i < tokens.count; i++)
        assert(is_same(&tokens.items[i], &again.items[i]));
    return 0;
}
