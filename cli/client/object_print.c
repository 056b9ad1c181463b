/*
 * Prints one object at a time as YAML or JSON, and writes the start and end of the List around
 * several objects.
 */
#include "cli/client/object_print.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/text/json_text.h"
#include "api/types/text/jsonpath.h"
#include "api/types/text/yaml.h"
#include "cli/client/resource.h"

enum { INDENT = 4 };

bool objectprint_parse(const char *form, struct objectprint *out, struct error *err)
{
    static const struct {
        const char *word;
        enum object_form form;
    } forms[] = {{"yaml", OBJECT_YAML}, {"json", OBJECT_JSON}, {"name", OBJECT_NAME}};
    static const char jsonpath[] = "jsonpath=";

    *out = (struct objectprint){.out = stdout};
    for (size_t i = 0; i < countof(forms); i++)
        if (strcmp(form, forms[i].word) == 0) {
            out->form = forms[i].form;
            return true;
        }
    if (strncmp(form, jsonpath, sizeof jsonpath - 1) == 0) {
        out->form = OBJECT_JSONPATH;
        out->jsonpath = form + sizeof jsonpath - 1;
        return true;
    }
    return error_set(err, ERR_BAD_REQUEST, "",
                     "unable to match a printer suitable for the output format \"%s\", allowed "
                     "formats are: json, jsonpath=…, name, wide, yaml",
                     form);
}

/* Prints `text` line by line: `first` before the first line, `indent` before each further line that
 * is not empty. */
static void print_indented(FILE *out, const char *text, const char *first, const char *indent)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        if (n)
            fputs(first, out);
        fwrite(text, 1, n, out);
        text += n + (text[n] == '\n');
        if (*text)
            fputc('\n', out);
        first = indent;
    }
}

static void print_json(struct objectprint *print, const json_t *doc)
{
    char *text = json_dumps(doc, JSON_INDENT(INDENT) | JSON_SORT_KEYS);

    if (!print->as_list) {
        fprintf(print->out, "%s\n", text);
    } else {
        fputs(print->printed ? ",\n" : "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n",
              print->out);
        print_indented(print->out, text, "        ", "        ");
    }
    free(text);
}

/* Returns a copy in which the members of every object are sorted by name. Owned. */
static json_t *sorted(const json_t *doc)
{
    char *text = json_dumps(doc, JSON_COMPACT | JSON_SORT_KEYS);
    json_t *copy = json_loads(text, 0, NULL);

    free(text);
    return copy;
}

static void print_yaml(struct objectprint *print, const json_t *doc)
{
    scoped(buf) struct buf text = {0};
    scoped(json) json_t *ordered = sorted(doc);

    yaml_write(ordered, &text);
    if (!print->as_list) {
        fputs(text.data, print->out);
        return;
    }
    fputs(print->printed ? "" : "apiVersion: v1\nitems:\n", print->out);
    print_indented(print->out, text.data, "- ", "  ");
    fputc('\n', print->out);
}

void objectprint_name(const struct objectprint *print, const struct kind *kind, const char *name)
{
    scoped(buf) struct buf text = {0};

    if (kind)
        resource_write_name(kind, name, &text);
    fprintf(print->out, "%s\n", text.data ? text.data : "");
}

static void print_name(struct objectprint *print, const json_t *doc)
{
    const char *version = json_string_value(json_object_get(doc, "apiVersion"));
    const char *name = json_string_value(json_object_get(doc, "kind"));
    const char *object =
        json_string_value(json_object_get(json_object_get(doc, "metadata"), "name"));

    objectprint_name(print, version && name ? kind_by_gvk(version, name) : NULL,
                     object ? object : "");
}

static bool print_path(const struct objectprint *print, const json_t *doc, struct error *err)
{
    scoped(buf) struct buf text = {0};

    if (!jsonpath_print(doc, print->jsonpath, &text, err))
        return false;
    fputs(text.data ? text.data : "", print->out);
    return true;
}

bool objectprint_one(struct objectprint *print, json_t *doc, struct error *err)
{
    json_object_del(json_object_get(doc, "metadata"), "managedFields");
    switch (print->form) {
    case OBJECT_JSON:
        print_json(print, doc);
        break;
    case OBJECT_YAML:
        print_yaml(print, doc);
        break;
    case OBJECT_NAME:
        print_name(print, doc);
        break;
    case OBJECT_JSONPATH:
        if (!print->as_list)
            return print_path(print, doc, err);
        if (!print->items)
            print->items = json_array();
        json_array_append(print->items, doc);
        break;
    }
    print->printed++;
    return true;
}

static void end_json(const struct objectprint *print)
{
    fputs(print->printed ? "\n    ],\n" : "{\n    \"apiVersion\": \"v1\",\n    \"items\": [],\n",
          print->out);
    fputs("    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    "
          "}\n}\n",
          print->out);
}

bool objectprint_end(struct objectprint *print, struct error *err)
{
    if (!print->as_list)
        return true;
    if (print->form == OBJECT_JSON)
        end_json(print);
    if (print->form == OBJECT_YAML)
        fprintf(print->out, "%skind: List\nmetadata:\n  resourceVersion: \"\"\n",
                print->printed ? "" : "apiVersion: v1\nitems: []\n");
    if (print->form == OBJECT_JSONPATH) {
        scoped(json) json_t *list =
            json_pack("{s:s, s:O, s:s}", "apiVersion", "v1", "items",
                      print->items ? print->items : (print->items = json_array()), "kind", "List");

        return print_path(print, list, err);
    }
    return true;
}

void objectprint_release(struct objectprint *print)
{
    json_decref(print->items);
    print->items = NULL;
}
