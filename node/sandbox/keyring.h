#pragma once
/*
 * Session keyrings (session-keyring(7)). A program inherits the keyring of the process that started
 * it, and with it all keys in there: tickets of Kerberos, keys of encrypted directories.
 */
#include <linux/keyctl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/**
 * Leaves the inherited session keyring for a new and empty one. A kernel without keyrings has
 * nothing to leave. When the user may have no more keys, the keyring stays, which is then one that
 * the shim has made (shim_main), not that of the user that started the program. Async-signal-safe.
 */
static inline void keyring_leave(void)
{
    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL, 0, 0, 0);
}
