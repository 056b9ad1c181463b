#pragma once
/*
 * Opens a link in the user's browser. Other users of the machine can read command lines, and the
 * link contains a secret. So the browser is started with the path of a file that only its user can
 * read; the page in that file leads on to the link. Ref: spec/web.md WEB-004.
 */
#include <stdbool.h>

#include "base/loop/loop.h"

struct browser;

/** Returns whether a browser can be opened here: there is a display, and it is not that of another
 * machine. */
bool browser_possible(void);
/** Writes the file into $XDG_RUNTIME_DIR, else into `directory`, and starts $BROWSER or xdg-open.
 * NULL when that fails. */
struct browser *browser_open(struct loop *loop, const char *directory, const char *link);
/** Removes the file and forgets the browser, which goes on. NULL is fine. */
void browser_forget(struct browser *browser);
