/*
 * Makes host keys, an account and a seccomp filter for sshd in a sandbox.
 */
#include "node/sandbox/sshd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "node/sandbox/filter/seccomp_filter.h"
#include "node/sandbox/hostkey.h"

enum { ACCOUNTS_MAX = 4 << 20 };

/* clang-format off */
static const struct {
    const char *name, *path;
    mode_t mode;
    bool single_id; /* the file exists only at level user */
} files[SSHD_FILES_MAX] = {
    {"sshd.key", "/etc/ssh/" HOSTKEY_NAME,        0600, false},
    {"sshd.pub", "/etc/ssh/" HOSTKEY_NAME ".pub", 0644, false},
    {"passwd",   "/etc/passwd",                   0644, true},
};
/* clang-format on */

bool sshd_file(enum isolation_level level, size_t i, const char **out_name, const char **out_path)
{
    if (i >= SSHD_FILES_MAX || (files[i].single_id && level != ISOLATION_USER))
        return false;
    *out_name = files[i].name;
    *out_path = files[i].path;
    return true;
}

static bool write_one(int own_fd, size_t i, const char *text, size_t len, struct error *err)
{
    int fd =
        openat(own_fd, files[i].name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0 && file_write_all(fd, text, len) && fchmod(fd, files[i].mode) == 0;

    if (!ok)
        error_errno(err, errno, "cannot write %s", files[i].path);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Writes the host's accounts, with sshd's replaced by one that has the pod's single id. */
static bool write_accounts(int own_fd, size_t i, struct error *err)
{
    static const char name[] = "sshd:";
    scoped(buf) struct buf host = {0}, text = {0};

    if (!file_read(files[i].path, ACCOUNTS_MAX, &host, err))
        return false;
    for (const char *at = host.data, *end; at && *at; at = end) {
        size_t len = strcspn(at, "\n");

        end = at + len + (at[len] == '\n');
        if (strncmp(at, name, strlen(name)) != 0)
            buf_add(&text, at, (size_t)(end - at));
    }
    buf_str(&text, "sshd:x:0:0::/run/sshd:/usr/sbin/nologin\n");
    return write_one(own_fd, i, text.data, text.len, err);
}

bool sshd_make(int own_fd, enum isolation_level level, const char *host_key,
               const char *host_public, struct error *err)
{
    return write_one(own_fd, 0, host_key, strlen(host_key), err) &&
           write_one(own_fd, 1, host_public, strlen(host_public), err) &&
           (level != ISOLATION_USER || write_accounts(own_fd, 2, err));
}

void sshd_pretend_groups(void)
{
    const struct sock_filter code[] = {
        SECCOMP_LOAD_ARCH,
        SECCOMP_SKIP_UNLESS(SECCOMP_OWN_ARCH, 3),
        SECCOMP_LOAD_CALL,
        SECCOMP_SKIP_UNLESS(SYS_setgroups, 1),
        SECCOMP_RETURN(SECCOMP_RET_ERRNO), /* errno 0 makes the call succeed */
        SECCOMP_RETURN(SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {countof(code), (struct sock_filter *)(size_t)code};

    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}
