/*
 * Computes the memory of a process tree from smaps_rollup and the lists of children in /proc.
 */
#include "node/sandbox/cgroup/pss.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

enum { TEXT_MAX = 1 << 20, PROCESSES_MAX = 4096 };

static int64_t pss_of(pid_t pid)
{
    scoped_str path = mem_printf("/proc/%d/smaps_rollup", (int)pid);
    scoped(buf) struct buf text = {0};
    const char *line;

    if (!file_read(path, TEXT_MAX, &text, NULL) || !text.data)
        return 0;
    line = strstr(text.data, "\nPss:");
    return line ? strtoll(line + 5, NULL, 10) * 1024 : 0;
}

/* Appends the children of a process to the list of pids. The caller walks the list while it
 * grows. */
static void add_children(pid_t pid, pid_t **list, size_t *count, size_t *cap)
{
    scoped_str path = mem_printf("/proc/%d/task/%d/children", (int)pid, (int)pid);
    scoped(buf) struct buf text = {0};

    if (!file_read(path, TEXT_MAX, &text, NULL) || !text.data)
        return;
    for (char *at = text.data, *end; *count < PROCESSES_MAX; at = end) {
        long child = strtol(at, &end, 10);

        if (end == at)
            return;
        mem_grow(*list, *count, *cap);
        (*list)[(*count)++] = (pid_t)child;
    }
}

int64_t pss_of_tree(pid_t pid)
{
    size_t count = 0, cap = 0;
    pid_t *list = NULL;
    int64_t sum = 0;

    mem_grow(list, count, cap);
    list[count++] = pid;
    for (size_t i = 0; i < count; i++) {
        sum += pss_of(list[i]);
        add_children(list[i], &list, &count, &cap);
    }
    mem_free(list);
    return sum;
}
