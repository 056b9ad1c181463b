#pragma once
/*
 * Finds out whether jobs of the files need a network of their own: because their sshd listens on a
 * port below 1024, which pods have only in such a network, or because they are nodes of Ray. Where
 * sshd runs no command for this user, no network helps.
 */
#include "cli/manifest/manifests.h"

enum network_need {
    NETWORK_ANY,
    NETWORK_OWN_IF_POSSIBLE, /* the plugin may work in the machine's network too */
    NETWORK_OWN,
    NETWORK_NONE_HELPS, /* the plugin does not work in any network */
};

/** Returns the need of the files at the isolation level that the command line names (NULL or "auto"
 * = the best one that works). `*out` is the manifest that has the plugin, and `why` (with its field)
 * says what the plugin does. O(size of the files) when a job has one of these plugins. */
enum network_need preflight_network_need(const struct manifests *set, const char *isolation,
                                         const struct manifest **out, struct error *why);
