#pragma once
/*
 * Whether the library of names (sandbox/plain.h) can be given to programs: it stands before their
 * look-ups, and answers some of them wrongly in some versions. Found by asking it.
 */

/** NULL = there is none here, or `*out_why` (a literal) says what it cannot do. */
const char *name_library_probe(const char **out_why);
/** What the library at `path` cannot do; NULL = nothing. */
const char *name_library_fault(const char *path);
