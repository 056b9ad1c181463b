#pragma once
/*
 * The CustomResourceDefinition of a kind, generated from its field tables. Ref: spec/cluster.md 5.1.
 */
#include <jansson.h>

#include "api/types/kind.h"

enum crd_form {
    CRD_SERVED, /* as this program's own API server serves it: the whole schema */
    /* For another cluster: small, open where newer fields may come, and no narrower than Volcano's
     * own definition, so that every object that is stored there can still be written. */
    CRD_CLUSTER,
};

/* The annotation of a definition for a cluster with the number of its revision. The number grows
 * when controllers need something that the definition before did not have. */
#define CRD_ANNOTATION_REVISION "jobflow.dev/schema-revision"
enum { CRD_REVISION = 1 };

/** The definition of a kind as a document; owned. The same kind and form give the same document. */
json_t *crd_document(const struct kind *kind, enum crd_form form);
