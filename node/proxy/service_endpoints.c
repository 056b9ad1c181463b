/*
 * The endpoints of a Service are kept in a hash table by pod uid.
 */
#include "node/proxy/service_endpoints.h"

#include <arpa/inet.h>
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/collections/hash.h"
#include "base/mem.h"

#define MACHINE "127.0.0.1" /* the address of pods without one of their own */

struct endpoint {
    UT_hash_handle hh; /* links the endpoints in a hash table by uid */
    const struct object *pod;
    in_addr_t ip;
    bool ready;
};

static void drop(struct service_endpoints *endpoints, struct endpoint *endpoint)
{
    HASH_DELETE(hh, endpoints->pods, endpoint);
    object_unref((struct object *)endpoint->pod);
    mem_free(endpoint);
}

static bool pod_is_ready(const struct object *pod)
{
    const struct pod_status *status = pod_status_of(pod);

    return status->phase == POD_RUNNING && status->ready;
}

/* Returns whether the pod is an endpoint of the Service. Then `out_ip` becomes its address. */
static bool is_endpoint(const struct service_spec *spec, const struct object *pod,
                        in_addr_t *out_ip)
{
    const struct pod_status *status;
    struct in_addr ip;

    if (!service_spec_selects(spec, pod->meta) || object_deleting(pod))
        return false;
    status = pod_status_of(pod);
    if (spec->with_unready ? !status->start_ms || pod_phase_ended(status->phase)
                           : !pod_is_ready(pod))
        return false;
    if (status->pod_ip && inet_pton(AF_INET, status->pod_ip, &ip) == 1)
        *out_ip = ip.s_addr;
    else
        *out_ip = inet_addr(MACHINE);
    return true;
}

bool service_endpoints_update(struct service_endpoints *endpoints, const struct service_spec *spec,
                              const struct object *pod, bool gone)
{
    const char *uid = object_uid(pod);
    struct endpoint *endpoint;
    in_addr_t ip = 0;
    bool in = !gone && is_endpoint(spec, pod, &ip), left = false;
    bool ready = in && pod_is_ready(pod);

    HASH_FIND(hh, endpoints->pods, uid, strlen(uid), endpoint);
    if (endpoint && in && endpoint->ip == ip && endpoint->ready == ready)
        return false;
    if (endpoint) {
        drop(endpoints, endpoint);
        left = true;
    }
    if (!in)
        return left;
    endpoint = mem_alloc(sizeof *endpoint);
    endpoint->pod = object_ref(pod);
    endpoint->ip = ip;
    endpoint->ready = ready;
    uid = object_uid(endpoint->pod);
    HASH_ADD_KEYPTR(hh, endpoints->pods, uid, strlen(uid), endpoint);
    return true;
}

struct proxy_target *service_endpoints_targets(const struct service_endpoints *endpoints,
                                               const struct service_port *port, size_t *n)
{
    struct proxy_target *targets =
        mem_array(HASH_CNT(hh, endpoints->pods) + (size_t)1, sizeof *targets);

    *n = 0;
    for (const struct endpoint *endpoint = endpoints->pods; endpoint;
         endpoint = endpoint->hh.next) {
        uint16_t number = service_port_of(port, endpoint->pod);

        if (number)
            targets[(*n)++] = (struct proxy_target){endpoint->ip, number};
    }
    return targets;
}

void service_endpoints_each(const struct service_endpoints *endpoints,
                            void (*visit)(void *arg, const struct object *pod, in_addr_t ip,
                                          bool ready),
                            void *arg)
{
    for (const struct endpoint *endpoint = endpoints->pods; endpoint; endpoint = endpoint->hh.next)
        visit(arg, endpoint->pod, endpoint->ip, endpoint->ready);
}

void service_endpoints_release(struct service_endpoints *endpoints)
{
    while (endpoints->pods)
        drop(endpoints, endpoints->pods);
}
