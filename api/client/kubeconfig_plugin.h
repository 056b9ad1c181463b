#pragma once
/*
 * Credentials from a program (client.authentication.k8s.io): what a kubeconfig says of it, and
 * running it.
 *
 * The program gets an ExecCredential in its environment and writes one to its standard output. What
 * it gives is kept until it runs out or is refused. Ref: spec/kube-api.md 16.2.
 */
#include <jansson.h>

#include "api/client/kubeconfig.h"

/** From `user.exec`; `directory` is the kubeconfig's. Only the program `allowed` may be started
 * (SEC-34). Owned; NULL with INVALID or FORBIDDEN. */
struct kubeconfig_plugin *kubeconfig_plugin_new(const json_t *exec, const char *directory,
                                                const char *allowed, struct error *err);
void kubeconfig_plugin_free(struct kubeconfig_plugin *plugin); /* NULL is fine */

/** What the program is told of the cluster, when it asks to be. */
void kubeconfig_plugin_cluster(struct kubeconfig_plugin *plugin, const json_t *cluster);

bool kubeconfig_plugin_is_fresh(const struct kubeconfig_plugin *plugin, int64_t now_ms);
/** Run it, at most a minute; token, certificate and key of `config` are what it says. */
bool kubeconfig_plugin_run(struct kubeconfig_plugin *plugin, struct kubeconfig *config,
                           struct error *err);
