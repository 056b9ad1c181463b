#pragma once
/*
 * Tests whether libnss_wrapper (sandbox/plain.h) answers name look-ups correctly. Programs of plain
 * pods get it by LD_PRELOAD; some versions of it answer some look-ups wrongly.
 */

/** Returns the path of a library that works. Returns NULL when none is installed (then `*out_why`
 * is NULL), or when it gives wrong answers (then `*out_why`, a literal, says which). */
const char *name_library_probe(const char **out_why);
/** Returns what the library at `path` gets wrong (a literal), or NULL when nothing is wrong. */
const char *name_library_fault(const char *path);
