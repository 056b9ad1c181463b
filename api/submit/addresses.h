#pragma once
/*
 * Addresses of submitted jobs: an annotation of the vcjob lists where its Services are reached. Ref:
 * armada-submit.md B.4.
 */
#include "api/registry/registry.h"

#define ANNOTATION_ADDRESSES "submit.flow.volcano.sh/addresses" /* "80=127.11.0.3:80,…" */

struct submit_addresses;

/** Starts to follow the Services of the registry. */
struct submit_addresses *submit_addresses_start(struct registry *registry);
void submit_addresses_stop(struct submit_addresses *addresses); /* NULL is ignored */
