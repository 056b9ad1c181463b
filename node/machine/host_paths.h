#pragma once
/*
 * Which paths of the host pods may mount. Ref: spec/reliability.md SEC-20, DC-08.
 *
 * Rules are prefixes, each read-only or not; the longest that covers a path is the one that counts.
 * What they say is about names only: the shim opens the path beneath its prefix, so that no link
 * leads out (node/sandbox/host_path.h).
 */
#include "base/error.h"

enum { HOST_PATH_RULES_MAX = 64 };

struct host_path_rule {
    const char *prefix; /* borrowed; [len] of it count: without ":rw" and slashes at the end */
    size_t len;
    bool writable;
};

struct host_paths {
    bool any; /* the manifests are the user's own: every path, as he sees it */
    struct host_path_rule rules[HOST_PATH_RULES_MAX];
    size_t n;
};

/** Add `PREFIX` or `PREFIX:rw`, borrowed for the life of `paths`. INVALID with what a prefix is. */
bool host_paths_add(struct host_paths *paths, const char *word, struct error *err);
/** The rule for an absolute path; NULL when no prefix covers it. */
const struct host_path_rule *host_paths_rule(const struct host_paths *paths, const char *path);
/** Has the path a component ".."? */
bool host_path_climbs(const char *path);
