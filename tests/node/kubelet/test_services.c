/*
 * Tests node/kubelet/services.c: addresses of Services and their endpoints, with a scripted runtime
 * and real connections.
 */
#include "tests/unit.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "node/machine/sockaddr_rules.h"
#include "tests/support/node_fixture.h"

enum { WAIT_MS = 20000 };

static const struct kubelet_options options = {
    .node_name = "here",
    .capacity = {.cpu_milli = 4000, .memory_bytes = 1 << 30, .pods = 8},
    .intents_ahead = 8,
    .volumes = {.data_dir = "/data"},
    .lock_addresses = true,
    .service_addresses = true,
};

static struct node_fixture *set_up(void)
{
    struct node_fixture *fixture = node_fixture_new();

    node_fixture_start_kubelet(fixture, &options);
    return fixture;
}

/* Creates a pod with the label "app". `container` has further members of its container. */
static void pod(struct node_fixture *fixture, const char *name, const char *app,
                const char *container)
{
    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default',"
        "'labels':{'app':'%s'}},'spec':{'nodeName':'here','restartPolicy':'Never',"
        "'containers':[{'name':'c','image':'i','command':['serve']%s}]}}",
        name, app, container);
    node_fixture_settle(fixture);
}

static void service(struct node_fixture *fixture, const char *name, const char *ports,
                    const char *more)
{
    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Service','metadata':{'name':'%s','namespace':'default'},"
        "'spec':{'selector':{'app':'web'},'ports':[%s]%s}}",
        name, ports, more);
    node_fixture_settle(fixture);
}

static const char *cluster_ip(struct node_fixture *fixture, const char *name)
{
    static char text[64];
    scoped(json) json_t *body = object_body_json(node_fixture_get(fixture, &kind_service, name));
    const char *ip = json_string_value(json_object_get(json_object_get(body, "spec"), "clusterIP"));

    snprintf(text, sizeof text, "%s", ip ? ip : "");
    return text;
}

static struct sockaddr_in address_of(const char *ip, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

    check_int(ip, inet_pton(AF_INET, ip, &address.sin_addr), 1);
    return address;
}

/* Listens at the pod's address in place of its program. */
static int listener(const char *ip, uint16_t port)
{
    struct sockaddr_in address = address_of(ip, port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    check(ip, bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 8) == 0);
    return fd;
}

/* Connects to the Service until the connection arrives at the listener. Before the proxy knows the
 * new target, connections are refused, or reset by the old one. */
static void check_leads(const char *what, const char *ip, uint16_t port, int to)
{
    struct sockaddr_in address = address_of(ip, port);
    bool there = false;

    while (!there) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct pollfd ready[] = {{to, POLLIN, 0}, {fd, POLLIN, 0}};

        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
            check(what, poll(ready, 2, WAIT_MS) > 0);
            there = ready[0].revents & POLLIN;
        } else {
            poll(NULL, 0, 1);
        }
        close(fd);
    }
    close(accept4(to, NULL, NULL, SOCK_CLOEXEC));
}

static bool refuses(const char *ip, uint16_t port)
{
    struct sockaddr_in address = address_of(ip, port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool refused = connect(fd, (struct sockaddr *)&address, sizeof address) != 0;

    close(fd);
    return refused;
}

/* covers: see 3.5 */
static void a_service_leads_to_the_port_its_ready_pods_listen_on(void **state)
{
    struct node_fixture *fixture = set_up();
    char ip[64];
    int fd;

    service(fixture, "web", "{'port':7080,'targetPort':28080}", "");
    snprintf(ip, sizeof ip, "%s", cluster_ip(fixture, "web"));
    check("an address beside those of pods", strncmp(ip, "127.", 4) == 0);
    pod(fixture, "p", "web", "");
    check_str("the pod is expected there", node_fixture_started(fixture, "p")->ports, "28080");
    check("and has an address, though it declares nothing",
          *node_fixture_started(fixture, "p")->ip);
    check_has("the name leads to the Service", node_fixture_started(fixture, "p")->hosts, ip);
    check("not to the pod",
          !strstr(node_fixture_started(fixture, "p")->hosts, "web.default.svc web.default web\n"
                                                             "127.1"));
    check("no pod is ready", refuses(ip, 7080));
    fd = listener(node_fixture_started(fixture, "p")->ip, 28080);
    node_fixture_report_running(fixture, "p");
    check_leads("ready", ip, 7080, fd);
    node_fixture_report_ended(fixture, "p", 0);
    while (!refuses(ip, 7080))
        poll(NULL, 0, 1);
    close(fd);
    node_fixture_free(fixture);
}

/* Checks that datagrams to the Service reach the pod. Datagrams sent before the proxy knows the
 * target are refused. */
static void check_datagrams_lead(const char *ip, uint16_t port, const char *pod_ip, uint16_t at)
{
    struct sockaddr_in to = address_of(ip, port), own = address_of(pod_ip, at);
    int pod = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int asker = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct pollfd there = {pod, POLLIN, 0}, back = {asker, POLLIN, 0};
    socklen_t size = sizeof own;
    char text[8] = {0};

    check("the pod", bind(pod, (struct sockaddr *)&own, sizeof own) == 0);
    check("the asker", connect(asker, (struct sockaddr *)&to, sizeof to) == 0);
    do
        send(asker, "ask", 3, 0);
    while (poll(&there, 1, 1) != 1);
    check_int("asked", recvfrom(pod, text, sizeof text, 0, (struct sockaddr *)&own, &size), 3);
    sendto(pod, "told", 4, 0, (struct sockaddr *)&own, size);
    while (recv(asker, text, sizeof text - 1, MSG_DONTWAIT) < 0) /* drops earlier refusals */
        check("told", poll(&back, 1, WAIT_MS) == 1);
    check_str("from the Service's address", text, "told");
    close(pod);
    close(asker);
}

static void tcp_and_udp_may_share_a_port_number(void **state)
{
    struct node_fixture *fixture = set_up();
    int fd;

    service(fixture, "web",
            "{'name':'a','port':7053,'targetPort':'dns'},"
            "{'name':'b','port':7053,'protocol':'UDP','targetPort':'dns'}",
            "");
    pod(fixture, "p", "web",
        ",'ports':[{'name':'dns','containerPort':28053},"
        "{'name':'dns','containerPort':28054,'protocol':'UDP'}]");
    fd = listener(node_fixture_started(fixture, "p")->ip, 28053);
    node_fixture_report_running(fixture, "p");
    check_leads("of TCP", cluster_ip(fixture, "web"), 7053, fd);
    check_datagrams_lead(cluster_ip(fixture, "web"), 7053, node_fixture_started(fixture, "p")->ip,
                         28054);
    node_fixture_patch(
        fixture, &kind_service, "web",
        "{'spec':{'ports':[{'name':'b','port':7053,'protocol':'UDP','targetPort':'dns'}]}}");
    node_fixture_settle(fixture);
    while (!refuses(cluster_ip(fixture, "web"), 7053))
        poll(NULL, 0, 1);
    check_datagrams_lead(cluster_ip(fixture, "web"), 7053, node_fixture_started(fixture, "p")->ip,
                         28054);
    close(fd);
    node_fixture_free(fixture);
}

static void target_ports_are_found_by_name(void **state)
{
    struct node_fixture *fixture = set_up();
    int first, second;

    service(fixture, "web",
            "{'name':'a','port':7080,'targetPort':'http'},"
            "{'name':'b','port':7081,'targetPort':'nobody'}",
            "");
    pod(fixture, "p", "web", ",'ports':[{'name':'http','containerPort':28081}]");
    pod(fixture, "q", "web", ",'ports':[{'name':'http','containerPort':28082}]");
    first = listener(node_fixture_started(fixture, "p")->ip, 28081);
    second = listener(node_fixture_started(fixture, "q")->ip, 28082);
    node_fixture_report_running(fixture, "p");
    check_leads("each pod", cluster_ip(fixture, "web"), 7080, first);
    close(first);
    node_fixture_report_ended(fixture, "p", 0);
    node_fixture_report_running(fixture, "q");
    check_leads("has its own port", cluster_ip(fixture, "web"), 7080, second);
    check("a name that no pod has", refuses(cluster_ip(fixture, "web"), 7081));
    close(second);
    node_fixture_free(fixture);
}

static void pods_get_variables_about_services(void **state)
{
    struct node_fixture *fixture = set_up();
    scoped_str host = NULL;
    scoped_str link = NULL;

    service(fixture, "web-front",
            "{'name':'http','port':7080},{'name':'adm','port':7081},"
            "{'name':'dns','port':7053,'protocol':'UDP'}",
            "");
    service(fixture, "none", "", ",'clusterIP':'None'");
    node_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'default'},"
                 "'spec':{'nodeName':'here','containers':[{'name':'c','image':'i','command':["
                 "'serve'],'args':['$(WEB_FRONT_PORT)'],'env':[{'name':"
                 "'WEB_FRONT_SERVICE_PORT_ADM','value':'mine'}]}]}}");
    node_fixture_settle(fixture);
    host = mem_printf("WEB_FRONT_SERVICE_HOST=%s;WEB_FRONT_SERVICE_PORT=7080;",
                      cluster_ip(fixture, "web-front"));
    link = mem_printf("tcp://%s:7080", cluster_ip(fixture, "web-front"));
    check_has("where it is", node_fixture_started(fixture, "p")->env, host);
    check_has("each port by name", node_fixture_started(fixture, "p")->env,
              "WEB_FRONT_SERVICE_PORT_HTTP=7080;");
    check_has("the author's own wins", node_fixture_started(fixture, "p")->env,
              "WEB_FRONT_SERVICE_PORT_ADM=mine;");
    check_has("as links", node_fixture_started(fixture, "p")->env,
              "WEB_FRONT_PORT_7081_TCP_PORT=7081;");
    check_has("and what is spoken", node_fixture_started(fixture, "p")->env,
              "WEB_FRONT_PORT_7053_UDP=udp://");
    check_has("there", node_fixture_started(fixture, "p")->env,
              "WEB_FRONT_PORT_7053_UDP_PROTO=udp;");
    check_has("in arguments", node_fixture_started(fixture, "p")->argv, link);
    check("one without an address is none",
          !strstr(node_fixture_started(fixture, "p")->env, "NONE_"));
    node_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'q','namespace':'default'},"
                 "'spec':{'nodeName':'here','enableServiceLinks':false,'containers':[{'name':"
                 "'c','image':'i','command':['serve']}]}}");
    node_fixture_settle(fixture);
    check("not wanted", !strstr(node_fixture_started(fixture, "q")->env, "WEB_FRONT"));
    node_fixture_free(fixture);
}

static void publish_not_ready_addresses_includes_unready_pods(void **state)
{
    struct node_fixture *fixture = set_up();
    int fd;

    service(fixture, "web", "{'port':7080,'targetPort':28083}", ",'publishNotReadyAddresses':true");
    pod(fixture, "p", "web", "");
    fd = listener(node_fixture_started(fixture, "p")->ip, 28083);
    check_leads("it has just been started", cluster_ip(fixture, "web"), 7080, fd);
    close(fd);
    node_fixture_free(fixture);
}

/* The pod is older than the Service, so it has no address of its own. */
static void a_later_service_leads_to_the_host_address_of_older_pods(void **state)
{
    struct node_fixture *fixture = set_up();
    uint16_t port = (uint16_t)(20000 + getpid() % 10000);
    int fd;

    pod(fixture, "p", "web", "");
    check_str("no address", node_fixture_started(fixture, "p")->ip, "");
    node_fixture_report_running(fixture, "p");
    fd = listener("127.0.0.1", port);
    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Service','metadata':{'name':'late','namespace':"
        "'default'},'spec':{'selector':{'app':'web'},'ports':[{'port':7080,'targetPort':"
        "%d}]}}",
        port);
    node_fixture_settle(fixture);
    check_leads("there", cluster_ip(fixture, "late"), 7080, fd);
    close(fd);
    node_fixture_free(fixture);
}

static void addresses_survive_restarts_and_changes(void **state)
{
    struct node_fixture *fixture = set_up();
    char first[64], second[64];

    service(fixture, "a", "{'port':7080}", "");
    service(fixture, "b", "{'port':7080}", "");
    snprintf(first, sizeof first, "%s", cluster_ip(fixture, "a"));
    snprintf(second, sizeof second, "%s", cluster_ip(fixture, "b"));
    check("one each", strcmp(first, second) != 0);
    node_fixture_patch(fixture, &kind_service, "a", "{'spec':{'ports':[{'port':7081}]}}");
    node_fixture_settle(fixture);
    check_str("another port", cluster_ip(fixture, "a"), first);
    node_fixture_patch(fixture, &kind_service, "a", "{'spec':{'clusterIP':null}}");
    node_fixture_settle(fixture);
    check_str("lost, and given again", cluster_ip(fixture, "a"), first);
    node_fixture_stop(fixture);
    node_fixture_start_kubelet(fixture, &options);
    node_fixture_settle(fixture);
    service(fixture, "c", "{'port':7080}", "");
    check_str("the next life", cluster_ip(fixture, "a"), first);
    check_str("too", cluster_ip(fixture, "b"), second);
    check("and a new one has another", strcmp(cluster_ip(fixture, "c"), first) != 0 &&
                                           strcmp(cluster_ip(fixture, "c"), second) != 0);
    node_fixture_free(fixture);
}

static void an_unavailable_address_is_replaced(void **state)
{
    struct node_fixture *fixture = set_up();

    service(fixture, "a", "{'port':7080}", ",'clusterIP':'10.96.0.10'");
    check("one of ours", strncmp(cluster_ip(fixture, "a"), "127.", 4) == 0);
    check("and an event tells", node_fixture_has_event(fixture, "ClusterIPReallocated",
                                                       "10.96.0.10 is not available on this node"));
    node_fixture_free(fixture);
}

static void some_services_get_no_address(void **state)
{
    struct node_fixture *fixture = set_up();

    service(fixture, "headless", "{'port':80}", ",'clusterIP':'None'");
    check_str("headless", cluster_ip(fixture, "headless"), "None");
    service(fixture, "outside", "{'port':80}",
            ",'type':'ExternalName','externalName':'example.org'");
    check_str("a name elsewhere", cluster_ip(fixture, "outside"), "");
    service(fixture, "sctp", "{'port':53,'protocol':'SCTP'}", "");
    check_str("nothing to hand on", cluster_ip(fixture, "sctp"), "");
    check("and an event tells", node_fixture_has_event(fixture, "ProtocolNotRelayed",
                                                       "for SCTP make the Service headless"));
    node_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'Service','metadata':{'name':'nobody','namespace':"
                 "'default'},'spec':{'ports':[{'port':80}]}}");
    node_fixture_settle(fixture);
    check_str("nobody is selected", cluster_ip(fixture, "nobody"), "");
    node_fixture_free(fixture);
}

static void a_port_in_use_is_opened_once_it_is_free(void **state)
{
    struct node_fixture *fixture = set_up();
    int other = listener("0.0.0.0", (uint16_t)(30000 + getpid() % 2000)), fd;
    uint16_t port = (uint16_t)(30000 + getpid() % 2000);

    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Service','metadata':{'name':'web','namespace':"
        "'default'},'spec':{'selector':{'app':'web'},'ports':[{'port':%d,'targetPort':"
        "28084}]}}",
        port);
    node_fixture_advance(fixture, 1000);
    check("it says so",
          node_fixture_has_event(fixture, "PortInUse", "a program of this machine listens on it"));
    pod(fixture, "p", "web", "");
    check_has("the name is the pod's", node_fixture_started(fixture, "p")->hosts,
              " web.default web\n");
    check("meanwhile",
          !strstr(node_fixture_started(fixture, "p")->hosts, cluster_ip(fixture, "web")));
    fd = listener(node_fixture_started(fixture, "p")->ip, 28084);
    node_fixture_report_running(fixture, "p");
    close(other);
    node_fixture_advance(fixture, 5000);
    check_has("now the Service's", node_fixture_started(fixture, "p")->hosts,
              cluster_ip(fixture, "web"));
    check_leads("and leads there", cluster_ip(fixture, "web"), port, fd);
    close(fd);
    node_fixture_free(fixture);
}

/* Where this user may not listen on a low port, connections are redirected to a higher one. */
static void a_low_port_is_reached_by_its_own_number(void **state)
{
    struct node_fixture *fixture = set_up();
    uint16_t port = sockaddr_low_ports_move() ? 80 + LOW_PORTS_MOVE : 80;
    int fd;

    service(fixture, "web", "{'port':80,'targetPort':28085}", "");
    pod(fixture, "p", "web", "");
    fd = listener(node_fixture_started(fixture, "p")->ip, 28085);
    node_fixture_report_running(fixture, "p");
    check_leads("there", cluster_ip(fixture, "web"), port, fd);
    close(fd);
    node_fixture_free(fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_leads_to_the_port_its_ready_pods_listen_on),
        cmocka_unit_test(tcp_and_udp_may_share_a_port_number),
        cmocka_unit_test(target_ports_are_found_by_name),
        cmocka_unit_test(pods_get_variables_about_services),
        cmocka_unit_test(publish_not_ready_addresses_includes_unready_pods),
        cmocka_unit_test(a_later_service_leads_to_the_host_address_of_older_pods),
        cmocka_unit_test(addresses_survive_restarts_and_changes),
        cmocka_unit_test(an_unavailable_address_is_replaced),
        cmocka_unit_test(some_services_get_no_address),
        cmocka_unit_test(a_port_in_use_is_opened_once_it_is_free),
        cmocka_unit_test(a_low_port_is_reached_by_its_own_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
