/*
 * node/shim/records: what is written is synced when asked for, and a write that the disk refuses
 * leaves the file as it was.
 */
/* wraps: fdatasync fsync write */
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/shim/records.h"
#include "node/wire/message.h"

int __wrap_fdatasync(int fd);
int __wrap_fsync(int fd);
ssize_t __real_write(int fd, const void *bytes, size_t len);
ssize_t __wrap_write(int fd, const void *bytes, size_t len);

static struct {
    int data_fd, dir_fd; /* descriptors that were synced, in this order; -1: none */
    int result;          /* result of the next fdatasync */
} synced;

int __wrap_fdatasync(int fd)
{
    check_int("the file comes first", synced.dir_fd, -1);
    synced.data_fd = fd;
    return synced.result;
}

int __wrap_fsync(int fd)
{
    synced.dir_fd = fd;
    return 0;
}

/* How many bytes the disk still has room for; -1: any number. */
static ssize_t room = -1;

ssize_t __wrap_write(int fd, const void *bytes, size_t len)
{
    ssize_t n = room >= 0 && (size_t)room < len ? room : (ssize_t)len;

    if (room == 0) {
        errno = ENOSPC;
        return -1;
    }
    if (room > 0)
        room -= n;
    return __real_write(fd, bytes, (size_t)n);
}

static void count_frame(void *ctx, struct frame *frame, const char *bytes)
{
    ++*(int *)ctx;
}

static void put_release(struct records *records, const char *uid)
{
    shim_put_command(&records->pending, SHIM_RELEASE, &(struct shim_command){.uid = uid});
}

static int open_records(const char *name, struct records *records)
{
    scoped_str dir = test_path(name);
    struct error err = {0};
    int dir_fd;

    mkdir(dir, 0700);
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    check_ok("create", records_create(records, dir_fd, &err), err);
    return dir_fd;
}

static int frames_in(int dir_fd)
{
    char boot_id[BOOT_ID_MAX];
    struct error err = {0};
    int frames = 0;

    check_ok("read", records_read(dir_fd, boot_id, count_frame, &frames, &err), err);
    return frames;
}

/* covers: reliability.md D-10 */
static void the_file_is_synced_and_then_its_directory(void **state)
{
    struct records records;
    int dir_fd = open_records("synced", &records);

    synced.data_fd = synced.dir_fd = -1;
    synced.result = 0;
    records_sync(&records);
    check_int("the file", synced.data_fd, records.fd);
    check_int("its directory", synced.dir_fd, dir_fd);

    /* an entry of a file whose content may be lost is worth nothing */
    synced.data_fd = synced.dir_fd = -1;
    synced.result = -1;
    records_sync(&records);
    check_int("the file", synced.data_fd, records.fd);
    check_int("its directory", synced.dir_fd, -1);
    records_release(&records);
    close(dir_fd);
}

/* covers: reliability.md D-10 FT-35 */
static void a_block_that_the_disk_refuses_is_cut_off_and_written_later(void **state)
{
    struct error err = {0};

    for (ssize_t there = 0; there < 16; there++) {
        struct records records;
        scoped_str name = mem_printf("full-%zd", there);
        int dir_fd = open_records(name, &records);
        struct stat info;

        put_release(&records, "a");
        check_ok("fits", records_flush(&records, &err), err);
        put_release(&records, "b");
        room = there;
        check("refused", !records_flush(&records, &err));
        room = -1;
        check_int("size", fstat(records.fd, &info), 0);
        check_int("as it was", info.st_size, records.size);
        check_int("without the refused one", frames_in(dir_fd), 1);

        put_release(&records, "c");
        check_ok("room again", records_flush(&records, &err), err);
        check_int("nothing is lost", frames_in(dir_fd), 3);
        records_release(&records);
        close(dir_fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_synced_and_then_its_directory),
        cmocka_unit_test(a_block_that_the_disk_refuses_is_cut_off_and_written_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
