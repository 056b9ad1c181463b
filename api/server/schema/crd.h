#pragma once
/*
 * CustomResourceDefinitions of the volcano kinds, made from the tables of kinds and fields, so that
 * a client which looks for them finds what is served, and a cluster can be given the same kinds:
 * `kubectl get crd -o yaml | kubectl --context cluster apply -f -`.
 *
 * They live in a store in memory, made when first asked for: list, watch and selectors work on it
 * as on any other.
 */
#include "api/server/rest/internal.h"

/** Borrowed as long as the API lives. */
struct store *crd_store(struct api *api);

/** One definition as a document; owned. Pure. */
json_t *crd_document(const struct kind *kind);
