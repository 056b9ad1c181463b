/* Digests of bytes, files, trees and patterns. covers: everyday.md EVD-135, EVD-136, EVD-137 */
#include "tests/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/digest/file_digest.h"
#include "base/file.h"

struct fixture {
    char *base;
    struct file_memory *memory;
};

static struct fixture begin(const char *name)
{
    struct fixture f = {test_path(name), file_memory_new()};
    struct error err = {0};

    check_ok(name, file_mkdirs(f.base, 0700, &err), err);
    return f;
}

static void end(struct fixture *f)
{
    file_memory_free(f->memory);
    mem_free(f->base);
}

static char *at(const struct fixture *f, const char *name)
{
    return mem_printf("%s/%s", f->base, name);
}

static void put(const struct fixture *f, const char *name, const char *text)
{
    scoped_str path = at(f, name);
    scoped_str dir = mem_strdup(path);
    int fd;

    *strrchr(dir, '/') = '\0';
    file_mkdirs(dir, 0700, NULL);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_true(file_write_all(fd, text, strlen(text)));
    close(fd);
}

/* What a pattern names, as "type:path" in order, separated by blanks. NULL: an error. */
static char *names(const struct fixture *f, const char *pattern, enum digest_bounds bounds,
                   struct error *err)
{
    struct digest_walk walk = {
        .base = *pattern == '/' ? "/" : f->base, .bounds = bounds, .memory = f->memory};
    struct file_digests found = {0};
    bool ok = digest_pattern(&walk, pattern, &found, err);
    struct buf text = {0};

    buf_str(&text, "");
    for (size_t i = 0; i < found.count; i++)
        buf_printf(&text, "%s%c:%s", i ? " " : "", found.items[i].type, found.items[i].path);
    file_digests_release(&found);
    digest_walk_release(&walk);
    if (ok)
        return buf_take(&text);
    buf_release(&text);
    return NULL;
}

static void sum(const struct fixture *f, const char *pattern, char out[SHA256_TEXT_MAX])
{
    struct digest_walk walk = {.base = f->base, .memory = f->memory};
    struct file_digests found = {0};
    struct error err = {0};
    struct sha256 digest;

    check_ok(pattern, digest_pattern(&walk, pattern, &found, &err), err);
    file_digests_sum(&found, 0, &digest);
    sha256_format(&digest, out);
    file_digests_release(&found);
    digest_walk_release(&walk);
}

static void digests_are_those_of_the_standard(void **state)
{
    struct sha256 digest, back;
    char text[SHA256_TEXT_MAX];

    sha256_of("abc", 3, &digest);
    sha256_format(&digest, text);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_true(sha256_parse(text, &back));
    assert_true(sha256_equal(&digest, &back));
    text[5] = 'x';
    assert_false(sha256_parse(text, &back));
    assert_false(sha256_parse("ba78", &back));
    /* RFC 4231, case 2 */
    sha256_keyed("Jefe", 4, "what do ya want for nothing?", 28, &digest);
    sha256_format(&digest, text);
    assert_string_equal(text, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void patterns_name_files_and_trees(void **state)
{
    static const struct {
        const char *pattern, *want;
    } cases[] = {
        {"raw/a.csv", "f:raw/a.csv"},
        {"./raw//a.csv", "f:./raw//a.csv"},
        {"raw/none.csv", "m:raw/none.csv"},
        {"none/none.csv", "m:none/none.csv"},
        {"raw/*.csv", "f:raw/a.csv f:raw/b.csv"},
        {"raw/?.csv", "f:raw/a.csv f:raw/b.csv"},
        {"raw/[b-z].csv", "f:raw/b.csv"},
        {"raw/*.none", ""},
        {"*/a.csv", "f:raw/a.csv"},
        {"src", "d:src f:src/.hidden d:src/deep f:src/deep/c.py f:src/m.py"},
        {"src/*", "d:src/deep f:src/deep/c.py f:src/m.py"},
        {"src/**/*.py", "f:src/deep/c.py f:src/m.py"},
        {"**/*.py", "f:src/deep/c.py f:src/m.py"},
        {"**/**/*.py", "f:src/deep/c.py f:src/m.py"},
        {"src/**", "d:src f:src/.hidden d:src/deep f:src/deep/c.py f:src/m.py"},
        {"src/.h*", "f:src/.hidden"},
        {"raw/a.csv/x*", ""},
    };
    struct fixture f = begin("patterns");

    put(&f, "raw/b.csv", "b");
    put(&f, "raw/a.csv", "a");
    put(&f, "src/m.py", "m");
    put(&f, "src/deep/c.py", "c");
    put(&f, "src/.hidden", "h");
    for (size_t i = 0; i < countof(cases); i++) {
        struct error err = {0};
        scoped_str got = names(&f, cases[i].pattern, DIGEST_ANYWHERE, &err);
        scoped_str beneath = names(&f, cases[i].pattern, DIGEST_BENEATH, &err);

        check_str(cases[i].pattern, got, cases[i].want);
        check_str(cases[i].pattern, beneath, cases[i].want);
    }
    end(&f);
}

static void a_digest_tells_contents_and_names_apart(void **state)
{
    struct fixture f = begin("contents");
    char before[SHA256_TEXT_MAX], after[SHA256_TEXT_MAX];
    scoped_str a = at(&f, "in/a");
    scoped_str b = at(&f, "in/b");
    scoped_str link_path = at(&f, "in/l");

    put(&f, "in/a", "1");
    sum(&f, "in/*", before);
    put(&f, "in/a", "2");
    sum(&f, "in/*", after);
    check("content", strcmp(before, after) != 0);
    put(&f, "in/a", "1");
    sum(&f, "in/*", after);
    check_str("content as before", after, before);
    put(&f, "in/b", "");
    sum(&f, "in/*", after);
    check("new file", strcmp(before, after) != 0);
    assert_int_equal(unlink(a), 0);
    assert_int_equal(rename(b, a), 0);
    sum(&f, "in/*", after);
    check("renamed", strcmp(before, after) != 0);
    assert_int_equal(symlink("a", link_path), 0);
    sum(&f, "in", before);
    assert_int_equal(unlink(link_path), 0);
    assert_int_equal(symlink("./a", link_path), 0);
    sum(&f, "in", after);
    check("a link in a tree counts by its text", strcmp(before, after) != 0);
    end(&f);
}

static void a_path_that_is_a_link_stands_for_its_goal(void **state)
{
    struct fixture f = begin("links/base");
    char before[SHA256_TEXT_MAX], after[SHA256_TEXT_MAX];
    scoped_str link_path = at(&f, "data");
    scoped_str loop = at(&f, "loop");
    struct error err = {0};

    put(&f, "../goal", "1");
    assert_int_equal(symlink("../goal", link_path), 0);
    sum(&f, "data", before);
    put(&f, "../goal", "2");
    sum(&f, "data", after);
    check("goal", strcmp(before, after) != 0);
    check("bounds", !names(&f, "data", DIGEST_BENEATH, &err));
    check_has("bounds", err.message, "data");
    assert_int_equal(symlink("loop", loop), 0);
    check("loop", !names(&f, "loop", DIGEST_ANYWHERE, &err));
    check_has("loop", err.message, "loop");
    check("loop in a pattern", !names(&f, "l*p", DIGEST_ANYWHERE, &err));
    end(&f);
}

static void what_is_no_file_is_not_opened(void **state)
{
    struct fixture f = begin("special");
    scoped_str fifo = at(&f, "in/fifo");
    struct error err = {0};

    put(&f, "in/a", "1");
    assert_int_equal(mkfifo(fifo, 0600), 0); /* opening it for reading would wait for ever */
    check("path", !names(&f, "in/fifo", DIGEST_ANYWHERE, &err));
    check_str("path", err.message, "in/fifo: it is a FIFO, which has no content");
    check("pattern", !names(&f, "in/*", DIGEST_ANYWHERE, &err));
    check("tree", !names(&f, "in", DIGEST_ANYWHERE, &err));
    check("device", !names(&f, "/dev/zero", DIGEST_ANYWHERE, &err));
    check_has("device", err.message, "it is a device");
    end(&f);
}

static void bounds_hold(void **state)
{
    struct fixture f = begin("bounds");
    struct error err = {0};
    char name[256];
    int fd = open(f.base, O_RDONLY | O_DIRECTORY | O_CLOEXEC), next;

    memset(name, 'n', sizeof name - 1);
    name[0] = (char)0xff; /* not UTF-8 */
    name[255] = '\0';
    put(&f, name, "1");
    scoped_str found = names(&f, "?n*", DIGEST_ANYWHERE, &err);

    check("a name of 255 bytes", found && strlen(found) == 257);
    for (int i = 0; i < 129; i++) {
        assert_int_equal(mkdirat(fd, "d", 0700), 0);
        next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        close(fd);
        fd = next;
    }
    close(fd);
    check("depth", !names(&f, "d", DIGEST_ANYWHERE, &err));
    check_has("depth", err.message, "more than 128 directories inside each other");
    check("depth of **", !names(&f, "**/x", DIGEST_ANYWHERE, &err));
    end(&f);
}

static void a_known_file_is_not_read_again(void **state)
{
    struct fixture f = begin("memory");
    struct digest_walk walk = {.base = f.base, .memory = f.memory};
    scoped_str path = at(&f, "old");
    struct file_digests found = {0};
    struct sha256 planted = {{7}};
    struct file_stamp stamp, back;
    char text[FILE_STAMP_TEXT_MAX];
    struct error err = {0};
    struct stat info;

    put(&f, "old", "content");
    check_ok("new", digest_pattern(&walk, "old", &found, &err), err);
    check("a file that was just written may change unseen", !found.items[0].settled);
    assert_int_equal(stat(path, &info), 0);
    file_stamp_of(&info, &stamp);
    check("within two seconds", !file_stamp_settled(&stamp, stamp.changed_ns + 1999000000));
    check("after two seconds", file_stamp_settled(&stamp, stamp.changed_ns + 2001000000));
    file_stamp_format(&stamp, text);
    check("as text", file_stamp_parse(text, &back) && file_stamp_equal(&stamp, &back));
    check("no stamp", !file_stamp_parse("1.2.3", &back));
    file_memory_put(f.memory, &stamp, &planted);
    check_ok("known", digest_pattern(&walk, "old", &found, &err), err);
    check("the digest is the remembered one", sha256_equal(&found.items[1].digest, &planted));
    put(&f, "old", "changed");
    check_ok("changed", digest_pattern(&walk, "old", &found, &err), err);
    check("it is read", !sha256_equal(&found.items[2].digest, &planted));
    file_digests_release(&found);
    digest_walk_release(&walk);
    end(&f);
}

/* covers: everyday.md EVD-116 */
static void a_file_that_is_replaced_at_once_is_read_again(void **state)
{
    struct fixture f = begin("tick");
    struct digest_walk walk = {.base = f.base, .memory = f.memory};
    struct error err = {0};

    for (int i = 0; i < 1000; i++) {
        struct file_digests found = {0};
        char content[16];
        struct sha256 wanted;

        snprintf(content, sizeof content, "%08d", i); /* of the same size each time */
        put(&f, "input", content);
        check_ok(content, digest_pattern(&walk, "input", &found, &err), err);
        sha256_of(content, strlen(content), &wanted);
        check(content, sha256_equal(&found.items[0].digest, &wanted));
        file_digests_release(&found);
    }
    digest_walk_release(&walk);
    end(&f);
}

/* covers: everyday.md EVD-138 */
static void of_ten_thousand_known_files_no_byte_is_read(void **state)
{
    enum { FILES = 10000 };
    struct fixture f = begin("many");
    struct digest_walk walk = {.base = f.base, .memory = f.memory};
    struct sha256 planted = {{7}};
    struct file_digests found = {0}, again = {0};
    struct error err = {0};
    char name[32];

    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "d/%d", i);
        put(&f, name, "content");
    }
    check_ok("first", digest_pattern(&walk, "d", &found, &err), err);
    check_int("files and their directory", found.count, FILES + 1);
    for (size_t i = 0; i < found.count; i++)
        if (found.items[i].type == DIGEST_FILE)
            file_memory_put(f.memory, &found.items[i].stamp, &planted);
    check_ok("again", digest_pattern(&walk, "d", &again, &err), err);
    check_int("all of them", again.count, FILES + 1);
    for (size_t i = 0; i < again.count; i++)
        if (again.items[i].type == DIGEST_FILE)
            check("the remembered digest", sha256_equal(&again.items[i].digest, &planted));
    file_digests_release(&found);
    file_digests_release(&again);
    digest_walk_release(&walk);
    end(&f);
}

static void words_name_regular_files_beneath_the_base(void **state)
{
    struct fixture f = begin("words");
    scoped_str inside = at(&f, "src/train.py");
    const struct {
        const char *word;
        bool named;
    } cases[] = {
        {"src/train.py", true},           {"./src/train.py", true}, {"src", false}, {"none", false},
        {"../words/src/train.py", false}, {"/etc/passwd", false},   {inside, true}, {"", false},
        {"src/train.py/x", false},
    };

    put(&f, "src/train.py", "1");
    for (size_t i = 0; i < countof(cases); i++) {
        struct digest_walk walk = {.base = f.base, .memory = f.memory};
        struct file_digests found = {0};
        struct error err = {0};
        bool named;

        check_ok(cases[i].word, digest_word(&walk, cases[i].word, &found, &named, &err), err);
        check_int(cases[i].word, named, cases[i].named);
        check_int(cases[i].word, found.count, cases[i].named);
        file_digests_release(&found);
        digest_walk_release(&walk);
    }
    end(&f);
}

static void paths_that_lead_out_are_known(void **state)
{
    static const struct {
        const char *path;
        bool out;
    } cases[] = {{"a/b", false},      {"../x", true}, {"a/../b", false},
                 {"a/../../b", true}, {"./..", true}, {"a/./../..", true},
                 {"..a/b", false},    {"/a", false},  {"*/../x", false}};

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].path, digest_leads_out(cases[i].path), cases[i].out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_the_standard),
        cmocka_unit_test(patterns_name_files_and_trees),
        cmocka_unit_test(a_digest_tells_contents_and_names_apart),
        cmocka_unit_test(a_path_that_is_a_link_stands_for_its_goal),
        cmocka_unit_test(what_is_no_file_is_not_opened),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(a_known_file_is_not_read_again),
        cmocka_unit_test(a_file_that_is_replaced_at_once_is_read_again),
        cmocka_unit_test(of_ten_thousand_known_files_no_byte_is_read),
        cmocka_unit_test(words_name_regular_files_beneath_the_base),
        cmocka_unit_test(paths_that_lead_out_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
