/*
 * Bounds: PAGES_CONNECTIONS connections, a head of HEAD_MAX bytes, TIME_LIMIT_MS for a request and
 * its answer. A connection above the bound, and one that breaks the others, is closed without an
 * answer.
 */
#include "cli/controller/pages.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/log.h"
#include "base/loop/metrics.h"
#include "base/mem.h"

enum {
    PAGES_CONNECTIONS = 64,
    HEAD_MAX = 8192,
    TIME_LIMIT_MS = 5000,
    BACKLOG = 64,
    PORT_MAX = 65535
};
enum { PORTS_MAX = 2, PIECE = 2048 };

struct conn {
    uv_tcp_t tcp;
    struct pages *pages;
    enum page_set set;
    struct timer deadline;
    char piece[PIECE];
    struct buf in, out;
    uv_write_t write;
    bool closing;
    LIST_ENTRY(conn) all;
};

struct port {
    uv_tcp_t tcp;
    struct pages *pages;
    enum page_set set;
};

struct pages {
    struct loop *loop;
    struct pages_options options;
    struct port *ports[PORTS_MAX]; /* the ports, [n_ports] */
    size_t n_ports, n_connections;
    LIST_HEAD(, conn) connections;
};

static bool parse(const char *text, struct sockaddr_storage *out, struct error *err)
{
    const char *colon = strrchr(text, ':');
    char host[INET6_ADDRSTRLEN + 2] = "::", *end = NULL;
    size_t len = colon ? (size_t)(colon - text) : 0;
    long port = colon ? strtol(colon + 1, &end, 10) : -1;

    if (end && !*end && end != colon + 1 && port >= 0 && port <= PORT_MAX && len < sizeof host) {
        if (len > 2 && text[0] == '[' && text[len - 1] == ']')
            snprintf(host, sizeof host, "%.*s", (int)len - 2, text + 1);
        else if (len > 0)
            snprintf(host, sizeof host, "%.*s", (int)len, text);
        if (uv_ip4_addr(host, (int)port, (struct sockaddr_in *)out) == 0 ||
            uv_ip6_addr(host, (int)port, (struct sockaddr_in6 *)out) == 0)
            return true;
    }
    return error_set(err, ERR_INVALID, "",
                     "\"%s\" is not ADDRESS:PORT, like 127.0.0.1:8080 or :8080", text);
}

bool pages_check_address(const char *text, struct error *err)
{
    struct sockaddr_storage where;

    return strcmp(text, "none") == 0 || parse(text, &where, err);
}

static void on_conn_closed(uv_handle_t *handle)
{
    struct conn *conn = handle->data;

    buf_release(&conn->in);
    buf_release(&conn->out);
    mem_free(conn);
}

static void close_conn(struct conn *conn)
{
    if (conn->closing)
        return;
    conn->closing = true;
    timer_stop(conn->pages->loop, &conn->deadline);
    LIST_REMOVE(conn, all);
    conn->pages->n_connections--;
    uv_close((uv_handle_t *)&conn->tcp, on_conn_closed);
}

static void on_deadline(struct timer *timer)
{
    close_conn(container_of(timer, struct conn, deadline));
}

static void on_written(uv_write_t *write, int status)
{
    close_conn(write->data);
}

static void answer(struct conn *conn, const char *status, const char *type, const struct buf *body)
{
    uv_buf_t bytes;

    buf_printf(&conn->out,
               "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
               "Cache-Control: no-store\r\n\r\n",
               status, type, body->len);
    buf_add(&conn->out, body->data, body->len);
    bytes = uv_buf_init(conn->out.data, (unsigned)conn->out.len);
    conn->write.data = conn;
    if (uv_write(&conn->write, (uv_stream_t *)&conn->tcp, &bytes, 1, on_written))
        close_conn(conn);
}

static void answer_text(struct conn *conn, const char *status, const char *text)
{
    scoped(buf) struct buf body = {0};

    buf_str(&body, text);
    answer(conn, status, "text/plain; charset=utf-8", &body);
}

/* The loop runs this code, so the process lives. */
static void page_live(struct conn *conn)
{
    answer_text(conn, "200 OK", "ok\n");
}

static void page_ready(struct conn *conn)
{
    scoped(buf) struct buf body = {0};
    bool ready = conn->pages->options.ready(conn->pages->options.ctx, &body);

    answer(conn, ready ? "200 OK" : "500 Internal Server Error", "text/plain; charset=utf-8",
           &body);
}

static void page_metrics(struct conn *conn)
{
    scoped(buf) struct buf body = {0};

    metrics_write(loop_metrics(conn->pages->loop), &body);
    answer(conn, "200 OK", "text/plain; version=0.0.4; charset=utf-8", &body);
}

static const struct {
    enum page_set set;
    const char *path;
    void (*page)(struct conn *conn);
} table[] = {
    {PAGES_HEALTH, "/livez", page_live},
    {PAGES_HEALTH, "/healthz", page_live},
    {PAGES_HEALTH, "/readyz", page_ready},
    {PAGES_METRICS, "/metrics", page_metrics},
};

/* Answers a request whose head is complete. */
static void serve(struct conn *conn)
{
    const char *head = conn->in.data, *path = head + strlen("GET ");
    size_t len;

    if (strncmp(head, "GET ", strlen("GET ")) != 0) {
        answer_text(conn, "405 Method Not Allowed", "only GET is served here\n");
        return;
    }
    len = strcspn(path, " ?\r\n");
    for (size_t i = 0; i < countof(table); i++)
        if (table[i].set == conn->set && strlen(table[i].path) == len &&
            strncmp(table[i].path, path, len) == 0) {
            table[i].page(conn);
            return;
        }
    answer_text(conn, "404 Not Found", "there is no such page\n");
}

static void give_room(uv_handle_t *handle, size_t wanted, uv_buf_t *out)
{
    struct conn *conn = handle->data;

    *out = uv_buf_init(conn->piece, sizeof conn->piece);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    struct conn *conn = stream->data;

    if (n == 0)
        return;
    if (n < 0 || conn->in.len + (size_t)n > HEAD_MAX) {
        close_conn(conn);
        return;
    }
    buf_add(&conn->in, bytes->base, (size_t)n);
    if (!strstr(conn->in.data, "\r\n\r\n"))
        return;
    uv_read_stop(stream);
    serve(conn);
}

static void on_connection(uv_stream_t *stream, int status)
{
    struct port *port = stream->data;
    struct pages *pages = port->pages;
    struct conn *conn;

    if (status < 0)
        return;
    conn = mem_alloc(sizeof *conn);
    conn->pages = pages;
    conn->set = port->set;
    conn->deadline.fire = on_deadline;
    conn->tcp.data = conn;
    uv_tcp_init(loop_uv(pages->loop), &conn->tcp);
    LIST_INSERT_HEAD(&pages->connections, conn, all);
    pages->n_connections++;
    timer_start(pages->loop, &conn->deadline, TIME_LIMIT_MS);
    if (uv_accept(stream, (uv_stream_t *)&conn->tcp) || pages->n_connections > PAGES_CONNECTIONS ||
        uv_read_start((uv_stream_t *)&conn->tcp, give_room, on_read))
        close_conn(conn);
}

struct pages *pages_new(struct loop *loop, const struct pages_options *options)
{
    struct pages *pages = mem_alloc(sizeof *pages);

    pages->loop = loop;
    pages->options = *options;
    LIST_INIT(&pages->connections);
    return pages;
}

static int port_of(const uv_tcp_t *tcp)
{
    struct sockaddr_storage where;
    int len = sizeof where;

    if (uv_tcp_getsockname(tcp, (struct sockaddr *)&where, &len))
        return 0;
    return ntohs(where.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&where)->sin6_port
                                             : ((struct sockaddr_in *)&where)->sin_port);
}

bool pages_listen(struct pages *pages, enum page_set set, const char *where, struct error *err)
{
    struct sockaddr_storage address;
    struct port *port;
    int result;

    if (!parse(where, &address, err))
        return false;
    port = mem_alloc(sizeof *port);
    port->pages = pages;
    port->set = set;
    port->tcp.data = port;
    uv_tcp_init(loop_uv(pages->loop), &port->tcp);
    pages->ports[pages->n_ports++] = port;
    result = uv_tcp_bind(&port->tcp, (const struct sockaddr *)&address, 0);
    if (result == 0)
        result = uv_listen((uv_stream_t *)&port->tcp, BACKLOG, on_connection);
    if (result)
        return error_set(err, ERR_UNAVAILABLE, "", "cannot listen on %s: %s", where,
                         uv_strerror(result));
    log_info("listening", kv_str("pages", set == PAGES_METRICS ? "metrics" : "health"),
             kv_int("port", port_of(&port->tcp)));
    return true;
}

static void on_port_closed(uv_handle_t *handle)
{
    mem_free(handle->data);
}

void pages_free(struct pages *pages)
{
    struct conn *conn;

    if (!pages)
        return;
    for (size_t i = 0; i < pages->n_ports; i++)
        uv_close((uv_handle_t *)&pages->ports[i]->tcp, on_port_closed);
    while ((conn = LIST_FIRST(&pages->connections)))
        close_conn(conn);
    mem_free(pages);
}
