/*
 * Cells of Endpoints and EndpointSlices. Ref: Kubernetes pkg/printers/internalversion,
 * formatEndpoints, formatDiscoveryPorts, formatDiscoveryEndpoints.
 */
#include "api/server/rest/table/cells.h"

#include "api/types/text/doc.h"

enum { SHOWN = 3 };

/* A list that shows its first entries and counts the others. */
struct short_list {
    struct buf text;
    size_t n;
};

/* Counts one more entry; the text to append it to, or NULL when it is only counted. */
static struct buf *next_of(struct short_list *short_list)
{
    return short_list->n++ < SHOWN ? &short_list->text : NULL;
}

static void write_short_list(struct jsonw *w, struct short_list *short_list, const char *otherwise)
{
    if (short_list->n > SHOWN)
        buf_printf(&short_list->text, " + %zu more...", short_list->n - SHOWN);
    cell_write_or(w, short_list->text.data, otherwise);
    buf_release(&short_list->text);
}

static const char *comma(const struct buf *text)
{
    return text->len ? "," : "";
}

static void add_addresses(struct short_list *short_list, const json_t *subset, json_t *port)
{
    size_t i;
    json_t *address;

    json_array_foreach(json_object_get(subset, "addresses"), i, address)
    {
        struct buf *text = next_of(short_list);

        if (!text)
            continue;
        buf_printf(text, "%s%s", comma(text), doc_text(address, "ip"));
        if (port)
            buf_printf(text, ":%" JSON_INTEGER_FORMAT,
                       json_integer_value(json_object_get(port, "port")));
    }
}

static void endpoints_all(struct jsonw *w, struct cell_row *row)
{
    struct short_list short_list = {0};
    size_t i, p;
    json_t *subset, *port;

    json_array_foreach(json_object_get(cell_body(row), "subsets"), i, subset)
    {
        if (!json_array_size(json_object_get(subset, "ports")))
            add_addresses(&short_list, subset, NULL);
        json_array_foreach(json_object_get(subset, "ports"), p, port)
            add_addresses(&short_list, subset, port);
    }
    write_short_list(w, &short_list, "<none>");
}

static void slice_ports(struct jsonw *w, struct cell_row *row)
{
    struct short_list short_list = {0};
    size_t i;
    json_t *port;

    json_array_foreach(json_object_get(cell_body(row), "ports"), i, port)
    {
        struct buf *text = next_of(&short_list);

        if (text)
            buf_printf(text, "%s%" JSON_INTEGER_FORMAT, comma(text),
                       json_integer_value(json_object_get(port, "port")));
    }
    write_short_list(w, &short_list, "<unset>");
}

static void slice_endpoints(struct jsonw *w, struct cell_row *row)
{
    struct short_list short_list = {0};
    size_t i, a;
    json_t *endpoint, *address;

    json_array_foreach(json_object_get(cell_body(row), "endpoints"), i, endpoint)
        json_array_foreach(json_object_get(endpoint, "addresses"), a, address)
    {
        struct buf *text = next_of(&short_list);

        if (text)
            buf_printf(text, "%s%s", comma(text), json_string_value(address));
    }
    write_short_list(w, &short_list, "<unset>");
}

/* clang-format off */
const struct cell_column cells_endpoints[] = {
    {"Name",      "string", 0, cell_name},
    {"Endpoints", "string", 0, endpoints_all},
    {"Age",       "string", 0, cell_age},
    {0},
};
const struct cell_column cells_endpoint_slice[] = {
    {"Name",        "string", 0, cell_name},
    {"AddressType", "string", 0, NULL, "addressType", ""},
    {"Ports",       "string", 0, slice_ports},
    {"Endpoints",   "string", 0, slice_endpoints},
    {"Age",         "string", 0, cell_age},
    {0},
};
/* clang-format on */
