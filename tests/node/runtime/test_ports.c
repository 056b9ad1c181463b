/*
 * Tests the ports of sandboxed pods. The test program is also the server and client that run in
 * them.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/sandboxed_pods.h"

static int listen_mode(char **args)
{
    const char *family = args[0], *port = args[1], *name = args[2];
    bool v6 = strcmp(family, "6") == 0;
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6,
                                .sin6_port = htons((uint16_t)strtol(port, NULL, 10))};
    struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = any6.sin6_port};
    int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, v6 ? (struct sockaddr *)&any6 : (struct sockaddr *)&any4,
             v6 ? sizeof any6 : sizeof any4) ||
        listen(fd, 8)) {
        perror("bind");
        return 1;
    }
    getsockname(fd, (struct sockaddr *)&any4, &(socklen_t){sizeof any4});
    dprintf(STDOUT_FILENO, "port=%d\n", ntohs(any4.sin_port));
    for (;;) {
        struct sockaddr_in from = {0};
        socklen_t len = sizeof from;
        int peer = accept(fd, v6 ? NULL : (struct sockaddr *)&from, v6 ? NULL : &len);

        dprintf(peer, "%s to %s\n", name, v6 ? "-" : inet_ntoa(from.sin_addr));
        close(peer);
    }
}

/* Asks the server at an address for its name, cut to fit; "" when there is no answer. */
static void ask(const char *address, int port, char *out, size_t size)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    ssize_t n = 0, all = 0;

    inet_pton(AF_INET, address, &to.sin_addr);
    for (int i = 0; i < LIMIT_MS / 10 && !all; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
            while ((n = read(fd, out + all, size - 1 - (size_t)all)) > 0)
                all += n;
        close(fd);
        if (!all)
            usleep(10000);
    }
    out[all] = 0;
}

static int ask_mode(char **args)
{
    char text[256];

    ask(args[0], (int)strtol(args[1], NULL, 10), text, sizeof text);
    printf("%s", text);
    return !*text;
}

/* A program of a pod that answers each datagram with its name. */
static int answer_mode(char **args)
{
    struct sockaddr_in any = {.sin_family = AF_INET,
                              .sin_port = htons((uint16_t)strtol(args[0], NULL, 10))};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    if (bind(fd, (struct sockaddr *)&any, sizeof any)) {
        perror("bind");
        return 1;
    }
    for (;;) {
        struct sockaddr_in from = {0};
        socklen_t len = sizeof from;
        char text[16];

        if (recvfrom(fd, text, sizeof text, 0, (struct sockaddr *)&from, &len) == 8)
            sendto(fd, args[1], strlen(args[1]), 0, (struct sockaddr *)&from, len);
    }
}

/* A program of a pod that sends a datagram to localhost from a socket that is neither bound nor
 * connected. */
static int question_mode(char **args)
{
    const struct timeval wait = {0, 100000};
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtol(args[0], NULL, 10)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    char text[64] = "";

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    do
        if (sendto(fd, "question", 8, 0, (struct sockaddr *)&to, sizeof to) != 8)
            return 1;
    while (recv(fd, text, sizeof text - 1, 0) < 0);
    puts(text);
    return 0;
}

/* covers: see 3.3 LRT-06 */
static void datagrams_to_localhost_reach_the_own_pod(void **state)
{
    static const char *const uids[] = {"answers-a", "answers-b"};
    scoped_str port_text = mem_printf("%d", 20000 + getpid() % 10000);
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    self[n > 0 ? n : 0] = 0;
    for (int i = 0; i < 2; i++) {
        scoped_str ip = mem_printf("127.10.4.%d", 2 + i);
        struct test_pod pod = {uids[i], .ip = ip,
                               .main = {{.argv = {self, "answer", port_text, uids[i]},
                                         .port = (int)strtol(port_text, NULL, 10)},
                                        {.argv = {self, "question", port_text}}}};

        pods_start(fixture, &pod);
    }
    for (int i = 0; i < 2; i++) {
        scoped_str says = mem_printf("%s\n", uids[i]);
        scoped_str log = NULL;

        for (int tries = 0; tries < LIMIT_MS / 20 && (!log || !*log); tries++) {
            mem_free(log);
            pods_run(fixture, 20);
            log = pods_log(fixture, uids[i], "c1");
        }
        check_str("its own", log, says);
        pods_runtime(fixture)->ops->stop(pods_runtime(fixture), uids[i], 0);
        check(uids[i], pods_final(fixture, uids[i], LIMIT_MS));
        release(uids[i]);
    }
}

/* covers: local-runtime.md LRT-04 LRT-06 LRT-09 */
static void pods_that_listen_on_the_same_declared_port_each_get_their_own(void **state)
{
    static const struct {
        const char *uid, *ip, *family;
    } rows[] = {{"listen-a", "127.10.4.2", "4"},
                {"listen-b", "127.10.4.3", "4"},
                {"listen-c", "127.10.4.4", "6"}};
    int port = 20000 + getpid() % 10000; /* tests that run in parallel use different ports */
    scoped_str port_text = mem_printf("%d", port);
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    scoped_str log = NULL;

    self[n > 0 ? n : 0] = 0;
    for (size_t i = 0; i < countof(rows); i++) {
        struct test_pod pod = {
            rows[i].uid, .ip = rows[i].ip,
            .main = {
                {.argv = {self, "listen", rows[i].family, port_text, rows[i].uid}, .port = port},
                {.argv = {self, "ask", "127.0.0.1", port_text}}}};

        pods_start(fixture, &pod);
    }
    for (size_t i = 0; i < countof(rows); i++) {
        scoped_str own = NULL;
        char text[256];

        check(rows[i].uid, pods_phase(fixture, rows[i].uid, POD_RUNNING, LIMIT_MS));
        ask(rows[i].ip, port, text, sizeof text);
        check_has(rows[i].uid, text, rows[i].uid);
        for (int tries = 0; tries < LIMIT_MS / 20 && (!own || !*own); tries++) {
            mem_free(own);
            pods_run(fixture, 20);
            own = pods_log(fixture, rows[i].uid, "c1");
        }
        check_has("localhost is the own pod", own, rows[i].uid);
    }

    struct test_pod caller = {
        "caller", .ip = "127.10.4.9",
        .main = {{.argv = {self, "ask", "127.10.4.2", port_text}, .port = 1}}};

    check_int("caller", run(&caller, &log), 0);
    check_str("peers see who calls", log, "listen-a to 127.10.4.9\n");
    release("caller");
    for (size_t i = 0; i < countof(rows); i++) {
        pods_runtime(fixture)->ops->stop(pods_runtime(fixture), rows[i].uid, 0);
        check(rows[i].uid, pods_final(fixture, rows[i].uid, LIMIT_MS));
        release(rows[i].uid);
    }
}

/* covers: local-runtime.md LRT-07 */
static void a_port_the_kernel_chooses_stays_shared(void **state)
{
    char self[4096], text[256];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    int port;

    self[n > 0 ? n : 0] = 0;
    pods_start(fixture, &(struct test_pod){"chosen", .ip = "127.10.4.2",
                                           .main = {{.argv = {self, "listen", "4", "0", "chosen"},
                                                     .port = 8080}}});
    check("runs", pods_phase(fixture, "chosen", POD_RUNNING, LIMIT_MS));
    port = (int)number_in_log("chosen", "port");
    check("port", port > 0);
    ask("127.0.0.1", port, text, sizeof text);
    check_has("at the host's address", text, "chosen");
    ask("127.10.4.2", port, text, sizeof text);
    check_has("at the pod's", text, "chosen");
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "chosen", 0);
    check("ends", pods_final(fixture, "chosen", LIMIT_MS));
    release("chosen");
}

static void an_undeclared_port_that_is_taken_is_reported(void **state)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const struct pod_status *status;
    scoped_str port = NULL;
    scoped_str says = NULL;
    int number;

    self[n > 0 ? n : 0] = 0;
    pods_start(fixture, &(struct test_pod){
                            "holder", .ip = "127.10.4.2",
                            .main = {{.argv = {self, "listen", "4", "0", "holder"}, .port = 1}}});
    check("runs", pods_phase(fixture, "holder", POD_RUNNING, LIMIT_MS));
    number = (int)number_in_log("holder", "port");
    port = mem_printf("%d", number);
    says = mem_printf("port %d was in use on this machine; declare it as containerPort %d", number,
                      number);
    pods_start(fixture, &(struct test_pod){
                            "loser", .ip = "127.10.4.3",
                            .main = {{.argv = {self, "listen", "4", port, "loser"}, .port = 1}}});
    status = pods_final(fixture, "loser", LIMIT_MS);
    check("ends", status);
    check_str("reason", status->containers.items[0].reason, "PortConflict");
    check_has("why, and the way out", status->containers.items[0].message, says);
    release("loser");
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "holder", 0);
    check("ends", pods_final(fixture, "holder", LIMIT_MS));
    release("holder");
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_that_listen_on_the_same_declared_port_each_get_their_own),
        cmocka_unit_test(datagrams_to_localhost_reach_the_own_pod),
        cmocka_unit_test(a_port_the_kernel_chooses_stays_shared),
        cmocka_unit_test(an_undeclared_port_that_is_taken_is_reported),
        cmocka_unit_test(nothing_is_left_of_pods_that_were_released),
    };
    static const struct pod_program modes[] = {{"listen", listen_mode},
                                               {"ask", ask_mode},
                                               {"answer", answer_mode},
                                               {"question", question_mode},
                                               {0}};

    return sandboxed_pods_main(argc, argv, tests, countof(tests), modes);
}
