#pragma once
/*
 * Hexadecimal digits, whatever the locale says.
 */

/** What a digit stands for, of either case; -1 when it is none. */
static inline int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
