#pragma once
/*
 * Kubernetes resource quantities ("100m", "64Mi", "1e3"): exact, compared by value.
 */
#include <stdint.h>

#include "base/error.h"

/* A value in units of 10^-9. 128 bits hold every quantity that Kubernetes accepts, exactly. */
typedef __int128 quantity_nano;

/** Parses a quantity exactly. Returns false with `err` when the text is not a quantity. */
bool quantity_parse(const char *text, quantity_nano *out, struct error *err);
/** Returns a negative number, 0 or a positive number, as strcmp does. */
int quantity_compare(quantity_nano a, quantity_nano b);
int64_t quantity_milli(quantity_nano value); /* rounds up; saturates at the limits */
int64_t quantity_whole(quantity_nano value); /* rounds up; saturates at the limits */
enum quantity_format { QUANTITY_DECIMAL, QUANTITY_BINARY };
enum { QUANTITY_TEXT_MAX = 48 };
/** Writes the canonical text of a value in the given format, as Kubernetes does. */
void quantity_print(quantity_nano value, enum quantity_format format, char out[QUANTITY_TEXT_MAX]);
