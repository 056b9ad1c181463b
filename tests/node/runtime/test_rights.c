/*
 * What programs in a box may do, at every level of isolation that works for whoever runs this.
 */
#include <stdio.h>
#include <unistd.h>

#include "tests/support/sandboxed_pods.h"

enum { RANGES_FROM = 1 << 30 };

static bool is(const char *name)
{
    return strcmp(level, name) == 0;
}

static char *log_of(struct bed_pod *pod)
{
    bed_start(bed, pod);
    check("ends", bed_final(bed, pod->uid, LIMIT_MS));
    bed_runtime(bed)->ops->release(bed_runtime(bed), pod->uid);
    return bed_log(bed, pod->uid, NULL);
}

#define BOXED .hostname = "j-0", .hosts = "127.0.0.1 localhost\n"

/* covers: reliability.md SEC-24 */
static void a_program_without_real_root_has_no_capability_and_gets_none(void **state)
{
    struct bed_pod pod = {
        "caps", BOXED,
        .main = {{.argv = {"/bin/sh", "-c",
                           "sed -n 's/^CapEff:[[:space:]]*/e=/p; s/^CapBnd:[[:space:]]*/b=/p; "
                           "s/^NoNewPrivs:[[:space:]]*/n=/p' /proc/self/status"}}}};
    scoped_str log = NULL;

    if (is("plain") || is("mounts")) {
        print_message("skipped: programs have the rights of who runs them (DC-08)\n");
        return;
    }
    log = log_of(&pod);
    check_str("none", log, "e=0000000000000000\nb=0000000000000000\nn=1\n");
}

/* covers: reliability.md SEC-24 */
static void what_serves_ssh_keeps_the_three_it_needs(void **state)
{
    static const struct runtime_volume volume = {.name = "ssh", .kind = VOLUME_EMPTY_DIR};
    struct bed_pod pod = {
        "ssh", BOXED, .volumes = &volume, .n_volumes = 1,
        .main = {{.argv = {"/bin/sh", "-c", "sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status"},
                  .mounts = {{"ssh", "/root/.ssh", NULL, false}}}}};
    scoped_str log = NULL;

    if (is("plain") || is("mounts"))
        return;
    log = log_of(&pod);
    check_str("SETGID, SETUID, SYS_CHROOT", log, "00000000000400c0\n");
}

/* covers: reliability.md SEC-24 */
static void root_inside_is_nobody_outside(void **state)
{
    struct bed_pod pod = {"ids", BOXED,
                          .main = {{.argv = {"/bin/sh", "-c", "id -u; exec sleep 300"}}}};
    scoped_str found = NULL;
    scoped_str log = NULL;

    if (!is("full"))
        return;
    bed_start(bed, &pod);
    check("runs", bed_phase(bed, "ids", POD_RUNNING, LIMIT_MS));
    for (int i = 0; i < LIMIT_MS / 20 && (!found || !*found); i++) {
        mem_free(found);
        found = bed_host("for p in /proc/[0-9]*; do tr '\\0' '\\n' 2>/dev/null < $p/environ | "
                         "grep -qx JOBFLOW_POD_UID=ids && stat -c owner=%u $p; done | sort -u");
        bed_run(bed, 20);
    }
    check("far from everybody's ids", bed_number(found, "owner") >= RANGES_FROM);
    bed_runtime(bed)->ops->stop(bed_runtime(bed), "ids", 0);
    check("ends", bed_final(bed, "ids", LIMIT_MS));
    bed_runtime(bed)->ops->release(bed_runtime(bed), "ids");
    log = bed_log(bed, "ids", NULL);
    check_str("root", log, "0\n");
}

/* covers: reliability.md SEC-24 */
static void what_only_root_may_read_or_change_stays_so(void **state)
{
    struct bed_pod pod = {
        "secrets", BOXED,
        .main = {{.argv = {"/bin/sh", "-c",
                           "cat /etc/shadow 2>/dev/null && echo read; "
                           "(echo x > /etc/jf-x) && echo private; "
                           "(echo x > /usr/jf-x) 2>/dev/null || echo refused; "
                           "echo y > ~/y && ls ~; echo 1 2>/dev/null > /proc/sys/kernel/panic || "
                           "echo kernel refused"},
                  .env = {{"HOME", "/root"}}}}};
    scoped_str log = NULL;

    if (!is("full"))
        return;
    log = log_of(&pod);
    check_str("log", log, "private\nrefused\ny\nkernel refused\n");
    check_int("host", access("/etc/jf-x", F_OK) & access("/usr/jf-x", F_OK), -1);
}

/* The machine's own are all there where programs see the machine's /dev. */
static void devices_are_there_for_who_may_open_them(void **state)
{
    struct bed_pod pod = {
        "devices", BOXED,
        .main = {
            {.argv = {"/bin/sh", "-c",
                      "for d in /dev/*; do "
                      "[ ! -c $d ] || [ -r $d ] || [ -w $d ] || echo \"$d is of no use\"; done; "
                      "for d in null zero full random urandom tty; do "
                      "[ -c /dev/$d ] || echo no $d; done; "
                      "echo to nowhere > /dev/null && head -c 3 /dev/zero | wc -c"}}}};
    scoped_str log = is("plain") ? NULL : log_of(&pod);

    if (log)
        check_str("log", log, "3\n");
}

/* covers: reliability.md SEC-25 */
static void a_program_has_three_descriptors_and_no_more(void **state)
{
    struct bed_pod boxed = {"boxed", BOXED, .main = {{.argv = {"/bin/ls", "/proc/self/fd"}}}};
    struct bed_pod bare = {"bare", .main = {{.argv = {"/bin/ls", "/proc/self/fd"}}}};
    scoped_str in_box = log_of(&boxed);
    scoped_str without = log_of(&bare);

    check_str("boxed; 3 is that of ls", in_box, "0\n1\n2\n3\n");
    check_str("bare", without, "0\n1\n2\n3\n");
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_without_real_root_has_no_capability_and_gets_none),
        cmocka_unit_test(what_serves_ssh_keeps_the_three_it_needs),
        cmocka_unit_test(root_inside_is_nobody_outside),
        cmocka_unit_test(what_only_root_may_read_or_change_stays_so),
        cmocka_unit_test(devices_are_there_for_who_may_open_them),
        cmocka_unit_test(a_program_has_three_descriptors_and_no_more),
        cmocka_unit_test(nothing_is_left_of_pods_that_were_released),
    };

    return boxes_main(argc, argv, tests, countof(tests), NULL);
}
