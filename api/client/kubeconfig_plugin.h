#pragma once
/*
 * Credential plugins (client.authentication.k8s.io): their configuration in a kubeconfig, and
 * running them.
 *
 * A plugin gets an ExecCredential in its environment and writes one to its standard output. The
 * credentials are cached until they expire or the server rejects them. Ref: spec/kube-api.md 16.2.
 */
#include <jansson.h>

#include "api/client/kubeconfig.h"

/** Reads the plugin of `user.exec`; `directory` is the kubeconfig's. Only the program `allowed` may
 * run (SEC-34). Owned; NULL with INVALID or FORBIDDEN. */
struct kubeconfig_plugin *kubeconfig_plugin_new(const json_t *exec, const char *directory,
                                                const char *allowed, struct error *err);
void kubeconfig_plugin_free(struct kubeconfig_plugin *plugin); /* NULL is ignored */

/** Sets the cluster information for a plugin that requests it. */
void kubeconfig_plugin_cluster(struct kubeconfig_plugin *plugin, const json_t *cluster);

bool kubeconfig_plugin_is_fresh(const struct kubeconfig_plugin *plugin, int64_t now_ms);
/** Runs the plugin, for at most a minute, and sets token, certificate and key of `config`. */
bool kubeconfig_plugin_run(struct kubeconfig_plugin *plugin, struct kubeconfig *config,
                           struct error *err);
