#pragma once
/*
 * Resolves a plain YAML scalar as sigs.k8s.io/yaml does: null, the booleans of YAML 1.1, integers
 * in four bases, floats; everything else is text. Ref: sigs.k8s.io/yaml goyaml.v2/resolve.go.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yaml_scalar_type {
    YAML_TEXT,
    YAML_NULL,
    YAML_BOOL,
    YAML_INT,
    YAML_REAL,
    YAML_MERGE,      /* the merge key << */
    YAML_TOO_BIG,    /* an integer beyond 64 bits */
    YAML_NOT_FINITE, /* .inf, .nan, or a float out of range: not possible in JSON */
};

struct yaml_scalar {
    enum yaml_scalar_type type;
    bool boolean;
    int64_t integer;
    double real;
};

/** Returns the type of a plain scalar of `len` bytes, with its value if it is not text. */
struct yaml_scalar yaml_resolve(const char *text, size_t len);
