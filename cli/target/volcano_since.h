#pragma once
/*
 * Tells in which version of Volcano a word of a Job's manifest appeared. A word is a field, an
 * event or an action of a policy, a plugin, or an argument of a plugin. Ref: Volcano config/crd,
 * pkg/webhooks/admission/jobs, pkg/controllers/job/plugins.
 */
#include <stdbool.h>

enum volcano_word {
    VOLCANO_MEMBER, /* path below spec without positions: tasks.policies.event */
    VOLCANO_EVENT,
    VOLCANO_ACTION,
    VOLCANO_PLUGIN,
    VOLCANO_ARGUMENT, /* argument of a plugin: PLUGIN.ARGUMENT */
};

enum { VOLCANO_NEVER = 1000 };

/** Returns the minor version of Volcano 1 that has the word first; 0 when the oldest target has it,
 * and VOLCANO_NEVER when none does. */
int volcano_since(enum volcano_word kind, const char *word);

/** Returns whether the members below this one are looked at apart, or not at all. */
bool volcano_is_opaque(const char *member);
