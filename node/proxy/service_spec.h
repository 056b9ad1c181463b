#pragma once
/*
 * What a Service asks for, read from its object.
 */
#include <jansson.h>
#include <stdint.h>

#include "api/types/object.h"

struct service_port {
    const char *name;     /* NULL = none */
    const char *protocol; /* NULL or "" = TCP */
    enum service_transport { SERVICE_TCP, SERVICE_UDP, SERVICE_OTHER } transport; /* the same */
    uint16_t port;           /* of the Service */
    uint16_t target;         /* of its pods, or 0: */
    const char *target_name; /* whatever port they call so */
};

struct service_spec {
    json_t *body;     /* owned; the texts are borrowed from it */
    json_t *selector; /* strings */
    const char *job;  /* the one job the selector names; NULL = none */
    const char *cluster_ip;
    bool with_unready;
    struct service_port *ports; /* [n_ports], TCP and UDP; owned */
    size_t n_ports;
    const char *other_port; /* the protocol of one that is neither; NULL = all are */
};

/** As it is written: "TCP", "UDP". */
const char *service_transport_text(enum service_transport transport);

void service_spec_read(const struct object *service, struct service_spec *out);
void service_spec_release(struct service_spec *spec);

/** One of spec.ports, of any protocol; false: it has no number. Borrowed. */
bool service_port_read(const json_t *from, struct service_port *out);
bool service_spec_is_headless(const struct service_spec *spec);
/** Is it to have an address of its own? */
bool service_spec_wants_address(const struct service_spec *spec);
/** A selector of labels that has one, and all of whose the pod has. */
bool service_selector_selects(json_t *selector, const struct meta *pod);
bool service_spec_selects(const struct service_spec *spec, const struct meta *pod);
/** The port of this pod that is meant; 0 = it has none. */
uint16_t service_port_of(const struct service_port *port, const struct object *pod);
