#pragma once
/*
 * Tests whether libnss_wrapper (sandbox/plain.h) answers name look-ups correctly. Programs of plain
 * pods get it by LD_PRELOAD; some versions of it answer some look-ups wrongly.
 */

/** The path of a library that works. NULL: none is installed (`*out_why` NULL), or `*out_why` (a
 * literal) says what it gets wrong. */
const char *name_library_probe(const char **out_why);
/** What the library at `path` gets wrong (a literal); NULL = nothing. */
const char *name_library_fault(const char *path);
