/*
 * Generates load for an HTTP/1.1 server. Each connection sends a request, waits for the whole
 * response and repeats. With --watchers some connections only watch, while the others write changes
 * at a given rate.
 *
 *   bench_load --unix PATH | --tcp PORT [--tls] [--connections N] [--seconds S | --requests N]
 *              [--method M] [--target T] [--header H]… [--body FILE] [--first N]
 *              [--watchers N --watch T] [--rate R]
 *
 * In target and body "@N@" is replaced with the number of the request. A watcher that reads
 * `"t":"<number>"` treats it as the event of that request and records the time since each of the
 * first three moments:
 *
 *   due ──(a connection is free)──► sent ──(commit)──► acknowledged ──► seen by the watcher
 *
 * The program has one thread, so the server has the other core. It prints one JSON line: requests
 * per second, percentiles of the latency of responses (and events), CPU time of this program, and
 * the number of responses with a status other than 2xx.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "bench/times.h"

enum {
    READ_BYTES = 256 << 10,
    TAIL_BYTES = 64, /* bytes kept from the last read, so that a mark split between two reads is
                      * found */
    HEADERS_MAX = 8,
    EVENTS_MAX = 256,
};

/* The times of a change that watchers will see. */
struct moments {
    int64_t due_us, sent_us, acknowledged_us; /* times of a change; 0 = not yet */
};

struct link {
    int fd;
    SSL *ssl;
    bool watches, busy;
    struct buf out;
    size_t sent;
    int64_t due_us;
    long asked; /* index of the request within this run, from 0 */
    /* The head of the response. */
    struct buf head;
    bool has_head, chunked;
    size_t left;           /* number of bytes left of a body with a known length */
    char tail[TAIL_BYTES]; /* the last bytes read */
    size_t tail_len;
};

struct load {
    const char *unix_path, *method, *target, *watch;
    const char *headers[HEADERS_MAX];
    int n_headers, port;
    bool tls;
    long connections, watchers, requests, rate, number;
    double seconds;
    struct buf body;
    SSL_CTX *context;
    struct link *links;
    int poll;
    int64_t began_us, end_us, next_due_us;
    long asked, answered, refused;
    int last_refusal;
    uint64_t bytes;
    struct times took;
    /* Latencies of events since three moments of their change. */
    struct times since_due, since_sent, since_acknowledged;
    long first;              /* number of the first request of the
                                                             * run */
    struct moments *changes; /* changes by number of the request in this run, [cap] */
    size_t cap;
};

/* The read buffer, with space in front for the last bytes of the read before. */
static char scratch[TAIL_BYTES + READ_BYTES];

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void die(const char *what)
{
    fprintf(stderr, "bench_load: %s: %s\n", what, strerrordesc_np(errno));
    exit(1); /* NOLINT(concurrency-mt-unsafe): one thread, here and below */
}

static int open_socket(const struct load *load)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)load->port)};
    int fd = socket(load->unix_path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (load->unix_path)
        snprintf(un.sun_path, sizeof un.sun_path, "%s", load->unix_path);
    if (fd < 0 || (load->unix_path ? connect(fd, (const struct sockaddr *)&un, sizeof un)
                                   : connect(fd, (const struct sockaddr *)&in, sizeof in)) < 0)
        die("connect");
    if (!load->unix_path)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* Opens a connection. TLS handshakes are done one after the other, before the measurement starts.
 */
static void open_link(struct load *load, struct link *link)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = link};

    link->fd = open_socket(load);
    if (load->tls) {
        link->ssl = SSL_new(load->context);
        SSL_set_fd(link->ssl, link->fd);
        if (SSL_connect(link->ssl) != 1)
            die("handshake");
    }
    fcntl(link->fd, F_SETFL, O_NONBLOCK);
    epoll_ctl(load->poll, EPOLL_CTL_ADD, link->fd, &event);
}

static ssize_t link_read(const struct link *link, char *to, size_t len)
{
    int n;

    if (!link->ssl)
        return read(link->fd, to, len);
    n = SSL_read(link->ssl, to, (int)len);
    if (n <= 0 && SSL_get_error(link->ssl, n) == SSL_ERROR_WANT_READ) {
        errno = EAGAIN;
        return -1;
    }
    return n;
}

static void link_flush(const struct load *load, struct link *link)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = link};

    while (link->sent < link->out.len) {
        const char *from = link->out.data + link->sent;
        size_t len = link->out.len - link->sent;
        ssize_t n = link->ssl ? SSL_write(link->ssl, from, (int)len) : write(link->fd, from, len);

        if (n <= 0) {
            event.events |= EPOLLOUT;
            break;
        }
        link->sent += (size_t)n;
    }
    epoll_ctl(load->poll, EPOLL_CTL_MOD, link->fd, &event);
}

/* Appends the text with each "@N@" replaced with the number of the request. */

static void add_with_marks(const struct load *load, const char *text, size_t len, struct buf *out)
{
    const char *end = text + len, *at;

    while ((at = memchr(text, '@', (size_t)(end - text)))) {
        bool number = end - at >= 3 && memcmp(at, "@N@", 3) == 0;

        buf_add(out, text, (size_t)(at - text));
        if (number)
            buf_printf(out, "%ld", load->number);
        else
            buf_char(out, '@');
        text = at + (number ? 3 : 1);
    }
    buf_add(out, text, (size_t)(end - text));
}

static void ask(struct load *load, struct link *link, const char *method, const char *target,
                const struct buf *body)
{
    scoped(buf) struct buf text = {0};

    add_with_marks(load, body->data ? body->data : "", body->len, &text);
    buf_clear(&link->out);
    buf_printf(&link->out, "%s ", method);
    add_with_marks(load, target, strlen(target), &link->out);
    buf_str(&link->out, " HTTP/1.1\r\nHost: localhost\r\n");
    for (int i = 0; i < load->n_headers; i++)
        buf_printf(&link->out, "%s\r\n", load->headers[i]);
    if (text.len)
        buf_printf(&link->out, "Content-Length: %zu\r\n", text.len);
    buf_str(&link->out, "\r\n");
    buf_add(&link->out, text.data, text.len);
    link->sent = 0;
    link->busy = true;
    link->has_head = false;
    link->tail_len = 0;
    buf_clear(&link->head);
    link_flush(load, link);
}

static bool is_over(const struct load *load)
{
    return load->requests ? load->asked >= load->requests : now_us() >= load->end_us;
}

static struct moments *change_of(struct load *load, long asked)
{
    mem_grow(load->changes, (size_t)asked, load->cap);
    return &load->changes[asked];
}

/* Sends the next request, if there is one and it is due. */
static void ask_next(struct load *load, struct link *link)
{
    int64_t now = now_us();

    if (link->busy || is_over(load) || (load->rate && load->next_due_us > now))
        return;
    link->due_us = load->rate ? load->next_due_us : now;
    if (load->rate)
        load->next_due_us += 1000000 / load->rate;
    link->asked = load->asked;
    if (load->watchers)
        *change_of(load, load->asked) = (struct moments){.due_us = link->due_us, .sent_us = now};
    load->number++;
    load->asked++;
    ask(load, link, load->method, load->target, &load->body);
}

/* Handles the end of a response. */

static void take_end(struct load *load, struct link *link)
{
    int status = link->head.len > 12 ? (int)strtol(link->head.data + 9, NULL, 10) : 0;

    if (!link->busy) {
        fprintf(stderr, "bench_load: an answer (%d) before a question\n", status);
        exit(1); /* NOLINT(concurrency-mt-unsafe) */
    }
    link->busy = false;
    load->answered++;
    if (status / 100 != 2) {
        load->refused++;
        load->last_refusal = status;
    }
    if (load->watchers)
        load->changes[link->asked].acknowledged_us = now_us();
    times_add(&load->took, now_us() - link->due_us);
    ask_next(load, link);
}

static bool take_head(struct link *link, const char **bytes, size_t *len)
{
    size_t before = link->head.len;
    const char *end, *length;

    buf_add(&link->head, *bytes, *len);
    end = memmem(link->head.data, link->head.len, "\r\n\r\n", 4);
    if (!end)
        return false;
    link->has_head = true;
    *bytes += (size_t)(end + 4 - link->head.data) - before;
    *len = link->head.len - (size_t)(end + 4 - link->head.data);
    link->head.len = (size_t)(end - link->head.data);
    link->head.data[link->head.len] = '\0';
    length = strcasestr(link->head.data, "content-length:");
    link->chunked = !length;
    link->left = length ? strtoul(length + 15, NULL, 10) : 0;
    return true;
}

/* Copies the stream's last bytes in front of `bytes`, which lie in `scratch`, and returns where
 * they begin. */
static const char *with_tail(const struct link *link, const char *bytes)
{
    char *from = scratch + (bytes - scratch) - link->tail_len;

    memcpy(from, link->tail, link->tail_len);
    return from;
}

static void keep_tail(struct link *link, const char *from, const char *end)
{
    size_t len = (size_t)(end - from);

    link->tail_len = len < TAIL_BYTES ? len : TAIL_BYTES;
    memcpy(link->tail, end - link->tail_len, link->tail_len);
}

/* Records an event. It may be read before the response to its request; the latency since the
 * response is then 0. */
static void take_event(struct load *load, long number, int64_t now)
{
    const struct moments *change;

    number -= load->first;
    if (number < 1 || number > load->asked)
        return; /* the event belongs to an earlier run */
    change = &load->changes[number - 1];
    times_add(&load->since_due, now - change->due_us);
    times_add(&load->since_sent, now - change->sent_us);
    times_add(&load->since_acknowledged,
              change->acknowledged_us ? now - change->acknowledged_us : 0);
}

static void take_events(struct load *load, struct link *link, const char *bytes, size_t len)
{
    static const char mark[] = "\"t\":\"";
    const char *from = with_tail(link, bytes), *end = bytes + len, *at, *stop;
    int64_t now = now_us();

    while ((at = memmem(from, (size_t)(end - from), mark, sizeof mark - 1)) &&
           (stop = memchr(at + sizeof mark - 1, '"', (size_t)(end - at) - sizeof mark + 1))) {
        take_event(load, strtol(at + sizeof mark - 1, NULL, 10), now);
        from = stop;
    }
    keep_tail(link, from, end);
}

static void take_bytes(struct load *load, struct link *link, const char *bytes, size_t len)
{
    const char *all;

    load->bytes += len;
    if (!link->has_head && !take_head(link, &bytes, &len))
        return;
    if (link->watches) {
        take_events(load, link, bytes, len);
    } else if (!link->chunked) {
        link->left -= len < link->left ? len : link->left;
        if (link->left == 0)
            take_end(load, link);
    } else {
        all = with_tail(link, bytes);
        keep_tail(link, all, bytes + len);
        if (link->tail_len >= 5 && memcmp(link->tail + link->tail_len - 5, "0\r\n\r\n", 5) == 0)
            take_end(load, link);
    }
}

static void on_ready(struct load *load, struct link *link, uint32_t events)
{
    char *bytes = scratch + TAIL_BYTES;
    ssize_t n;

    if (events & EPOLLOUT)
        link_flush(load, link);
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        return;
    while ((n = link_read(link, bytes, READ_BYTES)) > 0) {
        take_bytes(load, link, bytes, (size_t)n);
        if (!link->ssl)
            return;
    }
    if (n == 0 || errno != EAGAIN) {
        fprintf(stderr, "bench_load: the server has closed a connection\n");
        exit(1); /* NOLINT(concurrency-mt-unsafe) */
    }
}

/* Waits for readable and writable connections, and handles them. */

static void poll_once(struct load *load)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(load->poll, events, EVENTS_MAX, 1);

    for (int i = 0; i < n; i++)
        on_ready(load, events[i].data.ptr, events[i].events);
}

static bool all_watch(const struct load *load)
{
    for (long i = 0; i < load->watchers; i++)
        if (!load->links[i].has_head)
            return false;
    return true;
}

static void run(struct load *load)
{
    long all = load->watchers + load->connections;
    const struct buf none = {0};

    load->links = mem_alloc((size_t)all * sizeof *load->links);
    for (long i = 0; i < all; i++) {
        load->links[i].watches = i < load->watchers;
        open_link(load, &load->links[i]);
        if (i < load->watchers)
            ask(load, &load->links[i], "GET", load->watch, &none);
    }
    while (!all_watch(load))
        poll_once(load);
    load->began_us = load->next_due_us = now_us();
    load->end_us = load->began_us + (int64_t)(load->seconds * 1e6);
    while (!is_over(load) || load->answered < load->asked) {
        for (long i = load->watchers; i < all && (load->rate || load->asked < load->connections);
             i++)
            ask_next(load, &load->links[i]);
        poll_once(load);
    }
    load->end_us = now_us();
    /* Wait for events that have not reached all watchers. */
    while (load->watchers &&
           load->since_due.n < (uint64_t)load->answered * (uint64_t)load->watchers &&
           now_us() < load->end_us + 5000000)
        poll_once(load);
}

static double own_cpu_s(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void report_events(const char *name, const struct times *times)
{
    printf(",\"%s\":{\"p50ms\":%.3f,\"p99ms\":%.3f,\"p100ms\":%.3f}", name, times_ms(times, 0.5),
           times_ms(times, 0.99), times_ms(times, 0.999999));
}

static void report(const struct load *load)
{
    double took_s = (double)(load->end_us - load->began_us) / 1e6;

    printf("{\"requests\":%ld,\"seconds\":%.3f,\"perSecond\":%.1f,\"p50ms\":%.3f,\"p99ms\":%.3f,"
           "\"refused\":%ld,\"lastRefusal\":%d,\"bytes\":%llu,\"cpuSeconds\":%.3f",
           load->answered, took_s, (double)load->answered / took_s, times_ms(&load->took, 0.5),
           times_ms(&load->took, 0.99), load->refused, load->last_refusal,
           (unsigned long long)load->bytes, own_cpu_s());
    if (load->watchers) {
        printf(",\"events\":%llu,\"wanted\":%llu", (unsigned long long)load->since_due.n,
               (unsigned long long)load->answered * (unsigned long long)load->watchers);
        report_events("sinceDue", &load->since_due);
        report_events("sinceSent", &load->since_sent);
        report_events("sinceAcknowledged", &load->since_acknowledged);
    }
    printf("}\n");
}

static void take_option(struct load *load, int option, const char *value)
{
    switch (option) {
    case 'u':
        load->unix_path = value;
        break;
    case 'p':
        load->port = (int)strtol(value, NULL, 10);
        break;
    case 's':
        load->tls = true;
        break;
    case 'c':
        load->connections = strtol(value, NULL, 10);
        break;
    case 'd':
        load->seconds = strtod(value, NULL);
        break;
    case 'n':
        load->requests = strtol(value, NULL, 10);
        break;
    case 'm':
        load->method = value;
        break;
    case 't':
        load->target = value;
        break;
    case 'w':
        load->watchers = strtol(value, NULL, 10);
        break;
    case 'W':
        load->watch = value;
        break;
    case 'r':
        load->rate = strtol(value, NULL, 10);
        break;
    case 'f':
        load->number = strtol(value, NULL, 10);
        break;
    case 'h':
        if (load->n_headers < HEADERS_MAX)
            load->headers[load->n_headers++] = value;
        break;
    case 'b':
        if (!file_read(value, 64 << 20, &load->body, NULL))
            die(value);
        break;
    default:
        exit(2); /* NOLINT(concurrency-mt-unsafe) */
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"unix", 1, NULL, 'u'},        {"tcp", 1, NULL, 'p'},     {"tls", 0, NULL, 's'},
        {"connections", 1, NULL, 'c'}, {"seconds", 1, NULL, 'd'}, {"requests", 1, NULL, 'n'},
        {"method", 1, NULL, 'm'},      {"target", 1, NULL, 't'},  {"watchers", 1, NULL, 'w'},
        {"watch", 1, NULL, 'W'},       {"rate", 1, NULL, 'r'},    {"header", 1, NULL, 'h'},
        {"body", 1, NULL, 'b'},        {"first", 1, NULL, 'f'},   {0},
    };
    struct load load = {.method = "GET", .target = "/version", .connections = 1, .seconds = 3};
    struct rlimit files;
    int option;

    /* NOLINTNEXTLINE(concurrency-mt-unsafe) */
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        take_option(&load, option, optarg);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    load.context = load.tls ? SSL_CTX_new(TLS_client_method()) : NULL;
    load.poll = epoll_create1(EPOLL_CLOEXEC);
    load.first = load.number;
    run(&load);
    report(&load);
    return load.refused > 0;
}
