#pragma once
/*
 * The functions of igraph that draw a graph, loaded when the first graph is drawn.
 *
 * libigraph brings a dozen libraries (GLPK, BLAS, LAPACK, OpenMP, …). Linked, they would be mapped
 * and bound at every start of the program; only `graph` needs them.
 */
#include <igraph/igraph.h>

#include "base/error.h"

/* clang-format off */
#define IGRAPH_FUNCTIONS(X)                                                     \
    X(create) X(destroy) X(edge) X(ecount) X(vcount) X(layout_sugiyama)         \
    X(vector_int_init) X(vector_int_push_back) X(vector_int_destroy)            \
    X(matrix_init) X(matrix_destroy)                                            \
    X(set_error_handler) X(error_handler_ignore)                                \
    X(set_warning_handler) X(warning_handler_ignore)
/* clang-format on */

/* Each member is the function of the library with `igraph_` before its name. */
struct igraph_library {
#define IGRAPH_MEMBER(name) __typeof__(igraph_##name) *name;
    IGRAPH_FUNCTIONS(IGRAPH_MEMBER)
#undef IGRAPH_MEMBER
};

/**
 * Returns the library, loaded on the first call and never unloaded; its errors and warnings are
 * returned, not printed. NULL with UNAVAILABLE when the machine does not have it; the message names
 * Debian's package. On the loop thread only.
 */
const struct igraph_library *igraph_library_load(struct error *err);
