/*
 * Tests node/sandbox: mount paths, overlays, file names of volumes, levels of isolation, BPF
 * programs, host keys. Code that mounts runs in a child with namespaces of its own, at whichever
 * level works here.
 */
#include "tests/unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "node/runtime/runtime.h"
#include "node/sandbox/cgroup/cgroup.h"
#include "node/sandbox/filter/sockaddr_bpf.h"
#include "node/sandbox/hostkey.h"
#include "node/sandbox/isolation_level.h"
#include "node/sandbox/mounts/overlay.h"
#include "node/sandbox/mounts/volumes.h"
#include "node/sandbox/namespaces.h"
#include "node/sandbox/rootfs.h"
#include "node/shim/entry.h"

static void put(const char *dir, const char *name, const char *text)
{
    scoped_str path = mem_printf("%s/%s", dir, name);
    struct error err = {0};

    check_ok(path, file_write_atomic(path, text, strlen(text), 0644, &err), err);
}

static char *get(const char *dir, const char *name)
{
    scoped_str path = mem_printf("%s/%s", dir, name);
    struct buf text = {0};

    return file_read(path, 4096, &text, NULL) ? buf_take(&text) : mem_strdup("(none)");
}

static char *make_dir(const char *parent, const char *name)
{
    char *path = mem_printf("%s/%s", parent, name);
    struct error err = {0};

    check_ok(path, file_mkdirs(path, 0755, &err), err);
    return path;
}

/* covers: reliability.md SEC-18; see 4.3 */
static void paths_follow_the_links_of_the_host(void **state)
{
    scoped_str top = test_path("links");
    scoped_str real = make_dir(top, "real");
    scoped_str link = mem_printf("%s/link", top);
    scoped_str relative = mem_printf("%s/relative", top);
    scoped_str loop = mem_printf("%s/loop", top);
    const struct {
        const char *path, *want; /* the path, and the expected result below the directory top */
    } cases[] = {
        {"link/x/y", "real/x/y"},     {"relative/x", "real/x"},       {"./real//x/", "real/x"},
        {"link/../real/z", "real/z"}, {"none/at/all", "none/at/all"},
    };
    char out[ROOTFS_PATH_MAX];
    struct error err = {0};

    check_int("link", symlink(real, link), 0);
    check_int("link", symlink("real", relative), 0);
    check_int("link", symlink("loop", loop), 0);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str path = mem_printf("%s/%s", top, cases[i].path);
        scoped_str want = mem_printf("%s/%s", top, cases[i].want);

        check_ok(path, rootfs_resolve(path, out, &err), err);
        check_str(path, out, want);
    }
    check_error("loop", rootfs_resolve(loop, out, &err), err, ERR_INVALID);
    check_error("relative", rootfs_resolve("etc", out, &err), err, ERR_INVALID);
    check_ok("beyond", rootfs_resolve("/../..", out, &err), err);
    check_str("beyond", out, "/");
}

/* A case of an overlay. overlayfs is not tried for a directory with a comma in its name. */
struct overlay_case {
    const char *name, *dir;
};

static bool enter(void)
{
    struct error err = {0};

    return namespaces_enter(geteuid() ? ISOLATION_USER : ISOLATION_MOUNTS, geteuid(), getegid(),
                            &err) &&
           namespaces_enter_mounts(&err);
}

static void check_in_overlay(const struct overlay_case *c, const char *top, const char *host)
{
    static const struct overlay_point points[] = {{"sub/new/point", MOUNT_POINT_DIR},
                                                  {"fresh.txt", MOUNT_POINT_FILE}};
    static const struct overlay_link links[] = {{"replaced", "elsewhere"}};
    struct overlay overlay = {host, points, countof(points), links, countof(links), geteuid() != 0};
    scoped_str scratch = make_dir(top, "scratch");
    struct error err = {0};
    char target[64];
    ssize_t n;
    int scratch_fd, target_fd;

    check_int("tmpfs", mount("tmpfs", scratch, "tmpfs", 0, NULL), 0);
    scratch_fd = open(scratch, O_RDONLY | O_DIRECTORY);
    target_fd = open(host, O_PATH | O_DIRECTORY);
    check_ok(c->name, overlay_mount(&overlay, scratch_fd, target_fd, &err), err);

    scoped_str point = mem_printf("%s/sub/new/point", host);
    scoped_str fresh = mem_printf("%s/fresh.txt", host);
    scoped_str replaced = mem_printf("%s/replaced", host);
    scoped_str seen = get(host, "file");
    scoped_str deep = get(host, "sub/deep/file");

    check_int(c->name, access(point, F_OK), 0);
    check_int(c->name, access(fresh, F_OK), 0);
    check_str(c->name, seen, "file");
    check_str(c->name, deep, "deep");
    n = readlink(replaced, target, sizeof target - 1);
    target[n > 0 ? n : 0] = 0;
    check_str(c->name, target, "elsewhere");
    put(host, "private", "x");
}

/* covers: see 4.3 LRT-03 */
static void an_overlay_shows_the_host_and_keeps_changes_private(void **state)
{
    static const struct overlay_case cases[] = {{"overlay or mirror", "plain"},
                                                {"mirror", "with,comma"}};

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str name = mem_printf("overlay-%zu", i);
        scoped_str top = test_path(name);
        scoped_str host = make_dir(top, cases[i].dir);
        scoped_str deep = make_dir(host, "sub/deep");
        pid_t pid;
        int status;

        put(host, "file", "file");
        put(deep, "file", "deep");
        put(host, "replaced", "old");
        pid = fork();
        if (pid == 0) {
            if (!enter())
                _exit(77);
            check_in_overlay(&cases[i], top, host);
            _exit(0);
        }
        waitpid(pid, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
            print_message("skipped: this user may not make namespaces here\n");
            return;
        }
        check_int(cases[i].name, status, 0);

        scoped_str replaced = get(host, "replaced");
        scoped_str private_file = mem_printf("%s/private", host);
        scoped_str point = mem_printf("%s/sub/new", host);

        check_str("host", replaced, "old");
        check_int("host", access(private_file, F_OK), -1);
        check_int("host", access(point, F_OK), -1);
    }
}

/* covers: reliability.md SEC-19 FT-22 FZ-17 */
static void file_names_stay_in_their_volume(void **state)
{
    static const struct {
        const char *path;
        bool ok;
    } cases[] = {
        {"key", true},   {"a/b/c", true}, {".hidden", true}, {"a..b", true},    {"", false},
        {".", false},    {"..", false},   {"../x", false},   {"a/../x", false}, {"/etc/x", false},
        {"a//b", false}, {"a/", false},   {"..data", false}, {"a/..x", false},  {"./x", false},
    };
    scoped_str dir = test_path("volumes");
    int dir_fd;

    mkdir(dir, 0755);
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    for (size_t i = 0; i < countof(cases); i++) {
        struct shim_file file = {cases[i].path, "text", 4, 0644};
        struct shim_volume volume = {
            .name = "v", .kind = SHIM_FILES_VOLUME, .files = &file, .n_files = 1};
        struct shim_pod pod = {.volumes = &volume, .n_volumes = 1};
        struct shim_mount mount = {.path = "/m", .sub_path = cases[i].path};
        struct volume_dirs dirs = {dir_fd, dir_fd, false};
        struct error err = {0};
        int fd;

        check_int(cases[i].path, volumes_make(&dirs, &pod, &err), cases[i].ok);
        if (cases[i].ok) {
            fd = volumes_open(&dirs, &pod, &mount, &err);
            check(cases[i].path, fd >= 0);
            close(fd);
        } else {
            check_int(cases[i].path, err.code, ERR_INVALID);
        }
        volumes_remove(&dirs, &pod);
    }
    close(dir_fd);
}

/* covers: reliability.md SEC-18 FT-21 */
static void a_sub_path_never_leads_out_of_its_volume(void **state)
{
    scoped_str dir = test_path("escape");
    scoped_str outside = make_dir(dir, "outside");
    scoped_str volume_dir = make_dir(dir, "volume");
    scoped_str link = mem_printf("%s/link", volume_dir);
    struct shim_volume volume = {.name = "v", .kind = SHIM_HOST_PATH, .host_path = volume_dir};
    struct shim_pod pod = {.volumes = &volume, .n_volumes = 1};
    struct volume_dirs dirs = {open(dir, O_RDONLY | O_DIRECTORY), -1, false};
    static const char *const paths[] = {"link", "link/new", "../outside"};
    struct error err = {0};

    put(outside, "secret", "x");
    check_int("link", symlink("../outside", link), 0);
    for (size_t i = 0; i < countof(paths); i++)
        check_int(paths[i],
                  volumes_open(&dirs, &pod, &(struct shim_mount){.sub_path = paths[i]}, &err), -1);
    close(dirs.disk_fd);
}

#ifdef __SANITIZE_THREAD__
static const bool has_thread_of_sanitizer = true;
#else
static const bool has_thread_of_sanitizer = false;
#endif

static void a_level_is_chosen_or_refused_with_a_reason(void **state)
{
    const struct {
        const char *wanted;
        enum error_code code;
    } cases[] = {{"everything", ERR_INVALID},
                 /* Level full needs root and a process of one thread. */
                 {"full", geteuid() || has_thread_of_sanitizer ? ERR_UNAVAILABLE : ERR_NONE}};
    scoped_str scratch = test_path("probe");
    enum isolation_level level;
    struct error err = {0};
    scoped_str why = NULL;

    for (size_t i = 0; i < countof(cases); i++) {
        bool ok;

        err = (struct error){0};
        ok = isolation_level_choose(cases[i].wanted, scratch, &level, &why, &err);
        mem_free(take(why));
        check_int(cases[i].wanted, ok, cases[i].code == ERR_NONE);
        check_int(cases[i].wanted, err.code, cases[i].code);
    }
    check_ok("plain", isolation_level_choose("plain", scratch, &level, &why, &err), err);
    check_int("plain", level, ISOLATION_PLAIN);
    mem_free(take(why));
    check_ok("auto", isolation_level_choose("auto", scratch, &level, &why, &err), err);
    check_has("auto", why, isolation_level_text(level));
    check_int("nothing is left", access(scratch, F_OK), -1);
    print_message("here: %s\n", why);
}

/* covers: local-runtime.md; see 3.3 */
static void bpf_programs_are_attached_for_a_pod_without_ports(void **state)
{
    const struct sockaddr_rules none = {.ip = htonl(0x7f0a0402)};
    struct sockaddr_bpf bpf = SOCKADDR_BPF_NONE;
    struct error err = {0};
    struct cgroup *group;

    if (!cgroup_check_sockaddr_bpf())
        skip(); /* this user is not root, or there is no unified hierarchy */
    check_ok("loaded", sockaddr_bpf_open(&bpf, &err), err);
    group = cgroup_new(&(struct cgroup_spec){.uid = "no-ports", .bpf = &bpf, .rules = &none});
    check("attached", group && group->sockaddr_bpf);
    check_int("no port was tried", sockaddr_bpf_taken_port(&bpf, group->storage_key), 0);
    cgroup_free(group);
    sockaddr_bpf_close(&bpf);
}

/* Makes the line of a public key from the private key alone. */
static void public_line_of(EVP_PKEY *key, char *out, size_t size)
{
    static const unsigned char head[] = "\0\0\0\023ecdsa-sha2-nistp256\0\0\0\010nistp256\0\0\0\101";
    unsigned char blob[sizeof head - 1 + 65], text[256];
    size_t len = 0;

    memcpy(blob, head, sizeof head - 1);
    check_int("point",
              EVP_PKEY_get_octet_string_param(key, "pub", blob + sizeof head - 1, 65, &len), 1);
    check_int("bytes", (long)len, 65);
    EVP_EncodeBlock(text, blob, sizeof blob);
    snprintf(out, size, "ecdsa-sha2-nistp256 %s\n", text);
}

/* covers: local-runtime.md; see 5 */
static void a_host_key_reads_as_one_pair(void **state)
{
    char last[64] = "";

    /* Several keys, because the number of a key may begin with zeros. */
    for (int i = 0; i < 20; i++) {
        scoped(buf) struct buf private = {0}, public = {0};
        char line[512];
        struct error err = {0};
        BIO *memory;
        EVP_PKEY_CTX *context;
        EVP_PKEY *key;

        check_ok("made", hostkey_make(&private, &public, &err), err);
        memory = BIO_new_mem_buf(private.data, (int)private.len);
        key = PEM_read_bio_PrivateKey(memory, NULL, NULL, NULL);
        check("the private half is read", key != NULL);
        public_line_of(key, line, sizeof line);
        check_str("the public half belongs to it", public.data, line);
        context = EVP_PKEY_CTX_new(key, NULL);
        check_int("they are a pair", EVP_PKEY_pairwise_check(context), 1);
        EVP_PKEY_CTX_free(context);
        EVP_PKEY_free(key);
        BIO_free(memory);
        check("no two are the same", strncmp(last, private.data + 60, sizeof last) != 0);
        memcpy(last, private.data + 60, sizeof last);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_follow_the_links_of_the_host),
        cmocka_unit_test(an_overlay_shows_the_host_and_keeps_changes_private),
        cmocka_unit_test(file_names_stay_in_their_volume),
        cmocka_unit_test(a_sub_path_never_leads_out_of_its_volume),
        cmocka_unit_test(bpf_programs_are_attached_for_a_pod_without_ports),
        cmocka_unit_test(a_host_key_reads_as_one_pair),
        cmocka_unit_test(a_level_is_chosen_or_refused_with_a_reason),
    };

    /* Runs the checks of isolation levels, for which the test program starts itself. */
    int code = shim_main(argc, argv);

    return code >= 0 ? code : cmocka_run_group_tests(tests, NULL, NULL);
}
