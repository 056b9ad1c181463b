#pragma once
/*
 * Strings that most metadata contains: keys of labels and annotations, kinds of owners. The stored
 * form refers to them by number, and all metadata in memory shares one copy of each.
 */
#include <stddef.h>
#include <stdint.h>

/** Returns the number of a string of `len` bytes, 0 when it is not in the list. */
uint32_t meta_word_number(const char *text, size_t len);
/** Returns the string with that number, NULL when there is none. */
const char *meta_word(uint64_t number);
