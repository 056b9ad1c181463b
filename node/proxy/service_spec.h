#pragma once
/*
 * The spec of a Service, decoded for the proxy and for endpoints.
 */
#include <jansson.h>
#include <stdint.h>

#include "api/types/object.h"

struct service_port {
    const char *name;     /* name of the port; NULL = none */
    const char *protocol; /* protocol as written; NULL or "" = TCP */
    enum service_transport {
        SERVICE_TCP,
        SERVICE_UDP,
        SERVICE_OTHER
    } transport;             /* transport that `protocol` names */
    uint16_t port;           /* port of the Service */
    uint16_t target;         /* port of the Service's pods; 0 = it is given by name */
    const char *target_name; /* name of the pods' port, if it is given by name */
};

struct service_spec {
    json_t *body;     /* body of the Service, owned; the texts are borrowed from it */
    json_t *selector; /* labels that a pod must have, with string values */
    const char *job;  /* the job that the selector names; NULL = none */
    const char *cluster_ip;
    bool with_unready;
    struct service_port *ports; /* the ports of the Service, TCP and UDP, [n_ports]; owned */
    size_t n_ports;
    const char *other_port; /* protocol of a port that is neither TCP nor UDP; NULL = there is
                             * none */
};

/** Returns "TCP" or "UDP". */
const char *service_transport_text(enum service_transport transport);

void service_spec_read(const struct object *service, struct service_spec *out);
void service_spec_release(struct service_spec *spec);

/** Reads an entry of spec.ports, of any protocol. Returns false when it has no port number. Texts
 * are borrowed from `from`. */
bool service_port_read(const json_t *from, struct service_port *out);
bool service_spec_is_headless(const struct service_spec *spec);
/** Returns whether the Service gets an address of its own. */
bool service_spec_wants_address(const struct service_spec *spec);
/** Returns whether a non-empty selector matches the labels of the pod. */
bool service_selector_selects(json_t *selector, const struct meta *pod);
bool service_spec_selects(const struct service_spec *spec, const struct meta *pod);
/** Returns the number of this Service port in the pod; 0 = the pod has no port of that name. */
uint16_t service_port_of(const struct service_port *port, const struct object *pod);
