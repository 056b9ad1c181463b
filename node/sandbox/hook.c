/*
 * BPF programs for socket addresses: written here word by word, for they have a pod's address and
 * ports in them, loaded and attached by the bare system call.
 *
 *   bind      a declared port? ── no ──► any address: note the port ──► go on
 *                 │ yes
 *             any or loopback address ──► the pod's address, go on, whatever the port
 *   connect   loopback and a declared port ──► the pod's address, go on
 *             an address of a pod ──► bind to the pod's address, go on
 *
 * Ref: local-runtime.md 3.3 and appendix C.
 */
#include "node/sandbox/hook.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

enum {
    CODE_MAX = 256,
    JUMPS_MAX = 2 * REWRITE_PORTS_MAX + 16,
    GO_ON = 1,
    GO_ON_ANY_PORT = 3, /* of bind: no privilege is needed (kernel 5.12) */
    RANGE_BYTES = 2,    /* of an address that name the pods' range */
};

#define NO_PORT UINT32_MAX

/* ---- writing ---- */

enum label { TO_HIT, TO_SET, TO_RANGE, TO_PASS, LABELS };

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

static void load(struct code *c, uint8_t reg, size_t offset) /* of the context, in r6 */
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

/* What is put next leads there. */
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

/* ---- the programs ---- */

#define CONTEXT(member) offsetof(struct bpf_sock_addr, member)
#define CONTEXT_V6(i)   (CONTEXT(user_ip6) + 4 * (size_t)(i))

static uint32_t mapped_mark(void)
{
    return htonl(0xffff);
}

static void begin(struct code *c)
{
    move(c, BPF_REG_6, BPF_REG_1);
    load(c, BPF_REG_7, CONTEXT(user_port));
}

/* A pod that declares none has a comparison that never holds: the kernel refuses programs with a
 * part that nothing leads to. */
static void declared_goto(struct code *c, const struct rewrite *rewrite, enum label to)
{
    if (!rewrite->n_ports)
        jump(c, BPF_JEQ, BPF_REG_7, NO_PORT, to);
    for (size_t i = 0; i < rewrite->n_ports; i++)
        jump(c, BPF_JEQ, BPF_REG_7, htons(rewrite->ports[i]), to);
}

/* The first words of an IPv6 address as one number: 0 if all are. */
static void load_or(struct code *c, uint8_t reg, int words)
{
    load(c, reg, CONTEXT_V6(0));
    for (int i = 1; i < words; i++) {
        load(c, BPF_REG_5, CONTEXT_V6(i));
        put(c, BPF_ALU64 | BPF_OR | BPF_X, reg, BPF_REG_5, 0, 0);
    }
}

/* Keep the port of r7 where hook_taken finds it. */
static void note_port(struct code *c, int map_fd)
{
    jump(c, BPF_JEQ, BPF_REG_7, 0, TO_PASS);
    stack(c, -4, 0);
    put(c, BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map_fd);
    put(c, 0, 0, 0, 0, 0);
    move(c, BPF_REG_2, BPF_REG_10);
    put(c, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4);
    put(c, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem);
    put(c, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 1, 0);
    put(c, BPF_STX | BPF_MEM | BPF_W, BPF_REG_0, BPF_REG_7, 0, 0);
    jump_always(c, TO_PASS);
}

static void write_bind4(struct code *c, const struct rewrite *rewrite, int map_fd)
{
    begin(c);
    load(c, BPF_REG_2, CONTEXT(user_ip4));
    declared_goto(c, rewrite, TO_HIT);
    jump(c, BPF_JNE, BPF_REG_2, INADDR_ANY, TO_PASS);
    note_port(c, map_fd);
    here(c, TO_HIT);
    jump(c, BPF_JEQ, BPF_REG_2, INADDR_ANY, TO_SET);
    jump(c, BPF_JNE, BPF_REG_2, htonl(INADDR_LOOPBACK), TO_PASS);
    here(c, TO_SET);
    set(c, BPF_REG_3, rewrite->ip);
    store(c, CONTEXT(user_ip4), BPF_REG_3);
    leave(c, GO_ON_ANY_PORT);
}

static void write_mapped(struct code *c, const struct rewrite *rewrite)
{
    set(c, BPF_REG_3, mapped_mark());
    store(c, CONTEXT_V6(2), BPF_REG_3);
    set(c, BPF_REG_3, rewrite->ip);
    store(c, CONTEXT_V6(3), BPF_REG_3);
}

static void write_bind6(struct code *c, const struct rewrite *rewrite, int map_fd)
{
    begin(c);
    declared_goto(c, rewrite, TO_HIT);
    load_or(c, BPF_REG_2, 4);
    jump(c, BPF_JNE, BPF_REG_2, 0, TO_PASS);
    note_port(c, map_fd);
    here(c, TO_HIT);
    load_or(c, BPF_REG_2, 3);
    jump(c, BPF_JNE, BPF_REG_2, 0, TO_PASS);
    load(c, BPF_REG_2, CONTEXT_V6(3));
    jump(c, BPF_JEQ, BPF_REG_2, 0, TO_SET);
    jump(c, BPF_JNE, BPF_REG_2, htonl(1), TO_PASS);
    here(c, TO_SET);
    write_mapped(c, rewrite);
    leave(c, GO_ON_ANY_PORT);
}

/* Is the address of r2 one of a pod? */
static void pod_goto(struct code *c, const struct rewrite *rewrite, enum label to)
{
    uint32_t mask = htonl(0xffffffffU << (8 * RANGE_BYTES));

    move(c, BPF_REG_3, BPF_REG_2);
    put(c, BPF_ALU | BPF_AND | BPF_K, BPF_REG_3, 0, 0, (int32_t)mask);
    jump(c, BPF_JEQ, BPF_REG_3, rewrite->ip & mask, to);
}

/* The socket to the pod's own address; one that its program has bound stays as it is. */
static void bind_source(struct code *c, const void *address, int16_t size)
{
    uint32_t words[7];

    memcpy(words, address, (size_t)size);
    for (int16_t i = 0; i < size / 4; i++)
        stack(c, (int16_t)(4 * i - size), words[i]);
    move(c, BPF_REG_1, BPF_REG_6);
    move(c, BPF_REG_2, BPF_REG_10);
    put(c, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -size);
    set(c, BPF_REG_3, (uint32_t)size);
    put(c, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_bind);
}

static void write_connect4(struct code *c, const struct rewrite *rewrite, int map_fd)
{
    const struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = rewrite->ip};

    begin(c);
    load(c, BPF_REG_2, CONTEXT(user_ip4));
    jump(c, BPF_JEQ, BPF_REG_2, htonl(INADDR_LOOPBACK), TO_HIT);
    pod_goto(c, rewrite, TO_RANGE);
    jump_always(c, TO_PASS);
    here(c, TO_HIT);
    declared_goto(c, rewrite, TO_SET);
    jump_always(c, TO_PASS);
    here(c, TO_SET);
    set(c, BPF_REG_3, rewrite->ip);
    store(c, CONTEXT(user_ip4), BPF_REG_3);
    jump_always(c, TO_PASS);
    here(c, TO_RANGE);
    bind_source(c, &own, sizeof own);
}

static void write_connect6(struct code *c, const struct rewrite *rewrite, int map_fd)
{
    struct sockaddr_in6 own = {.sin6_family = AF_INET6};

    own.sin6_addr.s6_addr[10] = own.sin6_addr.s6_addr[11] = 0xff;
    memcpy(&own.sin6_addr.s6_addr[12], &rewrite->ip, sizeof rewrite->ip);
    begin(c);
    load_or(c, BPF_REG_4, 2);
    jump(c, BPF_JNE, BPF_REG_4, 0, TO_PASS);
    load(c, BPF_REG_4, CONTEXT_V6(2));
    load(c, BPF_REG_2, CONTEXT_V6(3));
    jump(c, BPF_JEQ, BPF_REG_4, 0, TO_HIT);
    jump(c, BPF_JNE, BPF_REG_4, mapped_mark(), TO_PASS);
    pod_goto(c, rewrite, TO_RANGE);
    jump_always(c, TO_PASS);
    here(c, TO_HIT);
    jump(c, BPF_JNE, BPF_REG_2, htonl(1), TO_PASS);
    declared_goto(c, rewrite, TO_SET);
    jump_always(c, TO_PASS);
    here(c, TO_SET);
    write_mapped(c, rewrite);
    jump_always(c, TO_PASS);
    here(c, TO_RANGE);
    bind_source(c, &own, sizeof own);
}

/* clang-format off */
static const struct {
    enum bpf_attach_type type;
    void (*write)(struct code *code, const struct rewrite *rewrite, int map_fd);
} places[HOOK_PLACES] = {
    [HOOK_BIND4]    = {BPF_CGROUP_INET4_BIND,    write_bind4},
    [HOOK_BIND6]    = {BPF_CGROUP_INET6_BIND,    write_bind6},
    [HOOK_CONNECT4] = {BPF_CGROUP_INET4_CONNECT, write_connect4},
    [HOOK_CONNECT6] = {BPF_CGROUP_INET6_CONNECT, write_connect6},
};
/* clang-format on */

/* ---- the kernel ---- */

static int bpf(enum bpf_cmd command, union bpf_attr *attributes)
{
    return (int)syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

static int make_map(void)
{
    union bpf_attr attributes = {0};

    attributes.map_type = BPF_MAP_TYPE_ARRAY;
    attributes.key_size = attributes.value_size = sizeof(uint32_t);
    attributes.max_entries = 1;
    return bpf(BPF_MAP_CREATE, &attributes);
}

static int load_program(enum hook_place place, const struct rewrite *rewrite, int map_fd)
{
    static const char license[] = "GPL";
    union bpf_attr attributes = {0};
    struct code code = {.n = 0};

    places[place].write(&code, rewrite, map_fd);
    here(&code, TO_PASS);
    leave(&code, GO_ON);
    resolve(&code);
    attributes.prog_type = BPF_PROG_TYPE_CGROUP_SOCK_ADDR;
    attributes.expected_attach_type = places[place].type;
    attributes.insns = (uint64_t)(uintptr_t)code.words;
    attributes.insn_cnt = (uint32_t)code.n;
    attributes.license = (uint64_t)(uintptr_t)license;
    return bpf(BPF_PROG_LOAD, &attributes);
}

struct hook *hook_new(const struct rewrite *rewrite, struct error *err)
{
    struct hook *hook = mem_alloc(sizeof *hook);
    bool ok;

    memset(hook->programs, -1, sizeof hook->programs);
    hook->wanted_fd = make_map();
    ok = hook->wanted_fd >= 0;
    for (enum hook_place place = 0; ok && place < HOOK_PLACES; place++) {
        hook->programs[place] = load_program(place, rewrite, hook->wanted_fd);
        ok = hook->programs[place] >= 0;
    }
    if (ok)
        return hook;
    error_errno(err, errno, "BPF programs for socket addresses");
    hook_free(hook);
    return NULL;
}

void hook_free(struct hook *hook)
{
    if (!hook)
        return;
    for (enum hook_place place = 0; place < HOOK_PLACES; place++)
        if (hook->programs[place] >= 0)
            close(hook->programs[place]);
    if (hook->wanted_fd >= 0)
        close(hook->wanted_fd);
    mem_free(hook);
}

bool hook_attach(const struct hook *hook, int group_fd, struct error *err)
{
    for (enum hook_place place = 0; place < HOOK_PLACES; place++) {
        union bpf_attr attributes = {0};

        attributes.target_fd = (uint32_t)group_fd;
        attributes.attach_bpf_fd = (uint32_t)hook->programs[place];
        attributes.attach_type = places[place].type;
        attributes.attach_flags = BPF_F_ALLOW_MULTI; /* somebody above may have some of his own */
        if (bpf(BPF_PROG_ATTACH, &attributes))
            return error_errno(err, errno, "cannot attach a BPF program to the control group");
    }
    return true;
}

/* The program's own try is over: we try the same with a socket of ours. */
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

uint16_t hook_taken(const struct hook *hook)
{
    const uint32_t key = 0;
    uint32_t port = 0;
    union bpf_attr attributes = {0};

    attributes.map_fd = (uint32_t)hook->wanted_fd;
    attributes.key = (uint64_t)(uintptr_t)&key;
    attributes.value = (uint64_t)(uintptr_t)&port;
    if (bpf(BPF_MAP_LOOKUP_ELEM, &attributes) || !port || !is_taken((uint16_t)port))
        return 0;
    return ntohs((uint16_t)port);
}
