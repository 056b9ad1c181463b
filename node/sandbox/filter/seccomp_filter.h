#pragma once
/*
 * Macros for writing seccomp filters. A filter checks the architecture first; on machines that are
 * not listed here it matches nothing, and all calls go on.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#if defined(__x86_64__)
#define SECCOMP_OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SECCOMP_OWN_ARCH AUDIT_ARCH_AARCH64
#else
#define SECCOMP_OWN_ARCH 0 /* matches no architecture */
#endif

#define SECCOMP_LOAD(member)                                                                       \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define SECCOMP_LOAD_ARCH                SECCOMP_LOAD(arch)
#define SECCOMP_LOAD_CALL                SECCOMP_LOAD(nr)
#define SECCOMP_SKIP_UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))
#define SECCOMP_SKIP_IF(value, skip)     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (skip), 0)
#define SECCOMP_RETURN(verdict)          BPF_STMT(BPF_RET | BPF_K, (verdict))
