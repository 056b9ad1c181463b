/*
 * Frees a kubeconfig, and writes one for a new daemon. Reading is in kubeconfig_read.c.
 */
#include "api/client/kubeconfig.h"

#include <openssl/crypto.h>
#include <string.h>

#include "api/client/kubeconfig_plugin.h"
#include "api/types/text/json_text.h"
#include "api/types/text/yaml.h"
#include "base/encoding/base64.h"
#include "base/mem.h"

static const char context[] = "jobflow";

static void wipe(char *text)
{
    if (text)
        OPENSSL_cleanse(text, strlen(text));
    mem_free(text);
}

void kubeconfig_release(struct kubeconfig *config)
{
    wipe(config->token);
    wipe(config->basic);
    for (size_t i = 0; i < config->n_headers; i++)
        mem_free(config->headers[i]);
    mem_free(config->headers);
    mem_free(config->server);
    mem_free(config->server_name);
    mem_free(config->proxy);
    mem_free(config->user);
    mem_free(config->token_file);
    mem_free(config->namespace);
    kubeconfig_plugin_free(config->plugin);
    buf_release(&config->ca);
    buf_release(&config->certificate);
    if (config->key.data)
        OPENSSL_cleanse(config->key.data, config->key.cap);
    buf_release(&config->key);
}

void kubeconfig_use_token_file(struct kubeconfig *config, const char *path)
{
    kubeconfig_plugin_free(take(config->plugin));
    wipe(take(config->token));
    wipe(take(config->basic));
    mem_free(config->token_file);
    config->token_file = mem_strdup(path);
}

char *kubeconfig_server(const char *url)
{
    size_t len = strlen(url);

    while (len > 0 && url[len - 1] == '/')
        len--;
    return mem_printf("%.*s", (int)len, url);
}

char *kubeconfig_host(const char *url)
{
    const char *slashes = strstr(url, "://"), *host = slashes ? slashes + 3 : url;
    size_t len = strcspn(host, "/?#");

    for (const char *at; (at = memchr(host, '@', len)); host = at + 1)
        len -= (size_t)(at + 1 - host);
    return mem_printf("%.*s", (int)len, host);
}

/* Returns a list of one named entry: [{name, <what>: {…}}]. */
static json_t *one(const char *what, const char *name, json_t *value)
{
    return json_pack("[{s:s,s:o}]", "name", name, what, value);
}

void kubeconfig_write(const struct kubeconfig *config, struct buf *out)
{
    scoped(buf) struct buf ca = {0};
    scoped(json) json_t *doc = NULL;
    json_t *in_context = json_pack("{s:s,s:s}", "cluster", context, "user", config->user);

    base64_encode(config->ca.data, config->ca.len, &ca);
    if (config->namespace)
        json_object_set_new(in_context, "namespace", json_string(config->namespace));
    doc = json_pack("{s:s,s:s,s:o,s:o,s:o,s:s}", "apiVersion", "v1", "kind", "Config", "clusters",
                    one("cluster", context,
                        json_pack("{s:s,s:s}", "server", config->server,
                                  "certificate-authority-data", ca.data)),
                    "users", one("user", config->user, json_pack("{s:s}", "token", config->token)),
                    "contexts", one("context", context, in_context), "current-context", context);
    yaml_write(doc, out);
}
