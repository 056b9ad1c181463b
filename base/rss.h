#pragma once
/*
 * What a process at rest keeps in memory for itself.
 */

/**
 * Give back the code that was run and will not soon be again (starting, loading certificates, a
 * burst of requests): the pages of the program and its libraries that are as the files have them
 * leave the resident set, and come back from the page cache, some microseconds each, when they are
 * used next. Any thread. Breakpoints that a debugger has set are lost with them.
 */
void resident_give_back(void);
