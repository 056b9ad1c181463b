/*
 * The command `jobflow schema`: prints a JSON Schema of the files that people write, for editors.
 */
#include <stdio.h>
#include <string.h>

#include "api/types/kind.h"
#include "api/types/schema/json_schema.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/file/editor_schema.h"
#include "cli/flowtest/file.h"

/* The kinds that people write manifests of. */
static const struct kind *const written[] = {
    &kind_job_flow,  &kind_job_template,   &kind_job,      &kind_queue,
    &kind_pod_group, &kind_command,        &kind_pod,      &kind_config_map,
    &kind_secret,    &kind_service,        &kind_pvc,      &kind_priority_class,
    &kind_namespace, &kind_network_policy, &kind_cron_job, &kind_flow_trigger,
};

/* Adds the definition of a kind: the fields of its table, and apiVersion, kind and metadata, which
 * every object has. Returns the name of the definition. */
static const char *add_kind(struct schema_definitions *definitions, const struct kind *kind,
                            const char *metadata)
{
    const char *name = schema_definitions_add(definitions, kind->schema);
    json_t *schema = json_object_get(schema_definitions_all(definitions), name);
    json_t *properties = json_object_get(schema, "properties");
    scoped_str ref = mem_printf("#/components/schemas/%s", metadata);

    if (!properties) {
        properties = json_object();
        json_object_set_new(schema, "properties", properties);
    }
    json_object_set_new(properties, "apiVersion",
                        json_pack("{s:[s]}", "enum", kind_api_version(kind)));
    json_object_set_new(properties, "kind", json_pack("{s:[s]}", "enum", kind->name));
    json_object_set_new(properties, "metadata", json_pack("{s:s}", "$ref", ref));
    return name;
}

static json_t *choice(const char *kind, const char *definition)
{
    scoped_str ref = mem_printf("#/definitions/%s", definition);

    return json_pack("{s:{s:{s:{s:s}}, s:[s]}, s:{s:s}}", "if", "properties", "kind", "const", kind,
                     "required", "kind", "then", "$ref", ref);
}

/* Allows a text in place of an expected step: it is the step's phase. */
static void allow_bare_phase(json_t *definitions)
{
    static const char name[] = "TestExpectedStep";
    json_t *whole = json_incref(json_object_get(definitions, name));

    json_object_set_new(definitions, name,
                        json_pack("{s:[{s:s}, o]}", "anyOf", "type", "string", whole));
}

json_t *editor_schema(void)
{
    struct schema_definitions *definitions = schema_definitions_new();
    json_t *choices = json_array(), *names = json_array(), *all, *schema;
    scoped_str metadata = mem_strdup(schema_definitions_add(definitions, &metadata_schema));
    scoped_str tests = NULL;

    for (size_t i = 0; i < countof(written); i++) {
        json_array_append_new(names, json_string(written[i]->name));
        json_array_append_new(
            choices, choice(written[i]->name, add_kind(definitions, written[i], metadata)));
    }
    tests = mem_printf("#/definitions/%s", schema_definitions_add(definitions, &test_file_schema));
    json_array_append_new(choices, json_pack("{s:{s:{s:[s]}}, s:{s:s}}", "if", "not", "required",
                                             "kind", "then", "$ref", tests));
    all = json_incref(schema_definitions_all(definitions));
    json_schema_from_definitions(all);
    allow_bare_phase(all);
    schema =
        json_pack("{s:s, s:s, s:s, s:{s:{s:s, s:o}}, s:o, s:o}", "$schema",
                  "http://json-schema.org/draft-07/schema#", "title",
                  "Manifests and test files of jobflow", "type", "object", "properties", "kind",
                  "type", "string", "enum", names, "allOf", choices, "definitions", all);
    schema_definitions_free(definitions);
    return schema;
}

bool editor_schema_write(const char *path, struct error *err)
{
    scoped(json) json_t *schema = editor_schema();
    char *text = json_dumps(schema, JSON_INDENT(1));
    scoped_str whole = mem_printf("%s\n", text);

    free(text);
    if (path)
        return file_write_atomic(path, whole, strlen(whole), 0644, err);
    fputs(whole, stdout);
    return true;
}

struct output_options {
    const char *output;
};

static int run_schema(const void *options, int n_operands, char **operands)
{
    const struct output_options *given = options;
    struct error err = {0};

    if (editor_schema_write(given->output, &err))
        return EXIT_OK;
    cli_error(&err);
    return EXIT_INTERNAL;
}

#define OUTPUT(member) offsetof(struct output_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR, "output", 'o', "FILE", "write the schema to this file instead of to standard output", OUTPUT(output)},
    {0},
};
/* clang-format on */

const struct command cmd_schema = {
    .name = "schema",
    .summary = "Print a JSON Schema of manifests and test files, for editors",
    .details =
        "Editors that know JSON Schema complete the members of manifests and mark mistakes while "
        "they are made. The first line of a YAML file names the schema for the YAML language "
        "server, which most editors use: # yaml-language-server: $schema=./" EDITOR_SCHEMA_FILE
        ". 'jobflow init --schema' writes such files.\n\n"
        "'jobflow validate' finds more than a schema can, for example cycles and names that do "
        "not exist.",
    .examples = "jobflow schema -o " EDITOR_SCHEMA_FILE "   # beside the manifests\n",
    .flags = flags,
    .options_size = sizeof(struct output_options),
    .run = run_schema,
};
