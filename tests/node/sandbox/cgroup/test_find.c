/*
 * Tests node/sandbox/cgroup/find: the directory of a process's group, from the texts of the kernel.
 */
#include "tests/unit.h"

#include "node/sandbox/cgroup/find.h"

#define V2     "0::"
#define MOUNTS "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda rw\n"
#define MOUNTED_V2(root, point)                                                                    \
    MOUNTS "29 23 0:26 " root " " point " rw,nosuid shared:9 master:2 - cgroup2 cgroup2 rw\n"
#define MOUNTED_V1(root, point)                                                                    \
    MOUNTS "33 27 0:30 " root " " point " rw - cgroup cgroup rw,cpu,cpuacct\n"

/* covers: see local-runtime.md 6.4 */
static void the_directory_of_a_group_lies_below_the_mount_that_shows_it(void **state)
{
    static const struct {
        const char *name, *groups, *mounts, *controller, *want, *point;
    } cases[] = {
        {"a group of the unified hierarchy", V2 "/user.slice/a\n",
         MOUNTED_V2("/", "/sys/fs/cgroup"), "", "/sys/fs/cgroup/user.slice/a", "/sys/fs/cgroup"},
        {"the root of the hierarchy", V2 "/\n", MOUNTED_V2("/", "/sys/fs/cgroup"), "",
         "/sys/fs/cgroup", "/sys/fs/cgroup"},
        {"the mount shows the group itself", V2 "/docker/1\n", MOUNTED_V2("/docker/1", "/cg"), "",
         "/cg", "/cg"},
        {"the mount shows a group above", V2 "/docker/1/a\n", MOUNTED_V2("/docker/1", "/cg"), "",
         "/cg/a", "/cg"},
        {"the mount shows a group whose name begins the other's", V2 "/docker/12\n",
         MOUNTED_V2("/docker/1", "/cg"), "", "/cg", "/cg"},
        {"a process outside its cgroup namespace", V2 "/../b\n", MOUNTED_V2("/", "/cg"), "", "/cg",
         "/cg"},
        {"two dots within a name", V2 "/..b/c..\n", MOUNTED_V2("/", "/cg"), "", "/cg/..b/c..",
         "/cg"},
        {"a blank in a path", V2 "/a b\n", MOUNTED_V2("/a\\040b", "/my\\040cg"), "", "/my cg",
         "/my cg"},
        {"a controller of cgroup v1", "9:pids:/x\n4:cpu,cpuacct:/y\n0::/z\n",
         MOUNTED_V1("/", "/v1/cpu"), "cpu", "/v1/cpu/y", "/v1/cpu"},
        {"a controller whose name only begins like another", "4:cpuacct:/y\n",
         MOUNTED_V1("/", "/v1/cpu"), "cpu", NULL, NULL},
        {"a controller that is mounted nowhere", "9:pids:/x\n", MOUNTED_V1("/", "/v1/cpu"), "pids",
         NULL, NULL},
        {"a kernel without groups", "", MOUNTED_V2("/", "/cg"), "", NULL, NULL},
        {"lines of another form", "0\n1:\n" V2 "/a\n", "x\n", "", NULL, NULL},
        {"a mount that says no type", V2 "/a\n", "29 23 0:26 / /cg rw -\n", "", NULL, NULL},
        {"the file system of a namespace", V2 "/a\n",
         "30 23 0:4 net:[4026531992] /run/netns/x rw - nsfs nsfs rw\n" MOUNTED_V2("/", "/cg"), "",
         "/cg/a", "/cg"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str groups = mem_strdup(cases[i].groups);
        scoped_str mounts = mem_strdup(cases[i].mounts);
        scoped_str point = NULL;
        scoped_str got = cgroup_dir_of(groups, mounts, cases[i].controller, &point);

        check_str(cases[i].name, got, cases[i].want);
        check_str(cases[i].name, point, cases[i].point);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_directory_of_a_group_lies_below_the_mount_that_shows_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
