/*
 * Prints the API reference as Markdown from the field tables.
 */
#include <stdio.h>

#include "api/types/kind.h"
#include "api/types/schema/schema.h"
#include "cli/command/command.h"
#include "cli/flowtest/file.h"

/* The kinds that users write manifests of. Kubernetes documents the core kinds. */
static const struct kind *const described[] = {
    &kind_job_flow,     &kind_job_template, &kind_job,       &kind_cron_job,
    &kind_flow_trigger, &kind_command,      &kind_pod_group, &kind_queue,
};

void command_reference(FILE *out)
{
    enum { DOC_MAX = 160 };
    struct field rows[countof(described) + 2] = {0};
    char docs[countof(described)][DOC_MAX];
    const struct schema index = {.name = "Kinds", .fields = rows};
    scoped(buf) struct buf text = {0};

    for (size_t i = 0; i < countof(described); i++) {
        const struct kind *kind = described[i];

        snprintf(docs[i], DOC_MAX, "`apiVersion: %s`; `jobflow get %s`%s%s%s.",
                 kind_api_version(kind), kind->plural, kind->short_names ? " or `" : "",
                 kind->short_names ? kind->short_names[0] : "", kind->short_names ? "`" : "");
        rows[i] = (struct field){.name = kind->name,
                                 .type = FIELD_OBJECT,
                                 .offset = FIELD_PASS,
                                 .of = kind->schema,
                                 .doc = docs[i]};
    }
    rows[countof(described)] = (struct field){.name = "TestFile",
                                              .type = FIELD_OBJECT,
                                              .offset = FIELD_PASS,
                                              .of = &test_file_schema,
                                              .doc = "a file for `jobflow test`."};
    schema_markdown(&index, "API reference", &text);
    fputs("<!-- Made by `jobflow help reference` from the field tables that admission checks by. "
          "-->\n\n",
          out);
    fwrite(text.data, 1, text.len, out);
}
