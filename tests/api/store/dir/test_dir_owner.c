#include "tests/unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "api/store/dir/dir_owner.h"
#include "base/file.h"

enum { NOBODY = 65534 };

static void make_dir(const char *path, mode_t mode, uid_t owner)
{
    check_int(path, mkdir(path, 0700), 0);
    check_int(path, chmod(path, mode), 0);
    if (owner != geteuid())
        check_int(path, chown(path, owner, (gid_t)-1), 0);
}

struct place_case {
    const char *name;
    mode_t above_mode, mode; /* modes of the two directories; `mode` 0: the data directory does not
                              * exist */
    bool other_above, other; /* the directories belong to another user; such a case needs root */
    const char *wanted;      /* part of the message of a refusal; NULL: the directory is accepted */
};

/* covers: reliability.md SEC-01 */
static void a_place_is_ours_alone(void **state)
{
    static const struct place_case cases[] = {
        {"private", 0755, 0700, .wanted = NULL},
        {"readable", 0755, 0755, .wanted = NULL},
        {"not there yet", 0755, 0, .wanted = NULL},
        {"group may write", 0755, 0770, .wanted = "other users may write"},
        {"all may write", 0755, 0777, .wanted = "other users may write"},
        {"all may write, sticky", 0755, 01777, .wanted = "other users may write"},
        {"replaceable", 0777, 0700, .wanted = "every user may replace"},
        {"to be made, replaceable", 0777, 0, .wanted = "every user may replace"},
        {"sticky above", 01777, 0700, .wanted = NULL},
        {"to be made, sticky above", 01777, 0, .wanted = NULL},
        {"of another", 0755, 0700, .other = true, .wanted = "belongs to another user (uid 65534)"},
        {"below another's", 0755, 0700, .other_above = true, .wanted = "who may replace"},
        {"to be made below another's", 0755, 0, .other_above = true, .wanted = "who may replace"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        const struct place_case *c = &cases[i];
        scoped_str above = test_path(c->name);
        scoped_str place = mem_printf("%s/data", above);
        struct error err = {0};

        if ((c->other || c->other_above) && geteuid() != 0)
            continue;
        make_dir(above, 0700, geteuid());
        if (c->mode)
            make_dir(place, c->mode, c->other ? NOBODY : geteuid());
        if (c->other_above)
            check_int(c->name, chown(above, NOBODY, (gid_t)-1), 0);
        check_int(c->name, chmod(above, c->above_mode), 0);
        check_int(c->name, dir_owner_check(place, &err), c->wanted == NULL);
        if (c->wanted)
            check_has(c->name, err.message, c->wanted);
    }
}

static void a_link_is_no_place(void **state)
{
    scoped_str target = test_path("target");
    scoped_str link = test_path("link");
    scoped_str with_slash = mem_printf("%s/", link);
    struct error err = {0};

    make_dir(target, 0700, geteuid());
    check_int("link", symlink(target, link), 0);
    check_error("link", dir_owner_check(link, &err), err, ERR_FORBIDDEN);
    check_has("link", err.message, "is a symbolic link");
    err = (struct error){0};
    check_error("with a slash", dir_owner_check(with_slash, &err), err, ERR_FORBIDDEN);
    err = (struct error){0};
    check_ok("target", dir_owner_check(target, &err), err);
}

static void a_file_is_no_place(void **state)
{
    scoped_str path = test_path("file");
    struct error err = {0};

    check_ok("file", file_write_atomic(path, "x", 1, 0600, &err), err);
    check_error("file", dir_owner_check(path, &err), err, ERR_INVALID);
}

/* sudo(8) in one's own directory: the directory belongs to the user who asked for root. */
static void the_user_of_sudo_may_own_the_directory_above(void **state)
{
    scoped_str above = test_path("sudo");
    scoped_str place = mem_printf("%s/data", above);
    struct error err = {0};

    if (geteuid() != 0)
        skip();
    make_dir(above, 0755, NOBODY);
    make_dir(place, 0700, 0);
    dir_owner_trust_above(NOBODY);
    check_ok("asked by sudo", dir_owner_check(place, &err), err);
    dir_owner_trust_above(1);
    check_error("asked by another", dir_owner_check(place, &err), err, ERR_FORBIDDEN);
    dir_owner_trust_above(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_ours_alone),
        cmocka_unit_test(a_link_is_no_place),
        cmocka_unit_test(a_file_is_no_place),
        cmocka_unit_test(the_user_of_sudo_may_own_the_directory_above),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
