#pragma once
/*
 * Strings that most metadata has in common: keys of labels and annotations, kinds of owners. The
 * stored form names them by number, and in memory they are there once.
 */
#include <stddef.h>
#include <stdint.h>

/** The number of a string of `len` bytes, 0 when it is none of them. */
uint32_t meta_word_number(const char *text, size_t len);
/** The string of that number, NULL when there is none. */
const char *meta_word(uint64_t number);
