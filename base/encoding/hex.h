#pragma once
/*
 * Hexadecimal digits, independent of the locale.
 */

/** Returns the value of a digit in either case, or -1 for any other character. */
static inline int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
