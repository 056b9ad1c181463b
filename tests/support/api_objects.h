#pragma once
/*
 * Objects that many tests of the API create, all in namespace default, and checks of captured
 * responses.
 */
#include "tests/support/api.h"

#define check_at(capture, path, want)                                                              \
    do {                                                                                           \
        scoped_str at_ = api_capture_at((capture), (path));                                        \
        check_str((path), at_, (want));                                                            \
    } while (0)

#define check_event(capture, n, path, want)                                                        \
    do {                                                                                           \
        scoped_str event_ = api_capture_event((capture), (n), (path));                             \
        check_str((path), event_, (want));                                                         \
    } while (0)

/* The JSON of a JobFlow with one step `a`. `more` follows its name in metadata. */
#define API_FLOW(name, more)                                                                       \
    "{\"apiVersion\":\"flow.volcano.sh/v1alpha1\",\"kind\":\"JobFlow\",\"metadata\":{\"name\":"    \
    "\"" name "\"" more "},\"spec\":{\"flows\":[{\"name\":\"a\"}]}}"

/* The JSON of pod `p`, with an init container `i` and a container `c`. */
extern const char api_pod_body[];

/** Creates JobTemplate `a`. */
void api_make_template(struct api_fixture *fixture);
/** Creates a ConfigMap; `labels` are the members of a JSON object, without the braces. */
void api_make_config_map(struct api_fixture *fixture, const char *name, const char *labels);
