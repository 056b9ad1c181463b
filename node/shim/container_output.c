/*
 * The output of a container's program is read from a pipe for both streams and written to the
 * container's log (logfile.h). The end of the output is kept where it may become the container's
 * message.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "node/shim/shim.h"

enum {
    DRAIN_CHUNKS = 32, /* chunks read once the program has ended: more than a pipe holds */
    OUTPUT_TIMEOUT_NS = 1000000000, /* how long other processes may hold the pipe after the
                                     * program's end */
    TAIL_BYTES = 2048, /* length of the output's end that becomes the message, as in the kubelet */
    TAIL_LINES = 80,
    TAIL_KEPT = 4 * TAIL_BYTES,
};

static void output_timed_out(struct alarm *alarm)
{
    output_close(container_of(alarm, struct container, output_timeout));
}

static void keep_tail(struct container *c, const char *bytes, size_t len)
{
    struct buf *tail = &c->tail;

    if (len > TAIL_BYTES) {
        bytes += len - TAIL_BYTES;
        len = TAIL_BYTES;
    }
    if (tail->len + len > TAIL_KEPT) {
        memmove(tail->data, tail->data + tail->len - TAIL_BYTES, TAIL_BYTES);
        tail->len = TAIL_BYTES;
    }
    buf_add(tail, bytes, len);
}

char *output_tail(struct container *c)
{
    const char *end = c->tail.data + c->tail.len, *from = end;
    unsigned lines = 0;

    while (from > c->tail.data && end - from < TAIL_BYTES) {
        if (from[-1] == '\n' && from != end && ++lines == TAIL_LINES)
            break;
        from--;
    }
    if (from == end)
        return NULL;

    char *text = mem_alloc((size_t)(end - from) + 1);

    for (size_t i = 0; from + i < end; i++)
        text[i] = from[i] ? from[i] : ' ';
    return text;
}

/* Reads output of the program. Returns false when there is nothing to read now, or the output is
 * closed. */
static bool output_read(struct container *c)
{
    struct shim *shim = c->pod->shim;
    ssize_t n = read(c->output.fd, shim->read_buffer, OUTPUT_CHUNK);

    if (n > 0) {
        log_write(&c->log, shim->read_buffer, (size_t)n, &shim->scratch);
        if (c->spec->log_message)
            keep_tail(c, shim->read_buffer, (size_t)n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        output_close(c);
    }
    return n > 0;
}

static void on_output(struct source *source, uint32_t events)
{
    output_read(container_of(source, struct container, output));
}

void output_open(struct container *c, int fd)
{
    struct pod *pod = c->pod;

    fcntl(fd, F_SETFL, O_NONBLOCK);
    buf_clear(&c->tail);
    c->output = (struct source){on_output, fd};
    c->output_timeout.ring = output_timed_out;
    c->log = (struct log_writer){
        .dir_fd = SHIM_FD_LOGS,
        .uid = pod->spec.uid,
        .container = c->spec->name,
        .flat = c->index == pod->spec.n_init && c->status->restart_count == 0,
        .index = c->index,
        .run = (unsigned)c->status->restart_count,
        .max_bytes = pod->shim->config.log_max_bytes,
    };
    log_writer_init(&c->log);
    reactor_add(&pod->shim->reactor, &c->output, EPOLLIN);
    pod->n_outputs++;
}

void output_close(struct container *c)
{
    struct shim *shim = c->pod->shim;

    alarm_clear(&shim->reactor, &c->output_timeout);
    if (c->output.fd < 0)
        return;
    reactor_remove(&shim->reactor, &c->output);
    close(c->output.fd);
    c->output.fd = -1;
    log_writer_release(&c->log);
    c->pod->n_outputs--;
    pod_wake(c->pod);
}

void output_drain(struct container *c)
{
    for (unsigned i = 0; i < DRAIN_CHUNKS && c->output.fd >= 0; i++)
        if (!output_read(c))
            break;
    if (c->output.fd >= 0)
        alarm_set(&c->pod->shim->reactor, &c->output_timeout, OUTPUT_TIMEOUT_NS);
}
