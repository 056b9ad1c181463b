#pragma once
/*
 * Memory that an idle process keeps resident.
 */

/**
 * Gives back the pages of code that ran and will not run again soon, such as start-up code or the
 * loading of certificates. Pages of the program and its libraries that equal their files leave the
 * resident set. The next use reads them from the page cache again, which takes microseconds. May be
 * called by any thread. Breakpoints that a debugger has set are lost.
 */
void rss_give_back(void);
