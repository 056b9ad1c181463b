/*
 * FZ-11: kubeconfig files. A file that can be read can be written, and reads back as the same. No
 * program is started, and a refused file leaves no memory behind.
 */
/* covers: reliability.md FZ-11 */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/client/kubeconfig.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads the bytes as a file in memory (memfd), so that relative file names in it find nothing. */
static bool read_bytes(const void *bytes, size_t len, struct kubeconfig *out, struct error *err)
{
    int fd = memfd_create("kubeconfig", MFD_CLOEXEC);
    scoped_str path = mem_printf("/proc/self/fd/%d", fd);
    bool ok;

    assert(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    ok = kubeconfig_read(path, NULL, out, err);
    close(fd);
    return ok;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_bytes(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* Returns whether the text names files. Such inputs are skipped, because the fuzzer would read
 * files of the machine. */
static bool names_files(const char *text)
{
    static const char *const members[] = {"certificate-authority", "client-certificate",
                                          "client-key", "tokenFile"};

    for (size_t i = 0; i < countof(members); i++)
        for (const char *at = text; (at = strstr(at, members[i]));) {
            at += strlen(members[i]);
            if (strncmp(at, "-data", 5) != 0)
                return true;
        }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(kubeconfig) struct kubeconfig config = {0}, back = {0};
    scoped_str given = mem_alloc(size + 1);
    scoped(buf) struct buf text = {0};
    struct error err = {0};

    if (size)
        memcpy(given, data, size);
    if (names_files(given))
        return 0;
    if (!read_bytes(data, size, &config, &err)) {
        assert(err.code != ERR_NONE && err.message[0]);
        return 0;
    }
    assert(config.server);
    if (!config.token || !config.user) /* only configurations with a token can be written */
        return 0;
    kubeconfig_write(&config, &text);
    assert(read_bytes(text.data, text.len, &back, &err));
    assert(same_text(config.server, back.server) && same_text(config.token, back.token));
    assert(same_bytes(&config.ca, &back.ca));
    return 0;
}
