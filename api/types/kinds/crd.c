/*
 * CustomResourceDefinition (apiextensions.k8s.io/v1): the definitions of the volcano kinds.
 *
 * All kinds are built in. Their definitions are computed from the field tables on each request
 * (api/server/schema/crd) and cannot be written.
 */
#include "api/types/kind.h"
#include "api/types/schema/schema.h"

static const struct field no_fields[] = {{0}};
static const struct schema crd_schema = {
    "CustomResourceDefinition", no_fields, .preserve_unknown = true,
    .doc = "Definition of a kind. It is read only, because all kinds are built in."};

static void refuse(const struct admission *adm, const struct object *old, const struct object *crd,
                   struct error_list *errors)
{
    error_list_add(errors, ERR_METHOD, "",
                   "the kinds are built in: leave their CustomResourceDefinitions out");
}

static const char *const short_names[] = {"crd", "crds", NULL};

const struct kind kind_crd = {
    .id = KIND_CRD,
    .group = "apiextensions.k8s.io",
    .version = "v1",
    .name = "CustomResourceDefinition",
    .plural = "customresourcedefinitions",
    .singular = "customresourcedefinition",
    .short_names = short_names,
    .built_in = true,
    .schema = &crd_schema,
    .validate = refuse,
};
