#pragma once
/*
 * Selects the controllers that run: the list of --controllers, as Volcano and Kubernetes parse
 * theirs.
 *
 * "*" means all. NAME and +NAME switch a controller on, -NAME switches it off; a controller that is
 * not named runs when the list contains "*". Names may end in "-controller".
 */
#include "base/error.h"

/* The controllers that can be switched off, with their names. The others are parts of the store and
 * the scheduler. */
/* clang-format off */
#define CONTROLLERS(X)                  \
    X(JOB,          "job")              \
    X(JOB_FLOW,     "jobflow")          \
    X(JOB_TEMPLATE, "jobtemplate")      \
    X(CRON_JOB,     "cronjob")          \
    X(FLOW_TRIGGER, "flowtrigger")
/* clang-format on */
#define CONTROLLER_ENUM(name, text) CONTROLLER_##name,
enum controller { CONTROLLERS(CONTROLLER_ENUM) CONTROLLER_N };
#undef CONTROLLER_ENUM
#define CONTROLLER_BIT(controller) (1U << (controller))

/** Sets `*out_off` to the bits of the controllers that do not run. Returns false with BAD_REQUEST,
 * which names the invalid entry. */
bool controllers_parse(const char *list, unsigned *out_off, struct error *err);
