#pragma once
/*
 * The paths of the host that pods may mount, as rules on prefixes: each prefix is read-only or
 * writable, and the longest one that covers a path applies.
 *
 * Rules are about names only. The shim opens a path below its prefix in a way that no link leads
 * out (node/sandbox/mounts/host_path.h). Ref: spec/reliability.md SEC-20, DC-08.
 */
#include "base/error.h"

enum { HOST_PATH_RULES_MAX = 64 };

struct host_path_rule {
    const char *prefix; /* path of [len] bytes without ":rw" and trailing slashes; borrowed */
    size_t len;
    bool writable;
};

struct host_paths {
    bool any; /* every path of the host is allowed, because the manifests are the user's own */
    struct host_path_rule rules[HOST_PATH_RULES_MAX];
    size_t n;
};

/** Adds the rule `PREFIX` or `PREFIX:rw`, borrowed for the life of `paths`. Sets INVALID when
 * `word` is not a prefix or there are too many rules. */
bool host_paths_add(struct host_paths *paths, const char *word, struct error *err);
/** Returns the rule that applies to an absolute path, or NULL when no prefix covers the path. */
const struct host_path_rule *host_paths_rule(const struct host_paths *paths, const char *path);
/** Returns whether the path has a component "..". */
bool host_path_climbs(const char *path);
