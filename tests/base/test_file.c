/* wraps: fsync renameat */
#include "tests/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to);

/* What happened: F file synced, D directory synced, R renamed. */
static char steps[16];
static char fails; /* the step that fails with EIO; 0: none */

static int step(char which)
{
    size_t n = strlen(steps);

    if (n + 1 < sizeof steps) {
        steps[n] = which;
        steps[n + 1] = '\0';
    }
    if (which != fails)
        return 0;
    errno = EIO;
    return -1;
}

int __wrap_fsync(int fd)
{
    struct stat info;

    return fstat(fd, &info) || step(S_ISDIR(info.st_mode) ? 'D' : 'F') ? -1 : __real_fsync(fd);
}

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return step('R') ? -1 : __real_renameat(from_fd, from, to_fd, to);
}

static void write_text(const char *path, const char *text)
{
    struct error err = {0};

    check_ok(path, file_write_atomic(path, text, strlen(text), 0600, &err), err);
}

static bool exists(const char *path)
{
    struct stat info;

    return !lstat(path, &info);
}

static int open_test_dir(void)
{
    scoped_str dir = test_path("");
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

static int count_entries(const char *name)
{
    scoped_str path = test_path(name);
    DIR *dir = opendir(path);
    int count = -2; /* starts at -2, because the entries . and .. are counted, too */

    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void what_was_written_reads_back(void **state)
{
    scoped_str path = test_path("file");
    scoped(buf) struct buf text = {0};
    struct error err = {0};
    struct stat info;

    buf_str(&text, "before:");
    write_text(path, "one");
    check_ok("read", file_read(path, 3, &text, &err), err);
    assert_string_equal(text.data, "before:one");

    mode_t old = umask(077);

    check_ok("replace", file_write_atomic(path, "two2", 4, 0644, &err), err);
    umask(old);
    buf_clear(&text);
    check_ok("read", file_read(path, 100, &text, &err), err);
    assert_string_equal(text.data, "two2");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0644);
}

static void reading_keeps_to_its_bounds(void **state)
{
    scoped_str path = test_path("file");
    scoped_str absent = test_path("absent");
    scoped_str dir = test_path("");
    scoped(buf) struct buf text = {0};
    struct error err = {0};

    write_text(path, "12345");
    buf_str(&text, "kept");
    check_error("too large", file_read(path, 4, &text, &err), err, ERR_TOO_LARGE);
    check_error("absent", file_read(absent, 4, &text, &err), err, ERR_NOT_FOUND);
    check_has("absent", err.message, "No such file");
    check_error("directory", file_read(dir, 4, &text, &err), err, ERR_INTERNAL);
    check_error("device", file_read("/dev/zero", 4, &text, &err), err, ERR_INTERNAL);
    assert_string_equal(text.data, "kept");
    buf_clear(&text);
    check_ok("no size", file_read("/proc/self/status", 1 << 20, &text, &err), err);
    check_has("no size", text.data, "Pid:");
}

static void a_failed_write_leaves_the_old_file_and_no_litter(void **state)
{
    /* Makes `target` a directory, which a file cannot replace. */
    scoped_str inner = test_path("target/x");
    scoped_str missing = test_path("no/such/file");
    scoped_str slash = test_path("target/");
    struct error err = {0};

    check_ok("mkdir", file_mkdirs(inner, 0700, &err), err);
    check_error("directory", file_write_atomic(inner, "y", 1, 0600, &err), err, ERR_INTERNAL);
    check_error("missing", file_write_atomic(missing, "y", 1, 0600, &err), err, ERR_NOT_FOUND);
    check_error("no name", file_write_atomic(slash, "y", 1, 0600, &err), err, ERR_INTERNAL);
    assert_true(exists(inner));

    assert_int_equal(count_entries("target"), 1);
}

/* covers: reliability.md D-10 SEC-16 */
static void a_file_is_synced_before_it_takes_its_name_and_its_directory_after(void **state)
{
    static const struct {
        const char *name;
        char fails;
        const char *steps, *content;
    } cases[] = {
        {"all is well", 0, "FRD", "new"},
        {"the content is not on disk", 'F', "F", "old"},
        {"the name is not taken", 'R', "FR", "old"},
        {"the entry is not on disk", 'D', "FRD", "new"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str folder = mem_printf("steps-%zu", i);
        scoped_str dir = test_path(folder);
        scoped_str path = mem_printf("%s/file", dir);
        scoped(buf) struct buf text = {0};
        struct error err = {0};
        bool written;

        check_ok(cases[i].name, file_mkdirs(dir, 0700, &err), err);
        write_text(path, "old");
        steps[0] = '\0';
        fails = cases[i].fails;
        written = file_write_atomic(path, "new", 3, 0600, &err);
        fails = 0;
        check_int(cases[i].name, written, !cases[i].fails);
        check_str(cases[i].name, steps, cases[i].steps);
        check_ok(cases[i].name, file_read(path, 10, &text, &err), err);
        check_str(cases[i].name, text.data, cases[i].content);
        check_int("no litter", count_entries(folder), 1);
    }
}

static void missing_parents_are_made(void **state)
{
    scoped_str path = test_path("a/b//c/d/");
    scoped_str file = test_path("plain");
    scoped_str below = test_path("plain/x");
    struct error err = {0};
    struct stat info;
    mode_t mask = umask(022); /* the result must not depend on the caller's umask */

    check_ok("new", file_mkdirs(path, 0750, &err), err);
    check_ok("again", file_mkdirs(path, 0750, &err), err);
    check_ok("root", file_mkdirs("/", 0750, &err), err);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0750);
    write_text(file, "");
    check_error("a file", file_mkdirs(file, 0700, &err), err, ERR_INTERNAL);
    check_error("below a file", file_mkdirs(below, 0700, &err), err, ERR_INTERNAL);
    check_has("below a file", err.message, "Not a directory");
    umask(mask);
}

/* covers: reliability.md SEC-21 */
static void a_tree_is_removed_and_links_are_not_followed(void **state)
{
    scoped_str outside = test_path("outside");
    scoped_str canary = test_path("outside/canary");
    scoped_str tree = test_path("tree");
    scoped_str deep = test_path("tree/x/y/z");
    scoped_str file = test_path("tree/x/file");
    scoped_str link = test_path("tree/x/y/link");
    scoped_str dangling = test_path("tree/dangling");
    scoped_str fifo = test_path("tree/fifo");
    struct error err = {0};

    check_ok("outside", file_mkdirs(outside, 0700, &err), err);
    write_text(canary, "sing");
    check_ok("tree", file_mkdirs(deep, 0700, &err), err);
    write_text(file, "x");
    assert_int_equal(symlink(outside, link), 0);
    assert_int_equal(symlink("/nowhere", dangling), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);

    int dir_fd = open_test_dir();

    check_ok("remove", file_remove_tree(dir_fd, "tree", &err), err);
    assert_false(exists(tree));
    assert_true(exists(canary));
    check_ok("absent", file_remove_tree(dir_fd, "tree", &err), err);

    /* The root of the tree may be a link or a file, too. */
    assert_int_equal(symlink(outside, tree), 0);
    check_ok("link", file_remove_tree(dir_fd, "tree", &err), err);
    assert_false(exists(tree));
    assert_true(exists(canary));
    write_text(tree, "x");
    check_ok("file", file_remove_tree(dir_fd, "tree", &err), err);
    assert_false(exists(tree));
    close(dir_fd);
}

static void closed_directories_of_ours_are_removed(void **state)
{
    scoped_str read_only = test_path("ro/inner");
    scoped_str file = test_path("ro/inner/file");
    scoped_str shut = test_path("ro/shut");
    scoped_str ro = test_path("ro");
    struct error err = {0};

    check_ok("tree", file_mkdirs(read_only, 0700, &err), err);
    check_ok("tree", file_mkdirs(shut, 0700, &err), err);
    write_text(file, "x");
    assert_int_equal(chmod(read_only, 0555), 0);
    assert_int_equal(chmod(shut, 0000), 0);
    assert_int_equal(chmod(ro, 0555), 0);

    int dir_fd = open_test_dir();

    check_ok("remove", file_remove_tree(dir_fd, "ro", &err), err);
    assert_false(exists(ro));
    close(dir_fd);
}

static bool set_flag(int dir_fd, const char *name, int flag)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC), flags = 0;
    bool ok = fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;

    flags |= flag;
    ok = ok && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* covers: see reliability.md SEC-21 */
static void trees_with_what_must_not_be_changed_are_removed_by_root(void **state)
{
    static const struct {
        const char *name;
        int flag;
    } rows[] = {
        {"tree/file", FS_IMMUTABLE_FL},   {"tree/log", FS_APPEND_FL},
        {"tree/dir/empty", FS_APPEND_FL}, {"tree/dir", FS_IMMUTABLE_FL},
        {"tree", FS_IMMUTABLE_FL},
    };
    scoped_str file = test_path("tree/file");
    scoped_str log = test_path("tree/log");
    scoped_str empty = test_path("tree/dir/empty");
    scoped_str fifo = test_path("tree/dir/fifo");
    int dir_fd = open_test_dir();
    struct error err = {0};

    check_ok("tree", file_mkdirs(empty, 0700, &err), err);
    write_text(file, "x");
    write_text(log, "x");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    for (size_t i = 0; i < countof(rows); i++)
        if (!set_flag(dir_fd, rows[i].name, rows[i].flag))
            print_message("%s: that flag cannot be set here\n", rows[i].name);
    check_ok("remove", file_remove_tree(dir_fd, "tree", &err), err);
    assert_int_equal(faccessat(dir_fd, "tree", F_OK, AT_SYMLINK_NOFOLLOW), -1);
    close(dir_fd);
}

static void a_very_deep_tree_is_removed(void **state)
{
    enum { DEPTH = 1500 };
    int dir_fd = open_test_dir(), fd = dup(dir_fd);
    struct error err = {0};

    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdirat(fd, "deep", 0700), 0);

        int next = openat(fd, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        assert_true(next >= 0);
        close(fd);
        fd = next;
    }
    close(fd);
    check_ok("remove", file_remove_tree(dir_fd, "deep", &err), err);
    assert_int_equal(faccessat(dir_fd, "deep", F_OK, AT_SYMLINK_NOFOLLOW), -1);
    close(dir_fd);
}

/* covers: reliability.md SEC-21 */
static void a_mount_inside_the_tree_is_left_alone(void **state)
{
    scoped_str mount_at = test_path("mounted/m");
    scoped_str canary = test_path("mounted/m/canary");
    struct error err = {0};

    check_ok("tree", file_mkdirs(mount_at, 0700, &err), err);
    if (mount("none", mount_at, "tmpfs", 0, NULL)) {
        print_message("skipped: may not mount: %s\n", strerror(errno));
        skip();
    }
    write_text(canary, "sing");

    int dir_fd = open_test_dir();

    assert_false(file_remove_tree(dir_fd, "mounted", &err));
    assert_true(exists(canary));
    assert_int_equal(umount(mount_at), 0);
    check_ok("remove", file_remove_tree(dir_fd, "mounted", &err), err);
    close(dir_fd);
}

static void a_path_is_removed_from_a_directory_on_another_mount(void **state)
{
    scoped_str tree = test_path("afar");
    scoped_str deep = test_path("afar/x/y");
    struct error err = {0};
    int back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    check_ok("tree", file_mkdirs(deep, 0700, &err), err);
    assert_int_equal(chdir("/proc"), 0);
    check_ok("remove", file_remove_tree(AT_FDCWD, tree, &err), err);
    assert_int_equal(fchdir(back), 0);
    close(back);
    assert_false(exists(tree));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_reads_back),
        cmocka_unit_test(reading_keeps_to_its_bounds),
        cmocka_unit_test(a_failed_write_leaves_the_old_file_and_no_litter),
        cmocka_unit_test(a_file_is_synced_before_it_takes_its_name_and_its_directory_after),
        cmocka_unit_test(missing_parents_are_made),
        cmocka_unit_test(a_tree_is_removed_and_links_are_not_followed),
        cmocka_unit_test(closed_directories_of_ours_are_removed),
        cmocka_unit_test(trees_with_what_must_not_be_changed_are_removed_by_root),
        cmocka_unit_test(a_very_deep_tree_is_removed),
        cmocka_unit_test(a_mount_inside_the_tree_is_left_alone),
        cmocka_unit_test(a_path_is_removed_from_a_directory_on_another_mount),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
