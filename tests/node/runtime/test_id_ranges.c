/*
 * Tests node/runtime/id_ranges.c: a namespace keeps its range of ids, even when the end of the file
 * is damaged.
 */
#include "tests/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "node/runtime/id_ranges.h"

static int fresh_dir(void **state)
{
    static char path[] = "/tmp/id-ranges-XXXXXX";

    *state = mkdtemp(strcpy(path, "/tmp/id-ranges-XXXXXX"));
    return *state ? 0 : -1;
}

static int remove_dir(void **state)
{
    return file_remove_tree(AT_FDCWD, *state, NULL) ? 0 : -1;
}

static struct id_ranges *open_in(const char *dir, uint64_t seed)
{
    struct error err = {0};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct id_ranges *ranges = id_ranges_open(fd, seed, &err);

    check(err.message, ranges != NULL);
    close(fd);
    return ranges;
}

static void append(const char *dir, const char *text)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "%s/ids", dir);
    file = fopen(path, "a");
    check("written", file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* covers: reliability.md SEC-24 */
static void every_namespace_has_its_own_range_and_keeps_it(void **state)
{
    enum { N = 3000 };
    struct id_ranges *ranges = open_in(*state, 7);
    uint32_t *first = mem_array(N, sizeof *first);
    uint8_t *seen = mem_alloc(65536);
    char ns[32];

    for (int i = 0; i < N; i++) {
        snprintf(ns, sizeof ns, "team-%d", i);
        first[i] = id_ranges_of(ranges, ns, NULL);
        check_int(ns, first[i] & 0xffff, 0);
        check(ns, first[i] >= (uint32_t)ID_RANGES_FIRST << 16 && !seen[first[i] >> 16]++);
    }
    check_int("asked again", id_ranges_of(ranges, "team-0", NULL), first[0]);
    id_ranges_free(ranges);
    ranges = open_in(*state, 99); /* another seed changes no range that was given out */
    for (int i = N; i-- > 0;) {
        snprintf(ns, sizeof ns, "team-%d", i);
        check_int(ns, id_ranges_of(ranges, ns, NULL), first[i]);
    }
    check("a new one has none of theirs", !seen[id_ranges_of(ranges, "new", NULL) >> 16]);
    id_ranges_free(ranges);
    mem_free(seen);
    mem_free(first);
}

static void an_incomplete_line_gives_no_range(void **state)
{
    struct id_ranges *ranges = open_in(*state, 0);
    uint32_t a = id_ranges_of(ranges, "a", NULL), b;

    id_ranges_free(ranges);
    append(*state, "1 half");
    ranges = open_in(*state, 1);
    b = id_ranges_of(ranges, "b", NULL);
    check("its range is free", b != a);
    id_ranges_free(ranges);
    ranges = open_in(*state, 1);
    check_int("what was written behind it is whole", id_ranges_of(ranges, "b", NULL), b);
    check_int("what stood before it, too", id_ranges_of(ranges, "a", NULL), a);
    id_ranges_free(ranges);
}

static void malformed_and_repeated_lines_are_skipped(void **state)
{
    struct id_ranges *ranges;
    uint32_t a;

    append(*state, "5 a\n5 b\n6 a\n\nx y\n70000 c\n-1 d\n4294967301 e\n7\n8 \n");
    ranges = open_in(*state, 5);
    a = id_ranges_of(ranges, "a", NULL);
    check_int("the first line counts", a >> 16, ID_RANGES_FIRST + 5);
    check("b has another one", id_ranges_of(ranges, "b", NULL) != a);
    id_ranges_free(ranges);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_namespace_has_its_own_range_and_keeps_it, fresh_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(an_incomplete_line_gives_no_range, fresh_dir, remove_dir),
        cmocka_unit_test_setup_teardown(malformed_and_repeated_lines_are_skipped, fresh_dir,
                                        remove_dir),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
