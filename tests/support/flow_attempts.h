#pragma once
/*
 * Fake probe attempts without sockets. A test that uses them lists in its "wraps:" comment
 *
 *   probe_tcp_start probe_tcp_cancel probe_http_start probe_http_cancel
 *   probe_http_client_new probe_http_client_free
 */

/** Resets the sequence of results: the first attempt fails, the next passes, and so on. */
void flow_tries_begin(void);
