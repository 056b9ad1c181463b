#pragma once
/*
 * Telling the service manager how it goes: systemd's notification protocol, one datagram to the
 * socket it names. Does nothing where nobody asked. Ref: sd_notify(3).
 */

/** "READY=1", "STOPPING=1", "STATUS=…", lines of their own. */
void notify_manager(const char *state);
