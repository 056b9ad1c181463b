/* Tests node/shim/logfile: logs of containers, written, rotated, followed and read. */
#include "tests/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/runtime/internal.h"
#include "node/shim/logfile.h"

static void write_lines(struct log_writer *log, int from, int to, struct buf *scratch)
{
    for (int i = from; i < to; i++) {
        scoped_str line = mem_printf("line %06d of a program that prints a lot of them\n", i);

        log_write(log, line, strlen(line), scratch);
    }
}

/* covers: local-runtime.md LRT-40; reliability.md L-38 INV-N7 */
static void a_long_log_is_rotated_between_lines_and_read_in_order(void **state)
{
    struct log_query all = {.tail_lines = -1, .limit_bytes = -1};
    struct log_writer log = {
        .uid = "long", .container = "main", .flat = true, .max_bytes = 64 << 10};
    scoped_str dir = test_path("logs");
    scoped(buf) struct buf scratch = {0}, out = {0};
    int64_t offset = 0;
    int first = -1, count = 0;

    mkdir(dir, 0700);
    log.dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    log_writer_init(&log);
    write_lines(&log, 0, 10000, &scratch);
    check("read", logs_read(log.dir_fd, "long", &all, &offset, &out, NULL));
    for (const char *at = out.data, *end = at + out.len; at < end;
         at = (char *)memchr(at, '\n', (size_t)(end - at)) + 1) {
        char digits[7]; /* a copy: the strtol of a sanitizer looks at all that follows the digits */
        int number;

        snprintf(digits, sizeof digits, "%.6s", at + 5);
        number = (int)strtol(digits, NULL, 10);
        if (first < 0)
            first = number;
        check_int("in order", number, first + count++);
    }
    check_int("to the end", first + count, 10000);
    check("bounded", out.len < (size_t)LOG_FILES_KEPT * (64 << 10) && count > 1000);

    write_lines(&log, 10000, 10003, &scratch); /* a follower continues behind what it has read */
    buf_clear(&out);
    check("follow", logs_read(log.dir_fd, "long", &all, &offset, &out, NULL));
    check_has("follow", out.data, "line 010000");
    check_has("follow", out.data, "line 010002");
    check("nothing twice", !strstr(out.data, "line 009999"));
    log_writer_release(&log);
    logs_remove(log.dir_fd, "long");
    buf_clear(&out);
    offset = 0;
    check("removed", logs_read(log.dir_fd, "long", &all, &offset, &out, NULL) && !out.len);
    close(log.dir_fd);
}

/* Chunks of a busy program begin and end within lines. covers: reliability.md L-38 */
static void files_are_bounded_where_every_chunk_ends_within_a_line(void **state)
{
    static const char text[] = "0123456789abcdef\n";
    enum { MAX = 64 << 10, CHUNK = 4001, CHUNKS = 400 };
    struct log_query all = {.tail_lines = -1, .limit_bytes = -1};
    struct log_writer log = {.uid = "busy", .container = "main", .flat = true, .max_bytes = MAX};
    scoped_str dir = test_path("busy");
    scoped(buf) struct buf scratch = {0}, out = {0}, chunk = {0};
    int64_t offset = 0;
    size_t at = 0;

    mkdir(dir, 0700);
    log.dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    log_writer_init(&log);
    for (int i = 0; i < CHUNKS; i++) {
        buf_clear(&chunk);
        for (size_t n = 0; n < CHUNK; n++, at++)
            buf_char(&chunk, text[at % strlen(text)]);
        log_write(&log, chunk.data, chunk.len, &scratch);
    }
    for (unsigned i = 0; i < LOG_FILES_KEPT; i++) {
        char name[LOG_NAME_MAX];
        struct stat info;

        log_name(name, "busy", true, 0, 0, i);
        check_int(name, fstatat(log.dir_fd, name, &info, 0), 0);
        /* A file may exceed its limit by the last chunk and its time stamps. */
        check(name, info.st_size < MAX + 5 * CHUNK);
    }
    check("read", logs_read(log.dir_fd, "busy", &all, &offset, &out, NULL));
    for (const char *line = out.data; strchr(line, '\n'); line = strchr(line, '\n') + 1)
        check("whole lines", strncmp(line, text, strlen(text)) == 0);
    log_writer_release(&log);
    close(log.dir_fd);
}

/* covers: reliability.md SEC-22 SEC-25 */
static void a_log_is_opened_for_the_shim_alone_and_never_through_a_link(void **state)
{
    struct log_writer log = {.uid = "own", .container = "main", .flat = true, .max_bytes = 1 << 20};
    scoped_str dir = test_path("own");
    scoped_str victim = test_path("victim");
    scoped(buf) struct buf scratch = {0};
    struct stat info;

    mkdir(dir, 0700);
    log.dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    log_writer_init(&log);
    log_write(&log, "a\n", 2, &scratch);
    check("closed when a program starts", fcntl(log.fd, F_GETFD) & FD_CLOEXEC);
    check_int("mode", fstat(log.fd, &info), 0);
    check_int("mode", info.st_mode & 0777, 0600);
    log_writer_release(&log);

    log.uid = "linked";
    check_int("link", symlinkat(victim, log.dir_fd, "linked.log"), 0);
    log_writer_init(&log);
    log_write(&log, "a\n", 2, &scratch);
    check("not written", stat(victim, &info) != 0);
    check_int("but counted", log.lost, 2);
    log_writer_release(&log);
    close(log.dir_fd);
}

static void parts_of_a_line_are_joined(void **state)
{
    struct log_query all = {.timestamps = true, .tail_lines = -1, .limit_bytes = -1};
    struct log_writer log = {
        .uid = "parts", .container = "main", .index = 2, .run = 1, .max_bytes = 1 << 20};
    scoped_str dir = test_path("parts");
    scoped(buf) struct buf scratch = {0}, out = {0};
    int64_t offset = 0;

    mkdir(dir, 0700);
    log.dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    log_writer_init(&log);
    log_write(&log, "a", 1, &scratch);
    log_write(&log, "b\nc", 3, &scratch);
    log_write(&log, "\n", 1, &scratch);
    check("read", logs_read(log.dir_fd, "parts", &all, &offset, &out, NULL));

    check_has("first line", out.data, "Z ab\n");
    check_has("second line", out.data, "Z c\n");

    all = (struct log_query){.timestamps = false, .tail_lines = 1, .limit_bytes = -1};
    buf_clear(&out);
    offset = 0;
    check("tail", logs_read(log.dir_fd, "parts", &all, &offset, &out, NULL));
    check_str("tail", out.data, "c\n");
    all = (struct log_query){.since_ms = 4000000000000, .tail_lines = -1, .limit_bytes = -1};
    buf_clear(&out);
    offset = 0;
    check("since", logs_read(log.dir_fd, "parts", &all, &offset, &out, NULL) && !out.len);
    log_writer_release(&log);
    close(log.dir_fd);
}

static void print(const char *dir, unsigned run, const char *text)
{
    struct log_writer log = {.uid = "again", .container = "main", .run = run, .max_bytes = 1 << 20};
    scoped(buf) struct buf scratch = {0};

    log.flat = run == 0;
    log.dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    log_writer_init(&log);
    log_write(&log, text, strlen(text), &scratch);
    log_writer_release(&log);
    close(log.dir_fd);
}

static void read_on(const char *dir, const struct log_query *query, int64_t *offset,
                    const char *wanted)
{
    scoped(buf) struct buf out = {0};
    int fd = open(dir, O_RDONLY | O_DIRECTORY);

    check("read", logs_read(fd, "again", query, offset, &out, NULL));
    check_str(wanted, out.data ? out.data : "", wanted);
    close(fd);
}

static void a_follower_sees_every_run_to_its_end(void **state)
{
    const struct log_query all = {.tail_lines = -1, .limit_bytes = -1};
    const struct log_query one = {.tail_lines = 1, .limit_bytes = -1};
    const struct log_query before = {.previous = true, .tail_lines = -1, .limit_bytes = -1};
    scoped_str dir = test_path("again");
    int64_t offset = 0, fresh = 0, tail = 0, previous = 0;

    mkdir(dir, 0700);
    read_on(dir, &all, &offset, "");
    print(dir, 0, "first\nrun\n");
    read_on(dir, &all, &offset, "first\nrun\n");
    read_on(dir, &all, &offset, "");
    print(dir, 1, "b\n");
    print(dir, 3, "first\nlast\n"); /* the second run printed nothing */
    read_on(dir, &all, &offset, "b\nfirst\nlast\n");
    read_on(dir, &all, &offset, "");
    read_on(dir, &all, &fresh, "first\nlast\n");
    read_on(dir, &one, &tail, "last\n");
    print(dir, 4, "x\n");
    read_on(dir, &all, &offset, "x\n");
    read_on(dir, &one, &tail, "x\n");
    read_on(dir, &before, &previous, "first\nlast\n");
}

/* covers: local-runtime.md LRT-41 */
static void bytes_that_a_full_disk_refuses_are_counted_in_the_log(void **state)
{
    struct log_query all = {.tail_lines = -1, .limit_bytes = -1};
    struct log_writer log = {
        .uid = "full", .container = "main", .flat = true, .max_bytes = 1 << 20};
    scoped_str dir = test_path("full");
    scoped(buf) struct buf scratch = {0}, out = {0};
    int64_t offset = 0;
    int good_fd;

    mkdir(dir, 0700);
    log.dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    log_writer_init(&log);
    log_write(&log, "before\n", 7, &scratch);
    good_fd = log.fd;
    log.fd = open("/dev/full", O_WRONLY);
    log_write(&log, "refused\n", 8, &scratch);
    close(log.fd);
    log.fd = good_fd;
    log_write(&log, "after\n", 6, &scratch);
    check("read", logs_read(log.dir_fd, "full", &all, &offset, &out, NULL));
    check_str("log", out.data, "before\n[8 bytes of output lost: no space for the log]\nafter\n");
    log_writer_release(&log);
    close(log.dir_fd);
}

/* A limit of the size of files refuses what a full disk would: all of a record but its head and two
 * bytes of its text. */
/* covers: local-runtime.md LRT-41 */
static void a_record_that_does_not_fit_whole_is_not_in_the_log(void **state)
{
    struct log_query all = {.tail_lines = -1, .limit_bytes = -1};
    struct log_writer log = {
        .uid = "part", .container = "main", .flat = true, .max_bytes = 1 << 20};
    scoped_str dir = test_path("part");
    scoped(buf) struct buf scratch = {0}, out = {0};
    struct rlimit before, low;
    struct stat file;
    int64_t offset = 0;

    mkdir(dir, 0700);
    log.dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    log_writer_init(&log);
    log_write(&log, "before\n", 7, &scratch);
    check_int("stat", fstat(log.fd, &file), 0);
    check_int("limit", getrlimit(RLIMIT_FSIZE, &before), 0);
    low = (struct rlimit){.rlim_cur = (rlim_t)file.st_size + 42, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    check_int("limit", setrlimit(RLIMIT_FSIZE, &low), 0);
    log_write(&log, "refused\n", 8, &scratch);
    check_int("limit", setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    log_write(&log, "after\n", 6, &scratch);
    check("read", logs_read(log.dir_fd, "part", &all, &offset, &out, NULL));
    check_str("log", out.data, "before\n[8 bytes of output lost: no space for the log]\nafter\n");
    log_writer_release(&log);
    close(log.dir_fd);
}

static void a_log_is_known_by_its_first_line(void **state)
{
    static const struct {
        const char *text;
        bool ok;
    } cases[] = {
        {"#jobflow-log 1 main 0 0\n", true},
        {"#jobflow-log 1 main 12 4096\nrecords", true},
        {"#jobflow-log 2 main 0 0\n", false},
        {"#jobflow-log 1 main 0\n", false},
        {"#jobflow-log 1 main 0 0 0\n", false},
        {"#jobflow-log 1 main 0 0", false},
        {"", false},
    };
    struct log_header header;

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].text, log_header_parse(cases[i].text, strlen(cases[i].text), &header),
                  cases[i].ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_log_is_rotated_between_lines_and_read_in_order),
        cmocka_unit_test(files_are_bounded_where_every_chunk_ends_within_a_line),
        cmocka_unit_test(a_log_is_opened_for_the_shim_alone_and_never_through_a_link),
        cmocka_unit_test(parts_of_a_line_are_joined),
        cmocka_unit_test(a_follower_sees_every_run_to_its_end),
        cmocka_unit_test(bytes_that_a_full_disk_refuses_are_counted_in_the_log),
        cmocka_unit_test(a_record_that_does_not_fit_whole_is_not_in_the_log),
        cmocka_unit_test(a_log_is_known_by_its_first_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
