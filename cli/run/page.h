#pragma once
/*
 * `jobflow run --ui`: starts `jobflow ui` for the data directory of the run.
 *
 * The page outlives the run: it is a process in a session of its own, so that Ctrl-C ends the run
 * alone, and it ends after ten minutes without a page. What it prints goes through a pipe to the
 * run's standard error while the run lasts; a program that reads the run's output until its end
 * does not wait for the page.
 */
#include "base/loop/loop.h"

struct page;

struct page_request {
    const char *data_dir, *namespace;
    const char *flow; /* name of the flow that is opened; NULL: the list */
};

/** Starts it. NULL after a warning. */
struct page *page_start(struct loop *loop, const struct page_request *request);
/** Lets go of it; it goes on. NULL is fine. */
void page_release(struct page *page);
