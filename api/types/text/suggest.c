/*
 * Finds the most similar word by optimal string alignment distance (Levenshtein distance plus swaps
 * of neighbours), computed over three rolling rows.
 */
#include "api/types/text/suggest.h"

#include <ctype.h>
#include <string.h>

enum { WORD_MAX = 64 };

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

static int folded(const char *text, size_t at)
{
    return tolower((unsigned char)text[at]);
}

static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][WORD_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b_len; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t cost = folded(a, i - 1) != folded(b, j - 1);

            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + cost);
            if (i > 1 && j > 1 && folded(a, i - 1) == folded(b, j - 2) &&
                folded(a, i - 2) == folded(b, j - 1) && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }

        size_t *oldest = before;

        before = last;
        last = now;
        now = oldest;
    }
    return last[b_len];
}

void suggest_offer(struct suggest *best, const char *typed, const char *candidate)
{
    size_t typed_len = strlen(typed), len = strlen(candidate);

    if (!typed_len || !len || typed_len > WORD_MAX || len > WORD_MAX)
        return;

    size_t longer = typed_len > len ? typed_len : len;
    size_t reach = longer / 3 ? longer / 3 : 1;
    size_t distance = edit_distance(typed, typed_len, candidate, len);

    if (distance > reach || (best->word && distance >= best->distance))
        return;
    best->word = candidate;
    best->distance = distance;
}
