/*
 * FZ-08: quantities, names, durations, times and plain YAML scalars. Every input yields a value or
 * an error, and a printed quantity has the same value.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/types/labels.h"
#include "api/types/text/quantity.h"
#include "api/types/text/yaml_scalar.h"
#include "base/mem.h"
#include "base/timefmt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_quantity(const char *text)
{
    struct error err = {0};
    quantity_nano value, again;
    char printed[QUANTITY_TEXT_MAX];

    if (!quantity_parse(text, &value, &err)) {
        assert(err.code == ERR_INVALID);
        return;
    }
    quantity_print(value, QUANTITY_DECIMAL, printed);
    assert(quantity_parse(printed, &again, NULL) && quantity_compare(value, again) == 0);
    quantity_print(value, QUANTITY_BINARY, printed);
    assert(quantity_parse(printed, &again, NULL));
    assert(quantity_whole(again) == quantity_whole(value));
    assert(quantity_milli(value) / 1000 <= quantity_whole(value) || value < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped_str text = mem_alloc(size + 1);
    int64_t number;

    if (size)
        memcpy(text, data, size);
    check_quantity(text);
    yaml_resolve(text, strlen(text));
    name_is_dns_subdomain(text, NULL);
    name_is_dns1035_label(text, NULL);
    duration_parse(text, &number, NULL);
    time_parse(text, &number, NULL);
    return 0;
}
