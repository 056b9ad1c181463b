/*
 * Checks the files as `validate` does, with images that may have commands of their own, and writes
 * them out for the target.
 */
#include "cli/cmd/file/convert_upstream.h"

#include "cli/manifest/parameters.h"
#include "cli/preflight/preflight.h"
#include "cli/target/conversion.h"

int convert_upstream(const struct convert_upstream_options *options, int n_files, char **files,
                     json_t *out)
{
    const char *ns = options->namespace ? options->namespace : "default";
    const struct preflight_options check = {.namespace = ns, .sim = true};
    scoped(manifests) struct manifests set = {0};
    scoped(manifest_docs) struct manifest_docs docs = {0};
    struct preflight_result checked = {0};
    struct conversion_result result = {0};

    if (!manifests_load(&set, n_files, files) || !parameters_set(&set, &options->parameters))
        return EXIT_REFUSED;
    manifest_docs_copy(&set, &docs);
    if (!preflight(&set, &check, &checked))
        return EXIT_REFUSED;

    const struct conversion_request request = {
        .set = &set,
        .docs = docs.items,
        .target = target_find(options->target ? options->target : TARGET_DEFAULT),
        .namespace = ns,
    };

    if (!conversion_run(&request, &result))
        return EXIT_REFUSED;
    json_array_extend(out, result.documents);
    json_decref(result.documents);
    return EXIT_OK;
}
