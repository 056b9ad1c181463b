#pragma once
/*
 * Reviews: questions by POST that are answered at once and never stored. Who am I, may I, what may
 * I. Ref: spec/kube-api.md 6.12.
 */
#include "api/server/rest/internal.h"

/** The answer to a POST of a review; NULL for other paths. */
struct api_stream *review_answer(const struct api_call *call);
