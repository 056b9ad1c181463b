#pragma once
/*
 * What a plain YAML scalar means, as sigs.k8s.io/yaml takes it: null, the booleans of YAML 1.1,
 * integers in four bases, floats; everything else is text. Ref: sigs.k8s.io/yaml
 * goyaml.v2/resolve.go.
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
    YAML_MERGE,      /* << */
    YAML_TOO_BIG,    /* an integer that does not fit into 64 bits */
    YAML_NOT_FINITE, /* .inf, .nan, or a float out of range: JSON has none */
};

struct yaml_scalar {
    enum yaml_scalar_type type;
    bool boolean;
    int64_t integer;
    double real;
};

struct yaml_scalar yaml_resolve(const char *text, size_t len);
