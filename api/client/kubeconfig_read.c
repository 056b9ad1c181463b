/*
 * Reads a context from one kubeconfig file, or from several merged as kubectl merges them: the
 * first entry with a name counts, and paths are relative to the file they are in.
 *
 * Reading connects to nothing. A credential plugin may run only when the caller allows it by name
 * (SEC-34).
 */
#include <string.h>
#include <sys/stat.h>

#include "api/client/kubeconfig_plugin.h"
#include "api/types/text/json_text.h"
#include "api/types/text/yaml.h"
#include "base/encoding/base64.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/secret.h"

enum { FILE_BYTES_MAX = 1 << 20, FILES_MAX = 16 };

struct file {
    char *path;
    struct yaml_stream *stream;
};

struct reading {
    struct file files[FILES_MAX]; /* the files that were read, [n] */
    size_t n;
};

static const json_t *document(const struct file *file)
{
    return yaml_count(file->stream) ? yaml_document(file->stream, 0) : NULL;
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text && *text ? text : NULL;
}

/* Requires that only the owner can write the file, because it chooses the program that runs and the
 * server that is trusted (SEC-34). */
static bool is_owners_alone(const char *path, struct error *err)
{
    struct stat info;

    return stat(path, &info) != 0 || !(info.st_mode & (S_IWGRP | S_IWOTH)) ||
           error_set(err, ERR_FORBIDDEN, "",
                     "%s can be written by others: 'chmod go-w %s' before it is used", path, path);
}

static bool open_file(struct reading *reading, const char *path, size_t len, struct error *err)
{
    struct file *file = &reading->files[reading->n];
    scoped(buf) struct buf text = {0};

    if (len == 0 || reading->n == FILES_MAX)
        return true;
    file->path = mem_printf("%.*s", (int)len, path);
    reading->n++;
    if (!file_read(file->path, FILE_BYTES_MAX, &text, err))
        return err->code == ERR_NOT_FOUND; /* one of several files may be missing */
    if (!is_owners_alone(file->path, err))
        return false;
    file->stream = yaml_parse(text.data ? text.data : "", text.len, &yaml_limits_body, err);
    if (!file->stream)
        error_prefix(err, "%s: ", file->path);
    return file->stream != NULL;
}

static bool open_files(struct reading *reading, const char *paths, struct error *err)
{
    bool found = false;

    while (*paths) {
        size_t len = strcspn(paths, ":");

        if (!open_file(reading, paths, len, err))
            return false;
        paths += len + (paths[len] == ':');
    }
    for (size_t i = 0; i < reading->n; i++)
        found = found || reading->files[i].stream;
    return found;
}

static void release(struct reading *reading)
{
    for (size_t i = 0; i < reading->n; i++) {
        yaml_stream_free(reading->files[i].stream);
        mem_free(reading->files[i].path);
    }
}

/* Finds the entry with that name in the lists of all files. Returns its member `what`, and its file
 * in `out`. */
static const json_t *entry(const struct reading *reading, const char *list, const char *what,
                           const char *name, const struct file **out)
{
    for (size_t f = 0; name && f < reading->n; f++) {
        const json_t *entries, *each;
        size_t i;

        if (!reading->files[f].stream)
            continue;
        entries = json_object_get(document(&reading->files[f]), list);
        json_array_foreach(entries, i, each)
        {
            const char *its = text_at(each, "name");

            if (its && strcmp(its, name) == 0) {
                *out = &reading->files[f];
                return json_object_get(each, what);
            }
        }
    }
    return NULL;
}

/* Resolves a path of a kubeconfig; owned. */
static char *path_beside(const struct file *file, const char *path)
{
    const char *slash = path && *path != '/' ? strrchr(file->path, '/') : NULL;

    if (!slash)
        return mem_strdup(path);
    return mem_printf("%.*s%s", (int)(slash - file->path + 1), file->path, path);
}

/* Reads KEY-data in base64, or the content of the file that KEY names, relative to the kubeconfig.
 */
static bool read_data(const json_t *object, const char *key, const struct file *file,
                      struct buf *out, struct error *err)
{
    scoped_str data_key = mem_printf("%s-data", key);
    const char *data = text_at(object, data_key), *path = text_at(object, key);
    scoped_str beside = NULL;

    if (data)
        return base64_decode(data, strlen(data), out) ||
               error_set(err, ERR_INVALID, "", "%s is not base64", data_key);
    if (!path)
        return true;
    beside = path_beside(file, path);
    return file_read(beside, FILE_BYTES_MAX, out, err);
}

/* Rejects insecure-skip-tls-verify unless the caller allows it: a file alone must not permit
 * interception (SEC-34). */
static bool read_insecure(const json_t *cluster, const struct kubeconfig_options *options,
                          struct kubeconfig *out, struct error *err)
{
    bool has_ca =
        text_at(cluster, "certificate-authority") || text_at(cluster, "certificate-authority-data");

    out->insecure = json_is_true(json_object_get(cluster, "insecure-skip-tls-verify")) &&
                    strncmp(out->server, "https:", 6) == 0;
    if (out->insecure && has_ca)
        return error_set(err, ERR_INVALID, "",
                         "certificate-authority and insecure-skip-tls-verify exclude each other");
    if (out->insecure && !options->insecure)
        return error_set(err, ERR_INVALID, "",
                         "insecure-skip-tls-verify is not accepted without --insecure-cluster; "
                         "better give the cluster a certificate-authority");
    return true;
}

static bool read_cluster(const json_t *cluster, const struct file *file,
                         const struct kubeconfig_options *options, struct kubeconfig *out,
                         struct error *err)
{
    const char *server = text_at(cluster, "server");

    if (!server)
        return error_set(err, ERR_INVALID, "", "the cluster names no server");
    out->server = kubeconfig_server(server);
    out->server_name = mem_strdup(text_at(cluster, "tls-server-name"));
    out->proxy = mem_strdup(text_at(cluster, "proxy-url"));
    out->uncompressed = json_is_true(json_object_get(cluster, "disable-compression"));
    return read_insecure(cluster, options, out, err) &&
           read_data(cluster, "certificate-authority", file, &out->ca, err);
}

static void add_header(struct kubeconfig *out, char *header)
{
    out->headers = mem_resize(out->headers, (out->n_headers + 1) * sizeof *out->headers);
    out->headers[out->n_headers++] = header;
}

/* Adds the impersonation headers of the user. */
static void read_impersonation(const json_t *user, struct kubeconfig *out)
{
    const char *as = text_at(user, "as"), *uid = text_at(user, "as-uid"), *key;
    json_t *values, *value;
    size_t i;

    if (as)
        add_header(out, mem_printf("Impersonate-User: %s", as));
    if (uid)
        add_header(out, mem_printf("Impersonate-Uid: %s", uid));
    json_array_foreach(json_object_get(user, "as-groups"), i, value)
    {
        if (json_is_string(value))
            add_header(out, mem_printf("Impersonate-Group: %s", json_string_value(value)));
    }
    json_object_foreach(json_object_get(user, "as-user-extra"), key, values)
    {
        json_array_foreach(values, i, value)
        {
            if (json_is_string(value))
                add_header(out,
                           mem_printf("Impersonate-Extra-%s: %s", key, json_string_value(value)));
        }
    }
}

/* A header is one line of visible text. */
static bool fits_in_header(const char *flag, const char *text, struct error *err)
{
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return error_set(err, ERR_INVALID, "", "--%s: a name has no control characters", flag);
    return *text || error_set(err, ERR_INVALID, "", "--%s: the name is empty", flag);
}

static bool check_impersonation(const struct kubeconfig_options *options, struct error *err)
{
    if (!options->as)
        return error_set(err, ERR_INVALID, "",
                         "--as-group and --as-uid are of the user that --as names");
    if (!fits_in_header("as", options->as, err) ||
        (options->as_uid && !fits_in_header("as-uid", options->as_uid, err)))
        return false;
    for (size_t i = 0; i < options->n_as_groups; i++)
        if (!fits_in_header("as-group", options->as_groups[i], err))
            return false;
    return true;
}

bool kubeconfig_impersonate(const struct kubeconfig_options *options, struct kubeconfig *config,
                            struct error *err)
{
    if (!options->as && !options->as_uid && !options->n_as_groups)
        return true;
    if (!check_impersonation(options, err))
        return false;
    while (config->n_headers > 0)
        mem_free(config->headers[--config->n_headers]);
    add_header(config, mem_printf("Impersonate-User: %s", options->as));
    if (options->as_uid)
        add_header(config, mem_printf("Impersonate-Uid: %s", options->as_uid));
    for (size_t i = 0; i < options->n_as_groups; i++)
        add_header(config, mem_printf("Impersonate-Group: %s", options->as_groups[i]));
    return true;
}

static bool read_plugin(const json_t *exec, const struct file *file, const json_t *cluster,
                        const struct kubeconfig_options *options, struct kubeconfig *out,
                        struct error *err)
{
    scoped_str directory = path_beside(file, "");

    out->plugin = kubeconfig_plugin_new(exec, directory, options->allowed_plugin, err);
    if (!out->plugin)
        return false;
    kubeconfig_plugin_cluster(out->plugin, cluster);
    return true;
}

static bool read_user(const json_t *user, const struct file *file, struct kubeconfig *out,
                      struct error *err)
{
    const char *name = text_at(user, "username"), *password = text_at(user, "password");

    if (json_object_get(user, "auth-provider"))
        return error_set(err, ERR_INVALID, "",
                         "auth-provider is not known any more; use exec, a token or a client "
                         "certificate");
    out->token = mem_strdup(text_at(user, "token"));
    out->token_file = path_beside(file, text_at(user, "tokenFile"));
    if (name && password)
        out->basic = mem_printf("%s:%s", name, password);
    read_impersonation(user, out);
    return read_data(user, "client-certificate", file, &out->certificate, err) &&
           read_data(user, "client-key", file, &out->key, err);
}

static const char *current_context(const struct reading *reading)
{
    const char *name = NULL;

    for (size_t i = 0; i < reading->n && !name; i++)
        if (reading->files[i].stream)
            name = text_at(document(&reading->files[i]), "current-context");
    return name;
}

/* An entry of one of the lists contexts, clusters and users. */
struct choice {
    const char *list, *what; /* name of the list; its singular */
    const char *requested;   /* name given by the caller; NULL: the one in `referred` */
    const char *referred;    /* name given by the entry that refers to this one, or NULL */
    const struct file *file; /* out: the file that contains the entry */
    const json_t *content;   /* out: NULL when there is none */
};

/* Finds the requested entry, or the one referred to. False when a requested entry does not exist.
 */
static bool choose(const struct reading *reading, struct choice *choice, struct error *err)
{
    const char *name = choice->requested ? choice->requested : choice->referred;

    choice->content = entry(reading, choice->list, choice->what, name, &choice->file);
    return choice->content || !choice->requested ||
           error_set(err, ERR_NOT_FOUND, "", "there is no %s \"%s\"", choice->what,
                     choice->requested);
}

static bool read_context(const struct reading *reading, const struct kubeconfig_options *options,
                         struct kubeconfig *out, struct error *err)
{
    struct choice context = {"contexts", "context", options->context, current_context(reading)};
    struct choice cluster = {"clusters", "cluster", options->cluster};
    struct choice user = {"users", "user", options->user};
    const json_t *exec;

    if (!choose(reading, &context, err))
        return false;
    cluster.referred = text_at(context.content, "cluster");
    user.referred = text_at(context.content, "user");
    if (!choose(reading, &cluster, err) || !choose(reading, &user, err))
        return false;
    if (!cluster.content)
        return error_set(err, ERR_INVALID, "", "there is no current context with a cluster");
    out->namespace = mem_strdup(text_at(context.content, "namespace"));
    out->user = mem_strdup(user.requested ? user.requested : user.referred);
    if (!read_cluster(cluster.content, cluster.file, options, out, err))
        return false;
    if (!user.content)
        return true; /* a context without a user is anonymous */
    exec = json_object_get(user.content, "exec");
    return read_user(user.content, user.file, out, err) &&
           (!exec || read_plugin(exec, user.file, cluster.content, options, out, err));
}

bool kubeconfig_read(const char *paths, const struct kubeconfig_options *options,
                     struct kubeconfig *out, struct error *err)
{
    static const struct kubeconfig_options usual;
    struct reading reading = {0};
    struct kubeconfig config = {0};
    bool opened = open_files(&reading, paths, err);
    bool ok = opened && read_context(&reading, options ? options : &usual, &config, err);

    if (opened && !ok)
        error_prefix(err, "%s: ", paths);
    if (ok)
        *out = config;
    else
        kubeconfig_release(&config);
    release(&reading);
    return ok;
}

bool kubeconfig_in_cluster(const char *host, const char *port, const char *directory,
                           struct kubeconfig *out, struct error *err)
{
    scoped_str token = mem_printf("%s/token", directory);
    scoped_str ca = mem_printf("%s/ca.crt", directory);
    scoped_str ns = mem_printf("%s/namespace", directory);
    scoped(buf) struct buf text = {0};
    bool v6 = host && strchr(host, ':');

    if (!host || !*host || !port || !*port || !file_read(token, FILE_BYTES_MAX, &text, NULL))
        return error_set(err, ERR_NOT_FOUND, "", "this is no pod of a cluster");
    out->server = mem_printf("https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
    out->token_file = take(token);
    buf_clear(&text);
    if (file_read(ns, FILE_BYTES_MAX, &text, NULL))
        out->namespace =
            mem_printf("%.*s", (int)strcspn(text.data ? text.data : "", "\r\n"), text.data);
    return file_read(ca, FILE_BYTES_MAX, &out->ca, err);
}

bool kubeconfig_read_token(struct kubeconfig *config, struct error *err)
{
    struct buf text = {0};
    size_t len;

    if (!config->token_file)
        return true;
    if (!file_read(config->token_file, FILE_BYTES_MAX, &text, err))
        return false;
    len = strcspn(text.data ? text.data : "", "\r\n");
    mem_free(config->token);
    config->token = mem_printf("%.*s", (int)len, text.data ? text.data : "");
    secret_wipe(&text);
    return true;
}

bool kubeconfig_is_fresh(const struct kubeconfig *config, int64_t now_ms)
{
    return !config->plugin || kubeconfig_plugin_is_fresh(config->plugin, now_ms);
}

bool kubeconfig_ask(struct kubeconfig *config, struct error *err)
{
    return kubeconfig_plugin_run(config->plugin, config, err);
}
