#pragma once
/*
 * The objects that run `jobflow controller` in a cluster, as texts with places to fill in. Ref:
 * spec/cluster.md 6.2.
 */
#include <stddef.h>

/* A part of the installation, which can be printed or left out. */
struct install_part {
    const char *name; /* as in --only and --skip */
    /* Documents in YAML. "${word}" stands for a text of install.c. NULL: install.c makes them. */
    const char *text;
    int minor_least;    /* oldest minor version of Kubernetes that has these objects */
    int replicas_least; /* fewest replicas with which they make sense */
};

enum { INSTALL_PARTS = 8 };

/* The parts in an order that one pass of kubectl can apply. */
extern const struct install_part install_parts[INSTALL_PARTS];
