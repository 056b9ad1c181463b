#pragma once
/*
 * The network of a run's pods when the command line names none: the machine's, or one of their own
 * when a plugin needs it (cli/preflight/network_need.h).
 */
#include "cli/run/session.h"

struct network_choice {
    const struct manifest *manifest; /* the manifest that has the plugin; NULL = nothing was
                                      * chosen */
    bool required;                   /* the plugin cannot work in the machine's network */
    struct error why;
};

/** Chooses `options->network`, unless it is given or the run is a simulation. False after printing
 * why a plugin works in no network. */
bool network_choose(struct session_options *options, const struct manifests *set,
                    struct network_choice *out);
/** Prints what was chosen, why, and how to have it otherwise. */
void network_choice_note(const struct network_choice *choice);
/** Pods cannot have that network here, because of `err`. True: they stay in the machine's, and a
 * warning was printed; false after printing what to do. */
bool network_choice_yield(struct session_options *options, struct network_choice *choice,
                          const struct error *err);
