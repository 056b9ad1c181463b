#pragma once
/*
 * Notifies the service manager of state changes with systemd's protocol: one datagram to the socket
 * in $NOTIFY_SOCKET. Does nothing when that is unset. Ref: sd_notify(3).
 */

/** Sends `state`: lines such as "READY=1", "STOPPING=1", "STATUS=…". */
void sd_notify_send(const char *state);
