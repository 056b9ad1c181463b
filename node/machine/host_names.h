#pragma once
/*
 * Addresses in the place of names: for pods whose programs cannot look names up.
 *
 * Where a pod sees the file system of the machine it has no /etc/hosts of its own. Without a
 * library that reads another one (sandbox/plain.c), the lists that plugins give it would name
 * nobody. So in what such a pod is given (variables, arguments, files of ConfigMaps and Secrets)
 * each full name of its hosts file becomes the address it stands for.
 *
 *   MPI_HOST=j-worker-0.j,j-worker-1.j:2   MPI_HOST=127.10.4.2,127.10.4.3:2
 *   --address=j-head-0.j:6379              --address=127.10.4.4:6379
 *   Host j-worker-0                        Host j-worker-0
 *     HostName j-worker-0.j                  HostName 127.10.4.2
 *
 * A full name has a dot, and stands alone: single words may mean anything, and a part of a path is
 * no host. Ref: spec/local-runtime.md 8.
 */
#include <stddef.h>

#include "base/arena.h"

struct host_names;

/** Index a hosts file; the first line wins. `hosts` is borrowed for the life of the result, which
 * is the arena's. O(hosts). */
struct host_names *host_names_new(struct arena *arena, const char *hosts);

/** `text` with addresses for names; `text` itself when there are none, or when it is not text
 * (holds NUL). `len` is that of the text before and of the result after. `names` NULL: as it is. */
const char *host_names_replace(const struct host_names *names, struct arena *arena,
                               const char *text, size_t *len);
