#pragma once
/*
 * Objects that tests of the API make again and again, all in namespace default, and checks of what
 * a tap was answered.
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

/* A JobFlow of one step `a`; `more` stands behind its name in metadata. */
#define API_FLOW(name, more)                                                                       \
    "{\"apiVersion\":\"flow.volcano.sh/v1alpha1\",\"kind\":\"JobFlow\",\"metadata\":{\"name\":"    \
    "\"" name "\"" more "},\"spec\":{\"flows\":[{\"name\":\"a\"}]}}"

/* Pod `p`: an init container `i` and a container `c`. */
extern const char api_pod_body[];

/** JobTemplate `a`. */
void api_make_template(struct api_fixture *fixture);
/** `labels` as they stand in JSON, without the braces. */
void api_make_config_map(struct api_fixture *fixture, const char *name, const char *labels);
