/*
 * Event (v1): what happened to an object, for people.
 *
 * Ref: k8s.io/api core/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const struct field event_source_fields[] = {
    {"component", FIELD_STR, FIELD_PASS, .doc = "Component from which the event is generated."},
    {"host",      FIELD_STR, FIELD_PASS, .doc = "Node name on which the event is generated."},
    {0},
};
static const struct schema event_source_schema = {"EventSource", event_source_fields};

static const struct field event_series_fields[] = {
    {"count",            FIELD_I32,  FIELD_PASS, NOT_NEGATIVE,
     .doc = "Number of occurrences in this series up to the last heartbeat time."},
    {"lastObservedTime", FIELD_TIME, FIELD_PASS, .doc = "Time of the last occurrence observed."},
    {0},
};
static const struct schema event_series_schema = {"EventSeries", event_series_fields};

static const struct field event_fields[] = {
    {"involvedObject",     FIELD_OBJECT, FIELD_PASS, &object_reference_schema,
     .doc = "The object that this event is about."},
    {"reason",             FIELD_STR,    FIELD_PASS,
     .doc = "This should be a short, machine understandable string that gives the reason for the transition into the "
            "object's current status."},
    {"message",            FIELD_STR,    FIELD_PASS,
     .doc = "A human-readable description of the status of this operation."},
    {"source",             FIELD_OBJECT, FIELD_PASS, &event_source_schema,
     .doc = "The component reporting this event."},
    {"firstTimestamp",     FIELD_TIME,   FIELD_PASS, .doc = "The time at which the event was first recorded."},
    {"lastTimestamp",      FIELD_TIME,   FIELD_PASS,
     .doc = "The time at which the most recent occurrence of this event was recorded."},
    {"count",              FIELD_I32,    FIELD_PASS, NOT_NEGATIVE,
     .doc = "The number of times this event has occurred."},
    {"type",               FIELD_STR,    FIELD_PASS,
     .doc = "Type of this event (Normal, Warning), new types could be added in the future."},
    {"eventTime",          FIELD_TIME,   FIELD_PASS, .doc = "Time when this Event was first observed."},
    {"series",             FIELD_OBJECT, FIELD_PASS, &event_series_schema,
     .doc = "Data about the Event series this event represents or nil if it's a singleton Event."},
    {"action",             FIELD_STR,    FIELD_PASS,
     .doc = "What action was taken/failed regarding to the Regarding object."},
    {"related",            FIELD_OBJECT, FIELD_PASS, &object_reference_schema,
     .doc = "Optional secondary object for more complex actions."},
    {"reportingComponent", FIELD_STR,    FIELD_PASS,
     .doc = "Name of the controller that emitted this Event, e.g. `kubernetes.io/kubelet`."},
    {"reportingInstance",  FIELD_STR,    FIELD_PASS, .doc = "ID of the controller instance, e.g. `kubelet-xyzf`."},
    {0},
};
static const struct schema event_schema = {"Event", event_fields, .doc = "What happened to an object, for people."};
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
