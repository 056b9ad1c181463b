#pragma once
/*
 * The page of a daemon, with the rights of the user that signs in: by a link that a client of the
 * API has asked for, or by a token.
 */
#include "cli/daemon/page.h"

extern const struct daemon_page_ops daemon_page_ops;
