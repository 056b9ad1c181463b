/*
 * Builds messages about missing resources. One table gives each resource its unit and number
 * format.
 */
#include "node/scheduler/shortfall.h"

#include <assert.h>

#include "api/types/text/quantity.h"
#include "base/buf.h"
#include "base/mem.h"

enum { TEXT_MAX = QUANTITY_TEXT_MAX };

static const char *amount_text(size_t kind, int64_t value, char out[TEXT_MAX])
{
    static const struct {
        int64_t nanos;
        enum quantity_format format;
    } forms[] = {
        {1000000, QUANTITY_DECIMAL}, {1000000000, QUANTITY_BINARY}, {1000000000, QUANTITY_DECIMAL}};
    size_t form = kind < countof(forms) ? kind : countof(forms) - 1;

    quantity_print((quantity_nano)value * forms[form].nanos, forms[form].format, out);
    return out;
}

static const char *unit(size_t kind, const struct resource_names *extras)
{
    static const char *const units[] = {"cpu", "of memory", "pods"};

    if (kind < countof(units))
        return units[kind];
    kind -= countof(units);
    return kind < extras->count ? extras->names[kind] : "";
}

char *shortfall_of_limit(struct amount need, struct amount limit, const char *subject,
                         const struct resource_names *extras)
{
    for (size_t kind = 0; kind < AMOUNT_KINDS; kind++) {
        int64_t asked = *amount_at(&need, kind), most = *amount_at(&limit, kind);
        char a[TEXT_MAX], b[TEXT_MAX];

        if (asked > most)
            return mem_printf("needs %s %s, %s %s", amount_text(kind, asked, a), unit(kind, extras),
                              subject, amount_text(kind, most, b));
    }
    return NULL;
}

char *shortfall_of_node(struct amount need, struct amount capacity,
                        const struct resource_names *extras)
{
    scoped_str what = NULL;

    if (amount_within(need, capacity))
        return NULL;
    if (need.pods > capacity.pods)
        return mem_printf("can never fit this machine: needs %lld pods at once, the node runs at "
                          "most %lld: start with -j %lld or lower minAvailable",
                          (long long)need.pods, (long long)capacity.pods, (long long)need.pods);
    what = shortfall_of_limit(need, capacity, "the node has", extras);
    return mem_printf("can never fit this machine: %s: lower the requests", what);
}

char *shortfall_now(struct amount need, struct amount used, struct amount capacity,
                    const struct resource_names *extras)
{
    /* The order in which resources are reported: pods first, because they are the most common
     * shortage. */
    static const size_t order[] = {2, 0, 1, 3, 4, 5};
    struct amount free_now = amount_minus(capacity, used);
    struct buf text = {0};

    static_assert(countof(order) == AMOUNT_KINDS, "every kind has its turn");
    for (size_t i = 0; i < countof(order); i++) {
        size_t kind = order[i];
        int64_t asked = *amount_at(&need, kind), left = *amount_at(&free_now, kind);
        char a[TEXT_MAX], b[TEXT_MAX], c[TEXT_MAX];

        if (asked <= left || !asked)
            continue;
        buf_printf(&text, "%s%s %s (%s of %s free)", text.len ? ", " : "needs ",
                   amount_text(kind, asked, a), unit(kind, extras),
                   amount_text(kind, left > 0 ? left : 0, b),
                   amount_text(kind, *amount_at(&capacity, kind), c));
    }
    if (!text.len)
        buf_str(&text, "needs room");
    return buf_take(&text);
}
