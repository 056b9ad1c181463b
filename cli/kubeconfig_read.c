/*
 * Reading kubeconfig files: the current context of one file, or of several as kubectl merges them
 * (the first that has a name counts).
 *
 * Nothing is executed and nothing else fetched: users whose credentials come from a program are
 * refused by name (SEC-34).
 */
#include "api/types/json_text.h"
#include "api/types/yaml.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/kubeconfig.h"
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20, FILES_MAX = 16 };

struct file {
    char *path;
    struct yaml_stream *stream;
};

struct reading {
    struct file files[FILES_MAX]; /* [n] */
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

/* ---- the files ---- */

static bool open_file(struct reading *reading, const char *path, size_t len, struct error *err)
{
    struct file *file = &reading->files[reading->n];
    scoped(buf) struct buf text = {0};

    if (len == 0 || reading->n == FILES_MAX)
        return true;
    file->path = mem_printf("%.*s", (int)len, path);
    reading->n++;
    if (!file_read(file->path, FILE_BYTES_MAX, &text, err))
        return err->code == ERR_NOT_FOUND; /* one of several may be missing */
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

/* The member `what` of the entry with that name in the lists of all files; its file to `out`. */
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

/* ---- what stands in them, or in files they name ---- */

/* KEY-data in base64, or the content of the file KEY names, beside the kubeconfig. */
static bool read_data(const json_t *object, const char *key, const struct file *file,
                      struct buf *out, struct error *err)
{
    scoped_str data_key = mem_printf("%s-data", key);
    const char *data = text_at(object, data_key), *path = text_at(object, key);
    const char *slash = strrchr(file->path, '/');
    scoped_str beside = NULL;

    if (data)
        return base64_decode(data, strlen(data), out) ||
               error_set(err, ERR_INVALID, "", "%s: %s is not base64", file->path, data_key);
    if (!path)
        return true;
    if (*path != '/' && slash)
        beside = mem_printf("%.*s%s", (int)(slash - file->path + 1), file->path, path);
    return file_read(beside ? (const char *)beside : path, FILE_BYTES_MAX, out, err);
}

static bool read_cluster(const json_t *cluster, const struct file *file, struct kubeconfig *out,
                         struct error *err)
{
    const char *server = text_at(cluster, "server");

    if (!server)
        return error_set(err, ERR_INVALID, "", "%s: the cluster names no server", file->path);
    if (json_is_true(json_object_get(cluster, "insecure-skip-tls-verify")) &&
        strncmp(server, "https:", 6) == 0)
        return error_set(err, ERR_INVALID, "",
                         "%s: insecure-skip-tls-verify is not accepted; give the cluster a "
                         "certificate-authority",
                         file->path);
    out->server = mem_strdup(server);
    if (server[strlen(server) - 1] == '/')
        out->server[strlen(server) - 1] = '\0';
    return read_data(cluster, "certificate-authority", file, &out->ca, err);
}

static bool read_user(const json_t *user, const struct file *file, struct kubeconfig *out,
                      struct error *err)
{
    const char *token = text_at(user, "token"), *path = text_at(user, "tokenFile");
    scoped(buf) struct buf text = {0};

    if (json_object_get(user, "exec") || json_object_get(user, "auth-provider"))
        return error_set(err, ERR_INVALID, "",
                         "%s: its user's credentials come from a program, which is not started; "
                         "use a token or a client certificate",
                         file->path);
    if (path) {
        if (!file_read(path, FILE_BYTES_MAX, &text, err))
            return false;
        text.len = strcspn(text.data ? text.data : "", "\r\n");
        out->token = mem_printf("%.*s", (int)text.len, text.data ? text.data : "");
    } else {
        out->token = mem_strdup(token);
    }
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

static bool read_current(const struct reading *reading, const char *paths, struct kubeconfig *out,
                         struct error *err)
{
    const struct file *file, *cluster_file, *user_file;
    const char *name = current_context(reading);
    const json_t *context = entry(reading, "contexts", "context", name, &file);
    const json_t *cluster =
        entry(reading, "clusters", "cluster", text_at(context, "cluster"), &cluster_file);
    const json_t *user = entry(reading, "users", "user", text_at(context, "user"), &user_file);

    if (!context || !cluster)
        return error_set(err, ERR_INVALID, "", "%s: there is no current context with a cluster",
                         paths);
    out->namespace_ = mem_strdup(text_at(context, "namespace"));
    out->user = mem_strdup(text_at(context, "user"));
    return read_cluster(cluster, cluster_file, out, err) &&
           (!user || read_user(user, user_file, out, err));
}

bool kubeconfig_read(const char *paths, struct kubeconfig *out, struct error *err)
{
    struct reading reading = {0};
    bool ok = open_files(&reading, paths, err) && read_current(&reading, paths, out, err);

    release(&reading);
    return ok;
}
