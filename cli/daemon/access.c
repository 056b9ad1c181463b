/*
 * Creates and reads the keys, tokens and kubeconfig of a data directory.
 */
#include "cli/daemon/access.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/server/auth/tls_keys.h"
#include "api/store/dir/dir_owner.h"
#include "api/types/text/yaml.h"
#include "base/encoding/base64.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/command/command.h"

#define ADMIN_TOKEN "admin" /* name of the token in the kubeconfig */

enum { PEM_BYTES_MAX = 64 << 10, CONFIG_BYTES_MAX = 1 << 20 };

char *access_default_dir(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (state && state[0] == '/')
        return mem_printf("%s/jobflow", state);
    return home && home[0] == '/' ? mem_printf("%s/.local/state/jobflow", home) : NULL;
}

bool access_check_dir(const char *data_dir, struct error *err)
{
    struct stat info;

    if (!dir_owner_check(data_dir, err) || !file_mkdirs(data_dir, 0700, err))
        return false;
    if (stat(data_dir, &info) < 0)
        return error_errno(err, errno, "cannot look at %s", data_dir);
    return (info.st_mode & 077) == 0 ||
           error_set(err, ERR_FORBIDDEN, "",
                     "the data directory %s is open to other users (mode %03o): make it private "
                     "with chmod 700 %s",
                     data_dir, (unsigned)info.st_mode & 0777, data_dir);
}

static char *path_in(const char *data_dir, const char *name)
{
    return mem_printf("%s/%s", data_dir, name);
}

static bool make_access_dir(const char *data_dir, struct error *err)
{
    scoped_str path = path_in(data_dir, "access");

    return file_mkdirs(path, 0700, err);
}

/* Returns false without an error when one of the two files is missing. */
static bool read_pair(const char *data_dir, const char *name, struct tls_pair *out,
                      struct error *err)
{
    scoped_str certificate = mem_printf("%s/access/%s.crt", data_dir, name);
    scoped_str key = mem_printf("%s/access/%s.key", data_dir, name);
    struct error why = {0};

    if (file_read(certificate, PEM_BYTES_MAX, &out->certificate, &why) &&
        file_read(key, PEM_BYTES_MAX, &out->key, &why))
        return true;
    if (why.code != ERR_NOT_FOUND)
        *err = why;
    return false;
}

/* Writes the key first, because a certificate without its key is useless. */
static bool write_pair(const char *data_dir, const char *name, const struct tls_pair *pair,
                       struct error *err)
{
    scoped_str certificate = mem_printf("%s/access/%s.crt", data_dir, name);
    scoped_str key = mem_printf("%s/access/%s.key", data_dir, name);

    return file_write_atomic(key, pair->key.data, pair->key.len, 0600, err) &&
           file_write_atomic(certificate, pair->certificate.data, pair->certificate.len, 0600, err);
}

static bool get_ca(const char *data_dir, int64_t now_s, struct tls_pair *out, struct error *err)
{
    struct error why = {0};

    if (read_pair(data_dir, "ca", out, &why) &&
        tls_still_good(out, out, NULL, 0, now_s, ACCESS_CERTIFICATE_DAYS))
        return true;
    if (why.code != ERR_NONE) {
        *err = why;
        return false;
    }
    return tls_ca_make(now_s, out, err) && write_pair(data_dir, "ca", out, err);
}

static bool get_server(const char *data_dir, const struct tls_pair *ca, const char *const *hosts,
                       size_t n_hosts, int64_t now_s, struct tls_pair *out, struct error *err)
{
    const struct tls_subject subject = {
        .user = "jobflow", .hosts = hosts, .n_hosts = n_hosts, .days = ACCESS_CERTIFICATE_DAYS};
    struct error why = {0};

    if (read_pair(data_dir, "server", out, &why) &&
        tls_still_good(ca, out, hosts, n_hosts, now_s, ACCESS_RENEW_DAYS))
        return true;
    if (why.code != ERR_NONE) {
        *err = why;
        return false;
    }
    return tls_issue(ca, &subject, now_s, out, err) && write_pair(data_dir, "server", out, err);
}

struct tls_context *access_tls(const char *data_dir, const char *const *hosts, size_t n_hosts,
                               int64_t now_ms, struct error *err)
{
    scoped(tls_pair) struct tls_pair ca = {0}, server = {0};
    int64_t now_s = now_ms / 1000;

    if (!make_access_dir(data_dir, err) || !get_ca(data_dir, now_s, &ca, err) ||
        !get_server(data_dir, &ca, hosts, n_hosts, now_s, &server, err))
        return NULL;
    return tls_context_new(server.certificate.data, server.key.data, ca.certificate.data, err);
}

bool access_change_tokens(const char *data_dir,
                          bool (*change)(void *ctx, struct bearer_tokens *bearers,
                                         struct error *err),
                          void *ctx, struct error *err)
{
    scoped_str path = path_in(data_dir, ACCESS_TOKENS);
    scoped_str dir = path_in(data_dir, "access");
    scoped(bearer_tokens) struct bearer_tokens bearers = {0};
    bool ok = make_access_dir(data_dir, err);
    int lock = ok ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (!ok)
        return false;
    while (lock >= 0 && flock(lock, LOCK_EX) < 0 && errno == EINTR)
        ;
    ok = bearer_tokens_load(&bearers, path, err) && change(ctx, &bearers, err) &&
         bearer_tokens_save(&bearers, path, err);
    if (lock >= 0)
        close(lock);
    return ok;
}

static const json_t *first(const json_t *doc, const char *list, const char *member)
{
    return json_object_get(json_array_get(json_object_get(doc, list), 0), member);
}

/* Reads server, CA and token from a kubeconfig that this program has written. */
static bool read_own(const char *path, struct kubeconfig *out, struct error *err)
{
    scoped(buf) struct buf text = {0};
    scoped(yaml) struct yaml_stream *stream = NULL;
    const json_t *doc, *cluster, *ca, *server, *token;

    if (!file_read(path, CONFIG_BYTES_MAX, &text, err) ||
        !(stream = yaml_parse(text.data ? text.data : "", text.len, &yaml_limits_body, err)))
        return false;
    doc = yaml_count(stream) ? yaml_document(stream, 0) : NULL;
    cluster = first(doc, "clusters", "cluster");
    server = json_object_get(cluster, "server");
    ca = json_object_get(cluster, "certificate-authority-data");
    token = json_object_get(first(doc, "users", "user"), "token");
    if (!json_is_string(server) || !json_is_string(ca) || !json_is_string(token) ||
        !base64_decode(json_string_value(ca), json_string_length(ca), &out->ca))
        return error_set(err, ERR_INVALID, "", "%s is not what the daemon wrote", path);
    out->server = mem_strdup(json_string_value(server));
    out->token = mem_strdup(json_string_value(token));
    return true;
}

bool access_read_server(const char *data_dir, struct kubeconfig *out, struct error *err)
{
    scoped_str path = path_in(data_dir, "kubeconfig");

    if (read_own(path, out, err))
        return true;
    if (err->code == ERR_NOT_FOUND)
        error_set(
            err, ERR_NOT_FOUND, "",
            "there is no %s: '%s serve --data-dir %s' writes it when it listens on an address",
            path, cli_program, data_dir);
    return false;
}

/* State for keeping the valid token of the existing kubeconfig or creating a new one. */
struct admin_token {
    const char *had; /* token of the existing kubeconfig; NULL: none */
    int64_t now_ms;
    char text[BEARER_TEXT + 1];
};

static bool keep_or_make(void *ctx, struct bearer_tokens *bearers, struct error *err)
{
    struct admin_token *admin = ctx;
    const struct bearer_token *known =
        admin->had ? bearer_tokens_find(bearers, admin->had, strlen(admin->had), admin->now_ms)
                   : NULL;

    if (known && known->role == ROLE_ADMIN) {
        memcpy(admin->text, admin->had, sizeof admin->text);
        return true;
    }
    bearer_tokens_remove(bearers, ADMIN_TOKEN);
    return bearer_tokens_add(bearers,
                             &(const struct bearer_token_request){
                                 .name = ADMIN_TOKEN, .role = ROLE_ADMIN, .now_ms = admin->now_ms},
                             admin->text, err);
}

char *access_kubeconfig(const char *data_dir, const char *server, int64_t now_ms, struct error *err)
{
    scoped_str path = path_in(data_dir, "kubeconfig");
    scoped_str ca = path_in(data_dir, "access/ca.crt");
    scoped(kubeconfig) struct kubeconfig had = {0}, config = {0};
    scoped(buf) struct buf text = {0};
    struct admin_token admin = {.now_ms = now_ms};
    char absolute[PATH_MAX];

    if (read_own(path, &had, NULL) && had.token && strlen(had.token) == BEARER_TEXT)
        admin.had = had.token;
    if (!access_change_tokens(data_dir, keep_or_make, &admin, err) ||
        !file_read(ca, PEM_BYTES_MAX, &config.ca, err))
        return NULL;
    config.server = mem_strdup(server);
    config.user = mem_strdup("admin");
    config.token = mem_strdup(admin.text);
    kubeconfig_write(&config, &text);
    if (!file_write_changed(path, text.data, text.len, 0600, err))
        return NULL;
    return mem_strdup(realpath(path, absolute) ? absolute : path);
}
