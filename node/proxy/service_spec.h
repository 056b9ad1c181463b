#pragma once
/*
 * The spec of a Service, decoded for the proxy and for endpoints.
 */
#include <jansson.h>
#include <stdint.h>

#include "api/types/object.h"

struct service_port {
    const char *name;     /* NULL = none */
    const char *protocol; /* NULL or "" = TCP */
    enum service_transport {
        SERVICE_TCP,
        SERVICE_UDP,
        SERVICE_OTHER
    } transport;             /* of `protocol` */
    uint16_t port;           /* of the Service */
    uint16_t target;         /* of its pods; 0 = named */
    const char *target_name; /* name of the pods' port */
};

struct service_spec {
    json_t *body;     /* owned; the texts are borrowed from it */
    json_t *selector; /* strings */
    const char *job;  /* the job that the selector names; NULL = none */
    const char *cluster_ip;
    bool with_unready;
    struct service_port *ports; /* [n_ports], TCP and UDP; owned */
    size_t n_ports;
    const char
        *other_port; /* protocol of a port that is neither TCP nor UDP; NULL = there is none */
};

/** "TCP" or "UDP". */
const char *service_transport_text(enum service_transport transport);

void service_spec_read(const struct object *service, struct service_spec *out);
void service_spec_release(struct service_spec *spec);

/** Read an entry of spec.ports, of any protocol. False when it has no port number. Texts are
 * borrowed from `from`. */
bool service_port_read(const json_t *from, struct service_port *out);
bool service_spec_is_headless(const struct service_spec *spec);
/** Does it get an address of its own? */
bool service_spec_wants_address(const struct service_spec *spec);
/** Does a non-empty selector match the labels of the pod? */
bool service_selector_selects(json_t *selector, const struct meta *pod);
bool service_spec_selects(const struct service_spec *spec, const struct meta *pod);
/** The number of this port in the pod; 0 = the pod has none of that name. */
uint16_t service_port_of(const struct service_port *port, const struct object *pod);
