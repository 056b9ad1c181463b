#pragma once
/*
 * Which controllers run: the list of --controllers, as Volcano and Kubernetes read theirs.
 *
 * "*" means all; NAME and +NAME switch one on, -NAME switches it off; whoever is not named runs
 * when "*" is there. Names are with or without "-controller".
 */
#include "base/error.h"

/* What can be switched, with its name; the others are parts of the store and the scheduler. */
/* clang-format off */
#define CONTROLLERS(X)                  \
    X(JOB,          "job")              \
    X(JOB_FLOW,     "jobflow")          \
    X(JOB_TEMPLATE, "jobtemplate")
/* clang-format on */
#define CONTROLLER_ENUM(name, text) CONTROLLER_##name,
enum controller { CONTROLLERS(CONTROLLER_ENUM) CONTROLLER_N };
#undef CONTROLLER_ENUM
#define CONTROLLER_BIT(controller) (1U << (controller))

/** The controllers that do not run, as bits; false with BAD_REQUEST, which names the entry. */
bool controllers_parse(const char *list, unsigned *out_off, struct error *err);
