/*
 * Reads objects for tests from YAML manifests.
 */
#include "tests/support/manifest.h"
#include "tests/unit.h"

#include "api/types/admission.h"
#include "api/types/text/yaml.h"

static json_t *read_document(const char *yaml)
{
    struct error err = {0};
    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(yaml, strlen(yaml), &yaml_limits_default, &err);

    check_ok("manifest", stream != NULL, err);
    return json_incref(yaml_document(stream, 0));
}

static void check_errors(const struct error_list *errors)
{
    struct error err = {0};

    check_ok("manifest", error_list_ok(errors, &err), err);
}

struct object *manifest_raw(const char *yaml)
{
    scoped(json) json_t *doc = read_document(yaml);
    struct error_list errors = {0};
    struct object *object = object_from_json(doc, &errors);

    check_errors(&errors);
    return object;
}

static const struct object *get_queue(void *ctx, const struct kind *kind, const char *ns,
                                      const char *name)
{
    return kind == &kind_queue && strcmp(name, "default") == 0 ? ctx : NULL;
}

static void each_none(void *ctx, const struct kind *kind, const char *ns,
                      void (*visit)(void *arg, const struct object *object), void *arg)
{
}

struct object *manifest_admitted(const char *yaml)
{
    scoped(object) struct object *queue =
        manifest_raw("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: "
                     "default}, spec: {weight: 1}, status: {state: Open}}");
    const struct admission adm = {get_queue, each_none, queue, .scheduler_name = "volcano",
                                  .virtual_runtime = true};
    scoped(json) json_t *doc = read_document(yaml);
    struct error_list errors = {0};
    scoped(object) struct object *admitted =
        admission_admit(&adm, doc, NULL, UNKNOWN_ERROR, &errors);
    struct meta draft;
    scoped_str uid = NULL;

    check_errors(&errors);
    draft = *admitted->meta;
    uid = *draft.uid ? mem_strdup(draft.uid) : mem_printf("uid-%s", draft.name);
    draft.uid = uid;
    if (draft.generation == 0)
        draft.generation = 1;
    return object_with_meta(admitted, meta_new(&draft));
}
