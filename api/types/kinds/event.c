/*
 * The kind Event: a report of something that happened to an object.
 *
 * Ref: k8s.io/api core/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const struct field event_source_fields[] = {
    {"component", FIELD_STR, FIELD_PASS, .pb = 1, .doc = "Component that reported the event."},
    {"host",      FIELD_STR, FIELD_PASS, .pb = 2, .doc = "Name of the Node that the event comes from."},
    {0},
};
static const struct schema event_source_schema = {"EventSource", event_source_fields};

static const struct field event_series_fields[] = {
    {"count",            FIELD_I32,  FIELD_PASS, .pb = 1, NOT_NEGATIVE,
     .doc = "Number of occurrences in the series so far."},
    {"lastObservedTime", FIELD_TIME, FIELD_PASS, .pb = 2, .pb_as = PB_MICRO_TIME, .doc = "Time of the latest occurrence in the series."},
    {0},
};
static const struct schema event_series_schema = {"EventSeries", event_series_fields};

static const struct field event_fields[] = {
    {"involvedObject",     FIELD_OBJECT, FIELD_PASS, &object_reference_schema, .pb = 2,
     .doc = "Object that the event describes."},
    {"reason",             FIELD_STR,    FIELD_PASS, .pb = 3,
     .doc = "One-word reason in CamelCase for what happened."},
    {"message",            FIELD_STR,    FIELD_PASS, .pb = 4,
     .doc = "Text that describes what happened."},
    {"source",             FIELD_OBJECT, FIELD_PASS, &event_source_schema, .pb = 5,
     .doc = "Component that reported the event."},
    {"firstTimestamp",     FIELD_TIME,   FIELD_PASS, .pb = 6, .doc = "Time when the event was first recorded."},
    {"lastTimestamp",      FIELD_TIME,   FIELD_PASS, .pb = 7,
     .doc = "Time when the event was last recorded."},
    {"count",              FIELD_I32,    FIELD_PASS, .pb = 8, NOT_NEGATIVE,
     .doc = "Number of times that the event has occurred."},
    {"type",               FIELD_STR,    FIELD_PASS, .pb = 9,
     .doc = "Type of the event: Normal or Warning."},
    {"eventTime",          FIELD_TIME,   FIELD_PASS, .pb = 10, .pb_as = PB_MICRO_TIME, .doc = "Time when the event was first observed."},
    {"series",             FIELD_OBJECT, FIELD_PASS, &event_series_schema, .pb = 11,
     .doc = "Series of occurrences that the event stands for; absent for a single event."},
    {"action",             FIELD_STR,    FIELD_PASS, .pb = 12,
     .doc = "Action that was taken on the object."},
    {"related",            FIELD_OBJECT, FIELD_PASS, &object_reference_schema, .pb = 13,
     .doc = "Second object that the action involves."},
    {"reportingComponent", FIELD_STR,    FIELD_PASS, .pb = 14, .keeps_zero = true,
     .doc = "Name of the controller that reported the event, for example kubernetes.io/kubelet."},
    {"reportingInstance",  FIELD_STR,    FIELD_PASS, .pb = 15, .keeps_zero = true, .doc = "Name of the controller's instance, for example kubelet-xyzf."},
    {0},
};
static const struct schema event_schema = {"Event", event_fields, .doc = "A report of something that happened to an object."};
/* clang-format on */

static const char *const short_names[] = {"ev", NULL};

const struct kind kind_event = {
    .id = KIND_EVENT,
    .group = "",
    .version = "v1",
    .name = "Event",
    .plural = "events",
    .singular = "event",
    .short_names = short_names,
    .namespaced = true,
    .no_generation = true,
    .few = true,
    .schema = &event_schema,
};
