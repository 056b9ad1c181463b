/*
 * Times and durations: every text yields a value or an error, and a value prints and reads back the
 * same.
 */
/* covers: reliability.md FZ-08 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped_str text = mem_alloc(size + 1);
    char printed[TIME_TEXT_MAX];
    int64_t value, again;
    struct error err = {0};

    if (size)
        memcpy(text, data, size);

    if (duration_parse(text, &value, &err)) {
        duration_format(value, printed);
        require(duration_parse(printed, &again, NULL) && again == value);
        duration_human(value / 1000000, printed);
    } else {
        require(err.code == ERR_INVALID && err.message[0]);
    }

    err = (struct error){0};
    if (time_parse(text, &value, &err)) {
        time_format(value, printed);
        require(time_parse(printed, &again, NULL)); /* times are printed in whole seconds */
        require(again > value - 1000 && again <= value);
    } else {
        require(err.code == ERR_INVALID && err.message[0]);
    }
    return 0;
}
