/*
 * Runs a credential plugin with a pipe for each output, and reads both until they end, for at most
 * a minute.
 */
#include "api/client/kubeconfig_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/types/text/json_text.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/timefmt.h"

enum { PLUGIN_MS = 60000, OUTPUT_BYTES_MAX = 1 << 20, STEP_BYTES = 4096 };

struct kubeconfig_plugin {
    char *command, *version, *hint;
    char **arguments; /* command of the plugin, [n_arguments] and NULL */
    size_t n_arguments;
    json_t *environment; /* variables of the plugin: [{name, value}] */
    json_t *cluster;     /* cluster information for the plugin; NULL */
    bool wants_cluster;
    bool has_run;
    int64_t expires_ms; /* when the credentials expire; 0: never */
};

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text && *text ? text : NULL;
}

static bool check_version(const char *version, struct error *err)
{
    static const char *const known[] = {"client.authentication.k8s.io/v1",
                                        "client.authentication.k8s.io/v1beta1"};

    for (size_t i = 0; version && i < countof(known); i++)
        if (strcmp(known[i], version) == 0)
            return true;
    return error_set(err, ERR_INVALID, "exec.apiVersion", "must be %s or %s, not \"%s\"", known[0],
                     known[1], version ? version : "");
}

struct kubeconfig_plugin *kubeconfig_plugin_new(const json_t *exec, const char *directory,
                                                const char *allowed, struct error *err)
{
    const char *command = text_at(exec, "command"), *version = text_at(exec, "apiVersion");
    const json_t *arguments = json_object_get(exec, "args"), *argument;
    bool relative = command && *command != '/' && strchr(command, '/');
    scoped_str path = relative ? mem_printf("%s%s", directory, command) : mem_strdup(command);
    struct kubeconfig_plugin *plugin;
    size_t i;

    if (!command) {
        error_set(err, ERR_INVALID, "exec.command", "is required");
        return NULL;
    }
    if (!allowed || strcmp(allowed, path) != 0) {
        error_set(err, ERR_UNAUTHORIZED, "exec.command",
                  "credentials come from the program %s, which is not started unless "
                  "--allow-exec-plugin or JOBFLOW_EXEC_PLUGIN names it by its absolute path",
                  path);
        return NULL;
    }
    if (!check_version(version, err))
        return NULL;
    plugin = mem_alloc(sizeof *plugin);
    plugin->command = take(path);
    plugin->version = mem_strdup(version);
    plugin->hint = mem_strdup(text_at(exec, "installHint"));
    plugin->wants_cluster = json_is_true(json_object_get(exec, "provideClusterInfo"));
    plugin->environment = json_deep_copy(json_object_get(exec, "env"));
    plugin->arguments = mem_array(json_array_size(arguments) + 2, sizeof *plugin->arguments);
    plugin->arguments[plugin->n_arguments++] = mem_strdup(plugin->command);
    json_array_foreach(arguments, i, argument)
    {
        if (json_is_string(argument))
            plugin->arguments[plugin->n_arguments++] = mem_strdup(json_string_value(argument));
    }
    return plugin;
}

void kubeconfig_plugin_free(struct kubeconfig_plugin *plugin)
{
    if (!plugin)
        return;
    for (size_t i = 0; i < plugin->n_arguments; i++)
        mem_free(plugin->arguments[i]);
    mem_free(plugin->arguments);
    mem_free(plugin->command);
    mem_free(plugin->version);
    mem_free(plugin->hint);
    json_decref(plugin->environment);
    json_decref(plugin->cluster);
    mem_free(plugin);
}

void kubeconfig_plugin_cluster(struct kubeconfig_plugin *plugin, const json_t *cluster)
{
    static const char *const told[] = {"server", "tls-server-name", "certificate-authority-data",
                                       "proxy-url"};

    if (!plugin->wants_cluster)
        return;
    plugin->cluster = json_object();
    for (size_t i = 0; i < countof(told); i++)
        json_object_set(plugin->cluster, told[i], json_object_get(cluster, told[i]));
}

bool kubeconfig_plugin_is_fresh(const struct kubeconfig_plugin *plugin, int64_t now_ms)
{
    return plugin->has_run && (!plugin->expires_ms || now_ms < plugin->expires_ms);
}

/* Returns the plugin's environment: that of this process, the variables of the file, and the
 * request. The array is owned, and its strings from `*out_own` on. */
static char **environment_of(const struct kubeconfig_plugin *plugin, size_t *out_own)
{
    scoped(json) json_t *asked =
        json_pack("{s:s, s:s, s:{s:b, s:O*}}", "apiVersion", plugin->version, "kind",
                  "ExecCredential", "spec", "interactive", 0, "cluster", plugin->cluster);
    scoped(buf) struct buf text = {0};
    size_t n = 0, i;
    json_t *one;
    char **list;

    while (environ[n])
        n++;
    list = mem_array(n + json_array_size(plugin->environment) + 2, sizeof *list);
    memcpy(list, environ, n * sizeof *list);
    *out_own = n;
    json_array_foreach(plugin->environment, i, one)
    {
        const char *name = text_at(one, "name"), *value = text_at(one, "value");

        if (name)
            list[n++] = mem_printf("%s=%s", name, value ? value : "");
    }
    json_text(asked, &text);
    list[n++] = mem_printf("KUBERNETES_EXEC_INFO=%s", text.data);
    return list;
}

static void environment_free(char **list, size_t own)
{
    for (char **one = list + own; *one; one++)
        mem_free(*one);
    mem_free(list);
}

static bool start(const struct kubeconfig_plugin *plugin, int out, int errors, pid_t *pid,
                  struct error *err)
{
    posix_spawn_file_actions_t files;
    size_t own;
    char **environment = environment_of(plugin, &own);
    int result;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
    result = posix_spawnp(pid, plugin->command, &files, NULL, plugin->arguments, environment);
    posix_spawn_file_actions_destroy(&files);
    environment_free(environment, own);
    return result == 0 ||
           error_set(err, ERR_UNAUTHORIZED, "", "cannot start %s for credentials: %s%s%s",
                     plugin->command, strerrordesc_np(result), plugin->hint ? "; " : "",
                     plugin->hint ? plugin->hint : "");
}

/* Reads available bytes. True when more may follow. */
static bool read_some(int fd, struct buf *out)
{
    char bytes[STEP_BYTES];
    ssize_t n = read(fd, bytes, sizeof bytes);

    if (n > 0 && out->len < OUTPUT_BYTES_MAX)
        buf_add(out, bytes, (size_t)n);
    explicit_bzero(bytes, sizeof bytes);
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Reads both pipes to the end. False on timeout. */
static bool read_both(int out_fd, int err_fd, struct buf *out, struct buf *errors)
{
    struct pollfd fds[2] = {{out_fd, POLLIN, 0}, {err_fd, POLLIN, 0}};
    struct buf *into[2] = {out, errors};
    int64_t ends_ns = clock_mono_ns(clock_real()) + (int64_t)PLUGIN_MS * 1000000;

    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        int64_t left_ms = (ends_ns - clock_mono_ns(clock_real())) / 1000000;

        if (left_ms <= 0 || poll(fds, 2, (int)left_ms) == 0)
            return false;
        for (int i = 0; i < 2; i++)
            if (fds[i].fd >= 0 && fds[i].revents && !read_some(fds[i].fd, into[i]))
                fds[i].fd = -1;
    }
    return true;
}

static bool check_end(const struct kubeconfig_plugin *plugin, bool in_time, int status,
                      const struct buf *errors, struct error *err)
{
    if (!in_time)
        return error_set(err, ERR_UNAUTHORIZED, "", "%s gave no credentials within %d s",
                         plugin->command, PLUGIN_MS / 1000);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return error_set(err, ERR_UNAUTHORIZED, "", "%s gave no credentials: exit code %d: %.512s",
                     plugin->command, WIFEXITED(status) ? WEXITSTATUS(status) : 128,
                     errors->data ? errors->data : "");
}

static bool run(const struct kubeconfig_plugin *plugin, struct buf *out, struct error *err)
{
    scoped(buf) struct buf errors = {0};
    int pipes[2][2] = {{-1, -1}, {-1, -1}}, status = 0;
    pid_t pid = 0;
    bool in_time;

    if (pipe2(pipes[0], O_CLOEXEC) != 0)
        return error_errno(err, errno, "no pipe for %s", plugin->command);
    if (pipe2(pipes[1], O_CLOEXEC) != 0 || !start(plugin, pipes[0][1], pipes[1][1], &pid, err)) {
        for (int i = 0; i < 4; i++)
            if (pipes[i / 2][i % 2] >= 0)
                close(pipes[i / 2][i % 2]);
        return false;
    }
    close(pipes[0][1]);
    close(pipes[1][1]);
    in_time = read_both(pipes[0][0], pipes[1][0], out, &errors);
    close(pipes[0][0]);
    close(pipes[1][0]);
    if (!in_time)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return check_end(plugin, in_time, status, &errors, err);
}

static void put_text(struct buf *out, const char *text)
{
    secret_wipe(out);
    if (text)
        buf_str(out, text);
}

static bool take_status(struct kubeconfig_plugin *plugin, const json_t *answer,
                        struct kubeconfig *config, struct error *err)
{
    const json_t *status = json_object_get(answer, "status");
    const char *token = text_at(status, "token"), *until = text_at(status, "expirationTimestamp");
    const char *certificate = text_at(status, "clientCertificateData");
    const char *version = text_at(answer, "apiVersion");

    if (!version || strcmp(version, plugin->version) != 0)
        return error_set(err, ERR_UNAUTHORIZED, "",
                         "%s answered with apiVersion \"%s\" where \"%s\" was asked for",
                         plugin->command, version ? version : "", plugin->version);
    if (!token && !certificate)
        return error_set(err, ERR_UNAUTHORIZED, "",
                         "%s gave neither status.token nor status.clientCertificateData",
                         plugin->command);
    plugin->expires_ms = 0;
    if (until && !time_parse(until, &plugin->expires_ms, err))
        return false;
    mem_free(config->token);
    config->token = mem_strdup(token);
    put_text(&config->certificate, certificate);
    put_text(&config->key, text_at(status, "clientKeyData"));
    plugin->has_run = true;
    return true;
}

bool kubeconfig_plugin_run(struct kubeconfig_plugin *plugin, struct kubeconfig *config,
                           struct error *err)
{
    struct buf text = {0};
    json_t *answer;
    bool ok = run(plugin, &text, err);

    if (ok) {
        answer = json_loadb(text.data ? text.data : "", text.len, 0, NULL);
        ok = answer ? take_status(plugin, answer, config, err)
                    : error_set(err, ERR_UNAUTHORIZED, "", "what %s wrote is no JSON",
                                plugin->command);
        json_decref(answer);
    }
    secret_wipe(&text);
    return ok;
}
