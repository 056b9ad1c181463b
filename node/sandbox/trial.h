#pragma once
/*
 * Finding out by doing: something is tried in a child, whose end leaves nothing of it.
 */
#include "base/error.h"

/** Run `attempt` in a child. False with what it said: UNAVAILABLE. */
bool trial(bool (*attempt)(void *arg, struct error *err), void *arg, struct error *err);
