#pragma once
/*
 * Tries of probes in a world without sockets. A test that walks flows has in its "wraps:"
 *
 *   probe_tcp_start probe_tcp_cancel probe_http_start probe_http_cancel
 *   probe_http_client_new probe_http_client_free
 */

/** From here on, the first try fails, the next passes, and so on. */
void flow_tries_begin(void);
