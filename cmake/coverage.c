/*
 * Linked in preset cov only. Makes the counters of short-lived processes reach their files:
 *
 *   - _exit writes no counters by itself, so it is wrapped.
 *   - A child that shares the memory of its parent (node/sandbox/spawn.c) must leave the counters to
 *     the parent. A page that the kernel empties in every other child tells them apart.
 *   - A process without rights to the files, or with a root of its own, cannot write them. libgcov
 *     would say so on standard error, where tests look for other texts.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void __gcov_dump(void);
void __gcov_reset(void);
void __real__exit(int code) __attribute__((noreturn));
void __wrap__exit(int code) __attribute__((noreturn));
void coverage_write(void);

/* The pid of the process that made the page; 0 in a process that has its own copy. */
static pid_t *owner;

__attribute__((constructor)) static void begin(void)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    setenv("GCOV_ERROR_FILE", "/dev/null", 1);
    if (page == MAP_FAILED || madvise(page, size, MADV_WIPEONFORK))
        return;
    owner = page;
    *owner = getpid();
}

void coverage_write(void)
{
    if (!owner || (*owner && *owner != getpid()))
        return;
    __gcov_dump();
    __gcov_reset();
}

void __wrap__exit(int code)
{
    coverage_write();
    __real__exit(code);
}
