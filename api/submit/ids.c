/*
 * Two ids of one millisecond, and an id after the clock was set back, differ by 1 in the random
 * part. A carry beyond its 80 bits goes into the time.
 */
#include "api/submit/ids.h"

#include "base/clock.h"

static void put(char *out, int digits, uint64_t value)
{
    static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

    while (digits-- > 0) {
        out[digits] = alphabet[value & 31];
        value >>= 5;
    }
}

void submit_id_next(struct submit_ids *ids, int64_t now_ms, struct clock *clock,
                    char out[SUBMIT_ID_LEN + 1])
{
    if ((uint64_t)now_ms > ids->time_ms) {
        ids->time_ms = (uint64_t)now_ms;
        ids->high = clock_random(clock) & 0xffff;
        ids->low = clock_random(clock);
    } else if (++ids->low == 0 && (++ids->high & 0xffff) == 0) {
        ids->high = 0;
        ids->time_ms++;
    }
    /* 80 bits are 16 digits of 5 bits: 16 + 24 bits first, then 40 bits. */
    put(out, 10, ids->time_ms);
    put(out + 10, 8, ids->high << 24 | ids->low >> 40);
    put(out + 18, 8, ids->low & 0xffffffffffull);
    out[SUBMIT_ID_LEN] = '\0';
}
