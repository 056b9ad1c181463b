/*
 * FZ-11: private keys in the arguments of the plugin ssh. A key that can be read has a public key,
 * which is one line; any other is refused with a message that does not contain it (SEC-29).
 */
/* covers: reliability.md FZ-11 SEC-29 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "job/plugins/ssh_keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(buf) struct buf public_key = {0};
    struct error err = {0};

    if (!job_key_public((const char *)data, size, &public_key, &err)) {
        assert(err.code != ERR_NONE && *err.message);
        assert(size < 16 || !memmem(err.message, strlen(err.message), data, size));
        return 0;
    }
    /* a line of authorized_keys: the type and the key, without options before them */
    const char *space = strchr(public_key.data, ' '), *end = strchr(public_key.data, '\n');

    assert(space && space > public_key.data && end == public_key.data + public_key.len - 1);
    assert(strcspn(public_key.data, "\"=,'") >= (size_t)(space - public_key.data));
    assert(!memchr(space + 1, ' ', (size_t)(end - space - 1)));
    return 0;
}
