/*
 * Finds the mapped read-only segments through the dynamic linker and gives their pages back with
 * madvise.
 */
#include "base/rss.h"

#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Read-only segments hold only bytes of their file. madvise fails for the kernel's own page (vDSO),
 * which does no harm. */
static int give_back(struct dl_phdr_info *object, size_t size, void *ctx)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t from = object->dlpi_addr + segment->p_vaddr;
        uintptr_t to = (from + segment->p_memsz + page - 1) & ~(page - 1);

        from &= ~(page - 1);
        if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W))
            madvise((void *)from, to - from, MADV_DONTNEED);
    }
    return 0;
}

void rss_give_back(void)
{
    dl_iterate_phdr(give_back, NULL);
}
