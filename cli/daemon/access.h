#pragma once
/*
 * The files of a data directory that give clients access:
 *
 *   access/             0700
 *     tokens.json       names, roles and hashes of tokens
 *     ca.crt ca.key     the certificate authority of this daemon
 *     server.crt …key   its server certificate, renewed before it expires
 *   kubeconfig          0600: the administrator's access, for kubectl
 */
#include "api/client/kubeconfig.h"
#include "api/server/auth/bearer_tokens.h"
#include "api/server/http/tls.h"

#define ACCESS_TOKENS "access/tokens.json" /* path in the data directory */

/** Returns $XDG_STATE_HOME/jobflow, or the default under $HOME when that is unset; owned. NULL
 * without a home directory. */
char *access_default_dir(void);

/** Creates the data directory when it is missing. Returns false with FORBIDDEN when other users can
 * access it or own it (SEC-16). */
bool access_check_dir(const char *data_dir, struct error *err);

/** Creates or renews the CA and the server certificate where needed. Returns a TLS context with
 * them, owned, or NULL with `err` set. */
struct tls_context *access_tls(const char *data_dir, const char *const *hosts, size_t n_hosts,
                               int64_t now_ms, struct error *err);
/** The number of days before its end at which a certificate is renewed, and its lifetime in
 * days. */
enum { ACCESS_RENEW_DAYS = 120, ACCESS_CERTIFICATE_DAYS = 365 };

/** Writes the administrator's kubeconfig for `server`; a token in it that is still valid is kept.
 * Returns its absolute path, owned, or NULL on failure. */
char *access_kubeconfig(const char *data_dir, const char *server, int64_t now_ms,
                        struct error *err);

/** Loads the tokens, calls `change` on them and saves them, all under a lock, so that no change is
 * lost. */
bool access_change_tokens(const char *data_dir,
                          bool (*change)(void *ctx, struct bearer_tokens *bearers,
                                         struct error *err),
                          void *ctx, struct error *err);
/** Reads server and CA from the administrator's kubeconfig. NOT_FOUND when there is none. */
bool access_read_server(const char *data_dir, struct kubeconfig *out, struct error *err);
