#pragma once
/*
 * Replacing host names by addresses in what pods are given, for pods that cannot look names up.
 *
 * A pod that sees the machine's file system has no /etc/hosts of its own. Without a library that
 * reads another file (sandbox/plain.c) its programs cannot resolve the names in the host lists of
 * plugins. So each full name of the pod's hosts file is replaced by its address in the variables,
 * arguments, and files of ConfigMaps and Secrets of such a pod.
 *
 *   MPI_HOST=j-worker-0.j,j-worker-1.j:2   MPI_HOST=127.10.4.2,127.10.4.3:2
 *   --address=j-head-0.j:6379              --address=127.10.4.4:6379
 *   Host j-worker-0                        Host j-worker-0
 *     HostName j-worker-0.j                  HostName 127.10.4.2
 *
 * A full name has a dot. Single words are left alone because they may mean anything, and so are
 * parts of file paths. Ref: spec/local-runtime.md 8.
 */
#include <stddef.h>

#include "base/collections/arena.h"

struct host_names;

/** Indexes a hosts file by name. When several lines have a name, the first one counts. `hosts` is
 * borrowed and must outlive the result, which is allocated in the arena. O(hosts). */
struct host_names *host_names_new(struct arena *arena, const char *hosts);

/** Returns `text` with host names replaced by addresses. Returns `text` itself when it has no such
 * name or contains a NUL byte, or when `names` is NULL. `len` is the length before and after. */
const char *host_names_replace(const struct host_names *names, struct arena *arena,
                               const char *text, size_t *len);
