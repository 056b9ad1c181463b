#pragma once
/*
 * Words for seccomp filters.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#if defined(__x86_64__)
#define FILTER_OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_OWN_ARCH AUDIT_ARCH_AARCH64
#else
#define FILTER_OWN_ARCH 0 /* no filter matches: everything goes on */
#endif

#define FILTER_LOAD(member)                                                                        \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define FILTER_LOAD_ARCH           FILTER_LOAD(arch)
#define FILTER_LOAD_CALL           FILTER_LOAD(nr)
#define FILTER_UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))
#define FILTER_IF(value, skip)     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (skip), 0)
#define FILTER_RETURN(verdict)     BPF_STMT(BPF_RET | BPF_K, (verdict))
