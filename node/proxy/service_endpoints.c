/*
 * The pods behind a Service. See service_endpoints.h.
 */
#include "node/proxy/service_endpoints.h"

#include <arpa/inet.h>
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/hash.h"
#include "base/mem.h"

#define MACHINE "127.0.0.1" /* where a pod without an address of its own listens */

struct member {
    UT_hash_handle hh; /* by uid */
    const struct object *pod;
    in_addr_t ip;
    bool ready;
};

static void drop(struct service_endpoints *members, struct member *member)
{
    HASH_DELETE(hh, members->pods, member);
    object_unref((struct object *)member->pod);
    mem_free(member);
}

static bool pod_is_ready(const struct object *pod)
{
    const struct pod_status *status = pod_status_of(pod);

    return status->phase == POD_RUNNING && status->ready;
}

/* Can it be reached, and is it meant to be? */
static bool is_behind(const struct service_spec *spec, const struct object *pod, in_addr_t *out_ip)
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

bool service_endpoints_update(struct service_endpoints *members, const struct service_spec *spec,
                              const struct object *pod, bool gone)
{
    const char *uid = object_uid(pod);
    struct member *member;
    in_addr_t ip = 0;
    bool in = !gone && is_behind(spec, pod, &ip), left = false;
    bool ready = in && pod_is_ready(pod);

    HASH_FIND(hh, members->pods, uid, strlen(uid), member);
    if (member && in && member->ip == ip && member->ready == ready)
        return false;
    if (member) {
        drop(members, member);
        left = true;
    }
    if (!in)
        return left;
    member = mem_alloc(sizeof *member);
    member->pod = object_ref(pod);
    member->ip = ip;
    member->ready = ready;
    uid = object_uid(member->pod);
    HASH_ADD_KEYPTR(hh, members->pods, uid, strlen(uid), member);
    return true;
}

struct proxy_target *service_endpoints_targets(const struct service_endpoints *members,
                                               const struct service_port *port, size_t *n)
{
    struct proxy_target *targets =
        mem_array(HASH_CNT(hh, members->pods) + (size_t)1, sizeof *targets);

    *n = 0;
    for (const struct member *member = members->pods; member; member = member->hh.next) {
        uint16_t number = service_port_of(port, member->pod);

        if (number)
            targets[(*n)++] = (struct proxy_target){member->ip, number};
    }
    return targets;
}

void service_endpoints_each(const struct service_endpoints *members,
                            void (*visit)(void *arg, const struct object *pod, in_addr_t ip,
                                          bool ready),
                            void *arg)
{
    for (const struct member *member = members->pods; member; member = member->hh.next)
        visit(arg, member->pod, member->ip, member->ready);
}

void service_endpoints_release(struct service_endpoints *members)
{
    while (members->pods)
        drop(members, members->pods);
}
