#pragma once
/*
 * CustomResourceDefinitions of the volcano.sh kinds, generated from the tables of kinds and fields.
 * Clients that look for a CRD find it, and another cluster can get the same kinds:
 * `kubectl get crd -o yaml | kubectl --context cluster apply -f -`.
 *
 * They are kept in a store in memory, which is filled at the first request, so that get, list,
 * watch and selectors work as for any kind.
 */
#include "api/server/rest/internal.h"

/** Returns the store of the definitions; borrowed, valid until api_free. */
struct store *crd_store(struct api *api);
