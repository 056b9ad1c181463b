#pragma once
/*
 * What lies in a data directory for those who want in:
 *
 *   access/             0700
 *     tokens.json       names, roles and hashes of tokens
 *     ca.crt ca.key     the certificate authority of this daemon
 *     server.crt …key   what it has signed for itself, made again before it expires
 *   kubeconfig          0600: one administrator's way in, for kubectl
 */
#include "api/client/kubeconfig.h"
#include "api/server/auth/bearer_tokens.h"
#include "api/server/http/tls.h"

#define ACCESS_TOKENS "access/tokens.json" /* in the data directory */

/** $XDG_STATE_HOME/jobflow, or what it is where that is not set; owned. NULL: there is no home. */
char *access_default_dir(void);

/** The data directory itself: made when missing; FORBIDDEN when it is open to others or not ours
 * (SEC-16). */
bool access_check_dir(const char *data_dir, struct error *err);

/** CA and server certificate, made or made again where needed, as a context. */
struct tls_context *access_tls(const char *data_dir, const char *const *hosts, size_t n_hosts,
                               int64_t now_ms, struct error *err);
/** Days before its end in which a certificate is made again. */
enum { ACCESS_RENEW_DAYS = 120, ACCESS_CERTIFICATE_DAYS = 365 };

/** The administrator's kubeconfig, written so that it leads to `server`; the token in it is kept
 * while it is good. Its absolute path, owned; NULL on failure. */
char *access_kubeconfig(const char *data_dir, const char *server, int64_t now_ms,
                        struct error *err);

/* ---- for `jobflow token` ---- */

/** Load, let `change` work on the tokens, save; under a lock, so that no change is lost. */
bool access_change_tokens(const char *data_dir,
                          bool (*change)(void *ctx, struct bearer_tokens *bearers,
                                         struct error *err),
                          void *ctx, struct error *err);
/** Server and CA as in the administrator's kubeconfig. NOT_FOUND when there is none. */
bool access_read_server(const char *data_dir, struct kubeconfig *out, struct error *err);
