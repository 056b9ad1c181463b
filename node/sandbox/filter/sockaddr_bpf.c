/*
 * BPF programs for socket addresses, written instruction by instruction and loaded by the system
 * call. The pod's address and ports are in the entry of the control group (struct group_entry).
 *
 *   bind      a declared port? ── no ──► any address: note the port ──► go on
 *                 │ yes
 *             any or loopback address ──► the pod's address, go on, whatever the port
 *   connect   loopback and a declared port ──► the pod's address, go on
 *             an address of a pod ──► bind to the pod's address, go on
 *   sendto    loopback and a declared port ──► the pod's address, go on
 *
 * Seccomp notification (sockaddr_notify.c) applies the same rules without privileges, but bind
 * takes 6 times and connect 2 to 14 times as long with it, while BPF costs nothing measurable
 * (bench/bench_sockaddr.c). Besides, it takes setuid programs their rights (no_new_privs) and does
 * not see sendmsg. So root uses BPF, and other users, who may not load BPF programs, use seccomp.
 * Ref: local-runtime.md 3.3 and appendix C.
 */
#include "node/sandbox/filter/sockaddr_bpf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    CODE_MAX = 320,
    JUMPS_MAX = 2 * SOCKADDR_PORTS_MAX + 16,
    GO_ON = 1,
    GO_ON_ANY_PORT = 3, /* verdict of bind: the port needs no privilege (kernel 5.12) */
    RANGE_BYTES = 2,    /* the leading bytes of an address that all pods share */
};

enum label { TO_HIT, TO_SET, TO_RANGE, TO_OTHERS, TO_PASS, LABELS };

struct code {
    struct bpf_insn words[CODE_MAX];
    int n;
    struct {
        int at;
        enum label to;
    } jumps[JUMPS_MAX];
    int n_jumps;
    int labels[LABELS];
};

static void put(struct code *code, uint8_t op, uint8_t to, uint8_t from, int16_t offset,
                int32_t value)
{
    if (code->n < CODE_MAX)
        code->words[code->n++] = (struct bpf_insn){op, to, from, offset, value};
}

/* Puts an instruction that loads a member of the context, which is in r6. */
static void load(struct code *c, uint8_t reg, size_t offset)
{
    put(c, BPF_LDX | BPF_MEM | BPF_W, reg, BPF_REG_6, (int16_t)offset, 0);
}

static void store(struct code *c, size_t offset, uint8_t reg)
{
    put(c, BPF_STX | BPF_MEM | BPF_W, BPF_REG_6, reg, (int16_t)offset, 0);
}

static void move(struct code *c, uint8_t to, uint8_t from)
{
    put(c, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void set(struct code *c, uint8_t reg, uint32_t value)
{
    put(c, BPF_ALU | BPF_MOV | BPF_K, reg, 0, 0, (int32_t)value);
}

static void stack(struct code *c, int16_t offset, uint32_t value)
{
    put(c, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, offset, (int32_t)value);
}

/* Makes the jumps to a label lead to the instruction that is put next. */
static void leads_to(struct code *c, enum label to)
{
    if (c->n_jumps == JUMPS_MAX)
        return;
    c->jumps[c->n_jumps].at = c->n;
    c->jumps[c->n_jumps++].to = to;
}

static void jump(struct code *c, uint8_t op, uint8_t reg, uint32_t value, enum label to)
{
    leads_to(c, to);
    put(c, (uint8_t)(BPF_JMP32 | op | BPF_K), reg, 0, 0, (int32_t)value);
}

static void jump_always(struct code *c, enum label to)
{
    leads_to(c, to);
    put(c, BPF_JMP | BPF_JA, 0, 0, 0, 0);
}

static void here(struct code *c, enum label label)
{
    c->labels[label] = c->n;
}

static void leave(struct code *c, uint32_t verdict)
{
    set(c, BPF_REG_0, verdict);
    put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void resolve(struct code *c)
{
    for (int i = 0; i < c->n_jumps; i++)
        c->words[c->jumps[i].at].off = (int16_t)(c->labels[c->jumps[i].to] - c->jumps[i].at - 1);
}

#define CONTEXT(member) offsetof(struct bpf_sock_addr, member)
#define CONTEXT_V6(i)   (CONTEXT(user_ip6) + 4 * (size_t)(i))

static uint32_t mapped_mark(void)
{
    return htonl(0xffff);
}

/* The map's entry of a control group; in the programs r8 points to it. All numbers are in network
 * order. */
struct group_entry {
    uint32_t tried_port; /* the last undeclared port bound on any address */
    uint32_t ip;
    uint32_t ports[SOCKADDR_PORTS_MAX]; /* declared ports; the first 0 ends the list */
};

static void load_entry(struct code *c, uint8_t reg, size_t offset)
{
    put(c, BPF_LDX | BPF_MEM | BPF_W, reg, BPF_REG_8, (int16_t)offset, 0);
}

static void load_ip(struct code *c, uint8_t reg)
{
    load_entry(c, reg, offsetof(struct group_entry, ip));
}

static void begin(struct code *c, int map_fd)
{
    move(c, BPF_REG_6, BPF_REG_1);
    /* NOLINTNEXTLINE(misc-redundant-expression): parts of an opcode, some of which are 0 */
    put(c, BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map_fd);
    put(c, 0, 0, 0, 0, 0);
    set(c, BPF_REG_2, 0);
    put(c, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_local_storage);
    move(c, BPF_REG_8, BPF_REG_0);
    load(c, BPF_REG_7, CONTEXT(user_port));
}

static void declared_goto(struct code *c, enum label to)
{
    for (size_t i = 0; i < SOCKADDR_PORTS_MAX; i++) {
        load_entry(c, BPF_REG_3, offsetof(struct group_entry, ports) + i * sizeof(uint32_t));
        jump(c, BPF_JEQ, BPF_REG_3, 0, TO_OTHERS);
        leads_to(c, to);
        put(c, BPF_JMP32 | BPF_JEQ | BPF_X, BPF_REG_7, BPF_REG_3, 0, 0);
    }
    here(c, TO_OTHERS);
}

/* Puts instructions that combine the first words of an IPv6 address by OR: the result is 0 if all
 * of them are 0. */
static void load_or(struct code *c, uint8_t reg, int words)
{
    load(c, reg, CONTEXT_V6(0));
    for (int i = 1; i < words; i++) {
        load(c, BPF_REG_5, CONTEXT_V6(i));
        put(c, BPF_ALU64 | BPF_OR | BPF_X, reg, BPF_REG_5, 0, 0);
    }
}

/* Puts instructions that note the port, which is in r7, for sockaddr_bpf_taken_port. */
static void note_port(struct code *c)
{
    jump(c, BPF_JEQ, BPF_REG_7, 0, TO_PASS);
    put(c, BPF_STX | BPF_MEM | BPF_W, BPF_REG_8, BPF_REG_7,
        offsetof(struct group_entry, tried_port), 0);
    jump_always(c, TO_PASS);
}

static void write_bind4(struct code *c, int map_fd)
{
    begin(c, map_fd);
    load(c, BPF_REG_2, CONTEXT(user_ip4));
    declared_goto(c, TO_HIT);
    jump(c, BPF_JNE, BPF_REG_2, INADDR_ANY, TO_PASS);
    note_port(c);
    here(c, TO_HIT);
    jump(c, BPF_JEQ, BPF_REG_2, INADDR_ANY, TO_SET);
    jump(c, BPF_JNE, BPF_REG_2, htonl(INADDR_LOOPBACK), TO_PASS);
    here(c, TO_SET);
    load_ip(c, BPF_REG_3);
    store(c, CONTEXT(user_ip4), BPF_REG_3);
    leave(c, GO_ON_ANY_PORT);
}

static void write_mapped(struct code *c)
{
    set(c, BPF_REG_3, mapped_mark());
    store(c, CONTEXT_V6(2), BPF_REG_3);
    load_ip(c, BPF_REG_3);
    store(c, CONTEXT_V6(3), BPF_REG_3);
}

static void write_bind6(struct code *c, int map_fd)
{
    begin(c, map_fd);
    declared_goto(c, TO_HIT);
    load_or(c, BPF_REG_2, 4);
    jump(c, BPF_JNE, BPF_REG_2, 0, TO_PASS);
    note_port(c);
    here(c, TO_HIT);
    load_or(c, BPF_REG_2, 3);
    jump(c, BPF_JNE, BPF_REG_2, 0, TO_PASS);
    load(c, BPF_REG_2, CONTEXT_V6(3));
    jump(c, BPF_JEQ, BPF_REG_2, 0, TO_SET);
    jump(c, BPF_JNE, BPF_REG_2, htonl(1), TO_PASS);
    here(c, TO_SET);
    write_mapped(c);
    leave(c, GO_ON_ANY_PORT);
}

static void keep_range(struct code *c, uint8_t reg)
{
    put(c, BPF_ALU | BPF_AND | BPF_K, reg, 0, 0, (int32_t)htonl(0xffffffffU << (8 * RANGE_BYTES)));
}

/* Puts instructions that jump to a label if the address, which is in r2, is in the range of
 * pods. */
static void pod_goto(struct code *c, enum label to)
{
    move(c, BPF_REG_3, BPF_REG_2);
    load_ip(c, BPF_REG_4);
    keep_range(c, BPF_REG_3);
    keep_range(c, BPF_REG_4);
    leads_to(c, to);
    put(c, BPF_JMP32 | BPF_JEQ | BPF_X, BPF_REG_3, BPF_REG_4, 0, 0);
}

/* Puts instructions that bind the socket to the pod's address, whose offset in the address struct
 * is `ip_at`. A socket that its program has bound already stays as it is. */
static void bind_source(struct code *c, const void *address, int16_t size, size_t ip_at)
{
    uint32_t words[7];

    memcpy(words, address, (size_t)size);
    for (int16_t i = 0; i < size / 4; i++)
        stack(c, (int16_t)(4 * i - size), words[i]);
    load_ip(c, BPF_REG_3);
    put(c, BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_3, (int16_t)((int16_t)ip_at - size), 0);
    move(c, BPF_REG_1, BPF_REG_6);
    move(c, BPF_REG_2, BPF_REG_10);
    /* NOLINTNEXTLINE(misc-redundant-expression): parts of an opcode, some of which are 0 */
    put(c, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -size);
    set(c, BPF_REG_3, (uint32_t)size);
    put(c, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_bind);
}

/* Replaces a loopback address by the pod's own, if the pod declares the port; else the call passes
 * as it is. */
static void set_declared(struct code *c)
{
    declared_goto(c, TO_SET);
    jump_always(c, TO_PASS);
    here(c, TO_SET);
    load_ip(c, BPF_REG_3);
    store(c, CONTEXT(user_ip4), BPF_REG_3);
}

static void write_connect4(struct code *c, int map_fd)
{
    const struct sockaddr_in own = {.sin_family = AF_INET};

    begin(c, map_fd);
    load(c, BPF_REG_2, CONTEXT(user_ip4));
    jump(c, BPF_JEQ, BPF_REG_2, htonl(INADDR_LOOPBACK), TO_HIT);
    pod_goto(c, TO_RANGE);
    jump_always(c, TO_PASS);
    here(c, TO_HIT);
    set_declared(c);
    jump_always(c, TO_PASS);
    here(c, TO_RANGE);
    bind_source(c, &own, sizeof own, offsetof(struct sockaddr_in, sin_addr));
}

static void write_send4(struct code *c, int map_fd)
{
    begin(c, map_fd);
    load(c, BPF_REG_2, CONTEXT(user_ip4));
    jump(c, BPF_JNE, BPF_REG_2, htonl(INADDR_LOOPBACK), TO_PASS);
    set_declared(c);
}

static void write_connect6(struct code *c, int map_fd)
{
    struct sockaddr_in6 own = {.sin6_family = AF_INET6};

    own.sin6_addr.s6_addr[10] = own.sin6_addr.s6_addr[11] = 0xff;
    begin(c, map_fd);
    load_or(c, BPF_REG_4, 2);
    jump(c, BPF_JNE, BPF_REG_4, 0, TO_PASS);
    load(c, BPF_REG_4, CONTEXT_V6(2));
    load(c, BPF_REG_2, CONTEXT_V6(3));
    jump(c, BPF_JEQ, BPF_REG_4, 0, TO_HIT);
    jump(c, BPF_JNE, BPF_REG_4, mapped_mark(), TO_PASS);
    pod_goto(c, TO_RANGE);
    jump_always(c, TO_PASS);
    here(c, TO_HIT);
    jump(c, BPF_JNE, BPF_REG_2, htonl(1), TO_PASS);
    declared_goto(c, TO_SET);
    jump_always(c, TO_PASS);
    here(c, TO_SET);
    write_mapped(c);
    jump_always(c, TO_PASS);
    here(c, TO_RANGE);
    bind_source(c, &own, sizeof own, offsetof(struct sockaddr_in6, sin6_addr) + 12);
}

/* clang-format off */
static const struct {
    enum bpf_attach_type type;
    void (*write)(struct code *code, int map_fd);
} programs[SOCKADDR_BPF_PROGRAMS] = {
    [SOCKADDR_BPF_BIND4]    = {BPF_CGROUP_INET4_BIND,    write_bind4},
    [SOCKADDR_BPF_BIND6]    = {BPF_CGROUP_INET6_BIND,    write_bind6},
    [SOCKADDR_BPF_CONNECT4] = {BPF_CGROUP_INET4_CONNECT, write_connect4},
    [SOCKADDR_BPF_CONNECT6] = {BPF_CGROUP_INET6_CONNECT, write_connect6},
    [SOCKADDR_BPF_SEND4]    = {BPF_CGROUP_UDP4_SENDMSG,  write_send4},
};
/* clang-format on */

static int bpf_call(enum bpf_cmd command, union bpf_attr *attributes)
{
    return (int)syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

/* Makes the map of the BPF programs. It has an entry for each control group to which the programs
 * are attached. */
static int make_map(void)
{
    union bpf_attr attributes = {0};

    attributes.map_type = BPF_MAP_TYPE_CGROUP_STORAGE;
    /* The key of an entry is the inode of the control group. */
    attributes.key_size = sizeof(uint64_t);
    attributes.value_size = sizeof(struct group_entry);
    return bpf_call(BPF_MAP_CREATE, &attributes);
}

static int load_program(enum sockaddr_bpf_program program, int map_fd)
{
    static const char license[] = "GPL";
    union bpf_attr attributes = {0};
    struct code code = {.n = 0};

    programs[program].write(&code, map_fd);
    here(&code, TO_PASS);
    leave(&code, GO_ON);
    resolve(&code);
    attributes.prog_type = BPF_PROG_TYPE_CGROUP_SOCK_ADDR;
    attributes.expected_attach_type = programs[program].type;
    attributes.insns = (uint64_t)(uintptr_t)code.words;
    attributes.insn_cnt = (uint32_t)code.n;
    attributes.license = (uint64_t)(uintptr_t)license;
    return bpf_call(BPF_PROG_LOAD, &attributes);
}

bool sockaddr_bpf_open(struct sockaddr_bpf *out, struct error *err)
{
    bool ok;

    memset(out->fds, -1, sizeof out->fds);
    out->fds[SOCKADDR_BPF_STORAGE] = make_map();
    ok = out->fds[SOCKADDR_BPF_STORAGE] >= 0;
    for (enum sockaddr_bpf_program program = 0; ok && program < SOCKADDR_BPF_PROGRAMS; program++) {
        out->fds[program] = load_program(program, out->fds[SOCKADDR_BPF_STORAGE]);
        ok = out->fds[program] >= 0;
    }
    if (ok)
        return true;
    error_errno(err, errno, "BPF programs for socket addresses");
    sockaddr_bpf_close(out);
    return false;
}

bool sockaddr_bpf_is_open(const struct sockaddr_bpf *bpf)
{
    return bpf->fds[SOCKADDR_BPF_STORAGE] >= 0;
}

void sockaddr_bpf_close(struct sockaddr_bpf *bpf)
{
    for (size_t i = 0; i < SOCKADDR_BPF_FDS; i++) {
        if (bpf->fds[i] >= 0)
            close(bpf->fds[i]);
        bpf->fds[i] = -1;
    }
}

static bool fill_entry(const struct sockaddr_bpf *bpf, uint64_t storage_key,
                       const struct sockaddr_rules *rules)
{
    struct group_entry own = {.ip = rules->ip};
    union bpf_attr attributes = {0};

    for (size_t i = 0; i < rules->n_ports; i++)
        own.ports[i] = htons(rules->ports[i]);
    attributes.map_fd = (uint32_t)bpf->fds[SOCKADDR_BPF_STORAGE];
    attributes.key = (uint64_t)(uintptr_t)&storage_key;
    attributes.value = (uint64_t)(uintptr_t)&own;
    return bpf_call(BPF_MAP_UPDATE_ELEM, &attributes) == 0;
}

bool sockaddr_bpf_attach(const struct sockaddr_bpf *bpf, int group_fd,
                         const struct sockaddr_rules *rules, uint64_t *out_key, struct error *err)
{
    struct stat group;

    for (enum sockaddr_bpf_program program = 0; program < SOCKADDR_BPF_PROGRAMS; program++) {
        union bpf_attr attributes = {0};

        attributes.target_fd = (uint32_t)group_fd;
        attributes.attach_bpf_fd = (uint32_t)bpf->fds[program];
        attributes.attach_type = programs[program].type;
        attributes.attach_flags = BPF_F_ALLOW_MULTI; /* groups above this one may have programs,
                                                      * too */
        if (bpf_call(BPF_PROG_ATTACH, &attributes))
            return error_errno(err, errno, "cannot attach a BPF program to the control group");
    }
    if (fstat(group_fd, &group))
        return error_errno(err, errno, "control group");
    *out_key = group.st_ino; /* the kernel numbers control groups by their inodes */
    return fill_entry(bpf, *out_key, rules) ||
           error_errno(err, errno, "cannot tell the BPF programs the pod's address");
}

/* Returns whether the port is in use. The pod's program has tried it already; this function tries
 * again with a new socket. */
static bool is_taken(uint16_t port)
{
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = port};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    bool taken = false;

    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    taken = bind(fd, (const struct sockaddr *)&any, sizeof any) && errno == EADDRINUSE;
    close(fd);
    return taken;
}

uint16_t sockaddr_bpf_taken_port(const struct sockaddr_bpf *bpf, uint64_t storage_key)
{
    struct group_entry own = {0};
    union bpf_attr attributes = {0};

    attributes.map_fd = (uint32_t)bpf->fds[SOCKADDR_BPF_STORAGE];
    attributes.key = (uint64_t)(uintptr_t)&storage_key;
    attributes.value = (uint64_t)(uintptr_t)&own;
    if (bpf_call(BPF_MAP_LOOKUP_ELEM, &attributes) || !own.tried_port ||
        !is_taken((uint16_t)own.tried_port))
        return 0;
    return ntohs((uint16_t)own.tried_port);
}
