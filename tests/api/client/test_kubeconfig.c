/*
 * Tests reading kubeconfigs. covers: kube-api.md 138 139
 */
#include "tests/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/client/kubeconfig.h"
#include "base/file.h"
#include "base/mem.h"

static char directory[512];

static const char *put(const char *name, const char *text, mode_t mode)
{
    static char path[1024];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    check(name, file_write_atomic(path, text, strlen(text), mode, NULL));
    return path;
}

static int fresh_directory(void **state)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(directory, sizeof directory, "%s/kubeconfig.XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(directory) ? 0 : -1;
}

static int forget_directory(void **state)
{
    return file_remove_tree(AT_FDCWD, directory, NULL) ? 0 : -1;
}

#define ONE                                                                                        \
    "apiVersion: v1\nkind: Config\ncurrent-context: a\n"                                           \
    "clusters: [{name: a, cluster: {server: 'https://one/prefix/', certificate-authority: "        \
    "ca.pem}}]\n"                                                                                  \
    "contexts: [{name: a, context: {cluster: a, user: u, namespace: team}}]\n"
#define TWO                                                                                        \
    "current-context: b\n"                                                                         \
    "clusters: [{name: a, cluster: {server: 'https://hidden'}}, {name: b, cluster: {server: "      \
    "'https://two', tls-server-name: other, proxy-url: 'http://proxy:1'}}]\n"                      \
    "users: [{name: u, user: {tokenFile: token}}, {name: v, user: {username: me, password: pass, " \
    "as: "                                                                                         \
    "boss, as-groups: [g, h]}}]\n"                                                                 \
    "contexts: [{name: b, context: {cluster: b, user: v}}]\n"

static void several_files_are_merged(void **state)
{
    scoped(kubeconfig) struct kubeconfig config = {0};
    scoped_str one = mem_strdup(put("one", ONE, 0600));
    scoped_str two = mem_strdup(put("two", TWO, 0600));
    scoped_str paths = mem_printf("%s/missing:%s:%s", directory, (char *)one, (char *)two);
    struct error err = {0};

    put("ca.pem", "PEM", 0600);
    put("token", "secret\n", 0600);
    check(err.message, kubeconfig_read(paths, NULL, &config, &err));
    check_str("the first has it, without the slash", config.server, "https://one/prefix");
    check_str("beside the file", config.ca.data, "PEM");
    check_str("namespace", config.namespace, "team");
    check("the token comes when it is needed", !config.token);
    check("refreshed", kubeconfig_read_token(&config, &err));
    check_str("token", config.token, "secret");
    put("token", "next", 0600);
    check("refreshed", kubeconfig_read_token(&config, &err));
    check_str("read again", config.token, "next");
}

static void another_context_may_be_asked_for(void **state)
{
    scoped_str one = mem_strdup(put("one", ONE, 0600));
    scoped_str two = mem_strdup(put("two", TWO, 0600));
    scoped_str paths = mem_printf("%s:%s", (char *)one, (char *)two);
    scoped(kubeconfig) struct kubeconfig config = {0}, none = {0};
    struct error err = {0};

    check(err.message, kubeconfig_read(paths, &(const struct kubeconfig_options){.context = "b"},
                                       &config, &err));
    check_str("server", config.server, "https://two");
    check_str("its certificate's name", config.server_name, "other");
    check_str("proxy", config.proxy, "http://proxy:1");
    check_str("basic", config.basic, "me:pass");
    check_int("headers", config.n_headers, 3);
    check_str("whom to act for", config.headers[0], "Impersonate-User: boss");
    check_str("in which groups", config.headers[2], "Impersonate-Group: h");
    check("no such context",
          !kubeconfig_read(paths, &(const struct kubeconfig_options){.context = "c"}, &none, &err));
    check_has("names it", err.message, "there is no context \"c\"");
}

static void a_user_to_act_as_replaces_that_of_the_file(void **state)
{
    static const char *const groups[] = {"dev", "ops"}, *const broken[] = {"dev\r\nX: y"};
    const struct kubeconfig_options as_bob = {
        .as = "bob", .as_uid = "u-1", .as_groups = groups, .n_as_groups = 2};
    scoped(kubeconfig) struct kubeconfig config = {0};
    scoped_str two = mem_strdup(put("two", TWO, 0600));
    struct error err = {0};

    check(err.message,
          kubeconfig_read(two, &(const struct kubeconfig_options){.context = "b"}, &config, &err));
    check("none", kubeconfig_impersonate(&(const struct kubeconfig_options){0}, &config, &err));
    check_int("that of the file", config.n_headers, 3);
    check("replaced", kubeconfig_impersonate(&as_bob, &config, &err));
    check_int("headers", config.n_headers, 4);
    check_str("user", config.headers[0], "Impersonate-User: bob");
    check_str("uid", config.headers[1], "Impersonate-Uid: u-1");
    check_str("group", config.headers[3], "Impersonate-Group: ops");
    check("groups alone",
          !kubeconfig_impersonate(
              &(const struct kubeconfig_options){.as_groups = groups, .n_as_groups = 1}, &config,
              &err));
    check_has("why", err.message, "of the user that --as names");
    check("a second header", !kubeconfig_impersonate(
                                 &(const struct kubeconfig_options){
                                     .as = "bob", .as_groups = broken, .n_as_groups = 1},
                                 &config, &err));
    check_has("why", err.message, "--as-group: a name has no control characters");
}

static void what_is_asked_for_instead_counts(void **state)
{
    static const struct {
        const char *name;
        struct kubeconfig_options options;
        const char *server, *user, *says;
    } cases[] = {
        {"a user", {.user = "v"}, "https://one/prefix", "v", NULL},
        {"a cluster", {.cluster = "b"}, "https://two", "u", NULL},
        {"both and a context",
         {.context = "b", .cluster = "a", .user = "u"},
         "https://one/prefix",
         "u",
         NULL},
        {"no such user", {.user = "w"}, NULL, NULL, "there is no user \"w\""},
        {"no such cluster", {.cluster = "w"}, NULL, NULL, "there is no cluster \"w\""},
    };
    scoped_str one = mem_strdup(put("one", ONE, 0600));
    scoped_str two = mem_strdup(put("two", TWO, 0600));
    scoped_str paths = mem_printf("%s:%s", (char *)one, (char *)two);

    put("ca.pem", "PEM", 0600);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(kubeconfig) struct kubeconfig config = {0};
        struct error err = {0};
        bool ok = kubeconfig_read(paths, &cases[i].options, &config, &err);

        if (cases[i].says) {
            check_error(cases[i].name, ok, err, ERR_NOT_FOUND);
            check_has(cases[i].name, err.message, cases[i].says);
            continue;
        }
        check_ok(cases[i].name, ok, err);
        check_str(cases[i].name, config.server, cases[i].server);
        check_str(cases[i].name, config.user, cases[i].user);
    }
}

#define INSECURE(more)                                                                             \
    "current-context: a\ncontexts: [{name: a, context: {cluster: a}}]\n"                           \
    "clusters: [{name: a, cluster: {server: 'https://one', insecure-skip-tls-verify: true" more    \
    "}}]\n"

static void trust_is_not_decided_by_a_file_alone(void **state)
{
    static const struct kubeconfig_options accepted = {.insecure = true};
    scoped_str path = mem_strdup(put("config", INSECURE(""), 0600));
    scoped_str both = mem_strdup(put("both", INSECURE(", certificate-authority-data: eA=="), 0600));
    scoped_str shared = mem_strdup(put("shared", ONE, 0620));
    scoped(kubeconfig) struct kubeconfig config = {0}, none = {0};
    struct error err = {0};

    check_error("not asked for", kubeconfig_read(path, NULL, &none, &err), err, ERR_INVALID);
    check_has("says how", err.message, "--insecure-cluster");
    check_ok("asked for", kubeconfig_read(path, &accepted, &config, &err), err);
    check("remembered", config.insecure);
    check_error("both", kubeconfig_read(both, &accepted, &none, &err), err, ERR_INVALID);
    check_has("both", err.message, "exclude each other");
    check_error("others write it", kubeconfig_read(shared, NULL, &none, &err), err, ERR_FORBIDDEN);
    check_has("says how", err.message, "chmod go-w");
}

static void a_pod_finds_its_cluster(void **state)
{
    scoped(kubeconfig) struct kubeconfig config = {0}, v6 = {0}, none = {0};
    struct error err = {0};

    check("no account", !kubeconfig_in_cluster("10.0.0.1", "443", "/nonexistent", &none, &err));
    check_int("code", err.code, ERR_NOT_FOUND);
    put("ca.crt", "PEM", 0600);
    put("token", "secret", 0600);
    put("namespace", "team\n", 0600);
    check("no address", !kubeconfig_in_cluster(NULL, "443", directory, &none, &err));
    check("found", kubeconfig_in_cluster("10.0.0.1", "443", directory, &config, &err));
    check_str("server", config.server, "https://10.0.0.1:443");
    check_str("namespace", config.namespace, "team");
    check("refreshed", kubeconfig_read_token(&config, &err));
    check_str("token", config.token, "secret");
    check("IPv6", kubeconfig_in_cluster("fd00::1", "443", directory, &v6, &err));
    check_str("in brackets", v6.server, "https://[fd00::1]:443");
}

/* A plugin that counts its runs; its first token has already expired. */
#define PLUGIN                                                                                     \
    "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho x >> runs\nn=$(wc -l < runs)\n"                     \
    "[ -n \"$KUBERNETES_EXEC_INFO\" ] && [ \"$GIVEN\" = yes ] && [ \"$1\" = arg ] || exit 9\n"     \
    "until=2100-01-01T00:00:00Z; [ $n = 1 ] && until=2001-01-01T00:00:00Z\n"                       \
    "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","       \
    "\"status\":{\"token\":\"t'$n'\",\"expirationTimestamp\":\"'$until'\"}}'\n"
#define USER_OF(program)                                                                           \
    "current-context: a\nclusters: [{name: a, cluster: {server: 'https://one'}}]\n"                \
    "contexts: [{name: a, context: {cluster: a, user: u}}]\n"                                      \
    "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "       \
    "./" program ", args: [arg], env: [{name: GIVEN, value: 'yes'}], installHint: get it, "        \
    "interactiveMode: Never}}}]\n"

static void a_plugin_runs_again_when_its_token_is_no_good(void **state)
{
    const int64_t now_ms = 1800000000000;
    scoped_str plugin = mem_strdup(put("plugin", PLUGIN, 0700));
    scoped_str path = mem_strdup(put("config", USER_OF("plugin"), 0600));
    scoped_str allowed = mem_printf("%s/./plugin", directory);
    const struct kubeconfig_options options = {.allowed_plugin = allowed};
    scoped(kubeconfig) struct kubeconfig config = {0}, refused = {0};
    struct error err = {0};

    check("not allowed", !kubeconfig_read(path, NULL, &refused, &err));
    check_int("code", err.code, ERR_UNAUTHORIZED);
    check_has("says how", err.message, "JOBFLOW_EXEC_PLUGIN");
    check(err.message, kubeconfig_read(path, &options, &config, &err));
    check("not asked yet", !kubeconfig_is_fresh(&config, now_ms));
    check(err.message, kubeconfig_ask(&config, &err));
    check_str("first", config.token, "t1");
    check("it has run out", !kubeconfig_is_fresh(&config, now_ms));
    check(err.message, kubeconfig_ask(&config, &err));
    check_str("second", config.token, "t2");
    check("it is kept", kubeconfig_is_fresh(&config, now_ms));
}

static const struct failure {
    const char *name, *program, *says;
} failures[] = {
    {"an exit code", "#!/bin/sh\necho out of order >&2\nexit 3\n",
     "gave no credentials: exit code 3: out of order"},
    {"no JSON", "#!/bin/sh\necho hello\n", "is no JSON"},
    {"another version", "#!/bin/sh\necho '{\"apiVersion\":\"v0\",\"status\":{\"token\":\"t\"}}'\n",
     "answered with apiVersion \"v0\""},
    {"nothing in it",
     "#!/bin/sh\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{}}'\n",
     "gave neither status.token"},
    {"it is not there", NULL, "; get it"},
};

static void a_plugin_that_fails_says_why(void **state)
{
    scoped_str path = mem_strdup(put("config", USER_OF("broken"), 0600));
    scoped_str allowed = mem_printf("%s/./broken", directory);
    const struct kubeconfig_options options = {.allowed_plugin = allowed};

    for (size_t i = 0; i < countof(failures); i++) {
        scoped(kubeconfig) struct kubeconfig config = {0};
        struct error err = {0};

        if (failures[i].program)
            put("broken", failures[i].program, 0700);
        else
            check_int("gone", unlink(allowed), 0);
        check(failures[i].name, kubeconfig_read(path, &options, &config, &err));
        check(failures[i].name, !kubeconfig_ask(&config, &err));
        check_has(failures[i].name, err.message, failures[i].says);
    }
}

static void a_shown_host_has_neither_credentials_nor_a_path(void **state)
{
    static const struct {
        const char *url, *host;
    } rows[] = {
        {"https://10.0.0.1:6443", "10.0.0.1:6443"},
        {"https://proxy.example/clusters/a?token=secret", "proxy.example"},
        {"https://alice:secret@kube.example:6443/k", "kube.example:6443"},
        {"https://a@b:c@kube.example#x@y", "kube.example"},
        {"https://[::1]:6443/", "[::1]:6443"},
        {"kube.example/path@x", "kube.example"},
        {"", ""},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        scoped_str host = kubeconfig_host(rows[i].url);

        check_str(rows[i].url, host, rows[i].host);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shown_host_has_neither_credentials_nor_a_path),
        cmocka_unit_test_setup_teardown(several_files_are_merged, fresh_directory,
                                        forget_directory),
        cmocka_unit_test_setup_teardown(another_context_may_be_asked_for, fresh_directory,
                                        forget_directory),
        cmocka_unit_test_setup_teardown(a_user_to_act_as_replaces_that_of_the_file, fresh_directory,
                                        forget_directory),
        cmocka_unit_test_setup_teardown(what_is_asked_for_instead_counts, fresh_directory,
                                        forget_directory),
        cmocka_unit_test_setup_teardown(trust_is_not_decided_by_a_file_alone, fresh_directory,
                                        forget_directory),
        cmocka_unit_test_setup_teardown(a_pod_finds_its_cluster, fresh_directory, forget_directory),
        cmocka_unit_test_setup_teardown(a_plugin_runs_again_when_its_token_is_no_good,
                                        fresh_directory, forget_directory),
        cmocka_unit_test_setup_teardown(a_plugin_that_fails_says_why, fresh_directory,
                                        forget_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
