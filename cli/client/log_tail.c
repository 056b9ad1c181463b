/*
 * Reads the logs of several containers, a bounded number at a time. Each log prints whole lines;
 * further logs wait in a queue.
 */
#include "cli/client/log_tail.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/kinds/pod/pod_log.h"
#include "base/collections/hash.h"
#include "base/mem.h"
#include "cli/client/log_print.h"
#include "cli/client/resource.h"
#include "cli/command/command.h"

/* The log of one container that is followed. */
struct stream {
    struct client_call call;
    struct logtail *tail;
    char *key; /* key of the log: UID/CONTAINER/RESTART */
    char *target, *label;
    char *kept_target; /* path of the log that is kept when the pod is gone; NULL: it is the
                        * target */
    struct log_line line;
    struct buf partial;  /* text of an unfinished line */
    struct stream *next; /* queue of waiting streams */
    size_t taken, skip;  /* bytes received, and bytes to skip when the log is read again */
    bool is_cut;
    UT_hash_handle hh;
};

struct logtail {
    struct client *client;
    struct logtail_options options;
    struct term term;
    struct log_printer printer;
    struct stream *streams; /* every stream added, by key */
    struct stream *waiting, **w_end;
    size_t running;
    bool failed, cut;
};

/* Prints lines behind their labels, so that those of several containers do not mix. */
static void print_lines(struct stream *stream, const char *bytes, size_t len)
{
    struct log_printer *printer = &stream->tail->printer;
    struct buf *partial = &stream->partial;
    const char *end = bytes + len, *newline;
    size_t forgotten;

    while ((newline = memchr(bytes, '\n', (size_t)(end - bytes)))) {
        if (partial->len) {
            buf_add(partial, bytes, (size_t)(newline - bytes));
            log_print_whole(printer, &stream->line, partial->data, partial->len);
            buf_clear(partial);
        } else {
            log_print_whole(printer, &stream->line, bytes, (size_t)(newline - bytes));
        }
        bytes = newline + 1;
    }
    buf_add(partial, bytes, (size_t)(end - bytes));
    if (!partial->len)
        return;
    log_print_growing(printer, &stream->line, partial->data, partial->len);
    forgotten = log_print_forget(&stream->line, partial->data, partial->len);
    partial->len -= forgotten;
    memmove(partial->data, partial->data + forgotten, partial->len);
}

/* Without labels there is only one log. */
static void on_data(struct client_call *call, const char *bytes, size_t len)
{
    struct stream *stream = container_of(call, struct stream, call);
    size_t skip = stream->skip < len ? stream->skip : len;

    stream->skip -= skip;
    stream->taken += len - skip;
    if (stream->tail->options.prefix)
        print_lines(stream, bytes + skip, len - skip);
    else
        fwrite(bytes + skip, 1, len - skip, stdout);
    fflush(stdout);
}

static void start_waiting(struct logtail *tail);
static void start(struct stream *stream);

/* The pod was deleted before its log was asked for: goes on to the kept log. */
static bool go_to_kept(struct stream *stream, const struct error *err)
{
    if (err->code != ERR_NOT_FOUND || !stream->kept_target || stream->taken)
        return false;
    mem_free(stream->target);
    stream->target = take(stream->kept_target);
    start(stream);
    return true;
}

static void on_done(struct client_call *call)
{
    struct stream *stream = container_of(call, struct stream, call);
    struct logtail *tail = stream->tail;
    struct error err = {0};

    tail->running--;
    stream->is_cut = !client_ok(call, &err) && err.code == ERR_UNAVAILABLE;
    if (stream->is_cut) {
        tail->cut = true;
        return;
    }
    if (go_to_kept(stream, &err))
        return;
    if (stream->partial.len || stream->line.grows) /* The last line may lack its newline. */
        log_print_whole(&tail->printer, &stream->line, stream->partial.data, stream->partial.len);
    buf_release(&stream->partial);
    if (err.code != ERR_NONE) {
        fflush(stdout);
        cli_error(&err);
        tail->failed = true;
    }
    start_waiting(tail);
}

static void start(struct stream *stream)
{
    stream->tail->running++;
    stream->call.target = stream->target;
    stream->call.accept = "*/*";
    stream->call.data = on_data;
    stream->call.done = on_done;
    client_start(stream->tail->client, &stream->call);
}

static void start_waiting(struct logtail *tail)
{
    while (tail->waiting && !tail->cut && tail->running < tail->options.at_once) {
        struct stream *stream = tail->waiting;

        tail->waiting = stream->next;
        if (!tail->waiting)
            tail->w_end = &tail->waiting;
        start(stream);
    }
}

static char *log_target(const struct logtail *tail, const struct kind *kind, const char *name,
                        const struct logtail_source *source)
{
    const struct logtail_options *options = &tail->options;
    const struct {
        const char *key;
        int64_t value;
        bool given;
    } numbers[] = {
        {"tailLines", options->tail, options->tail >= 0},
        {"sinceSeconds", options->since_s, options->since_s > 0},
        {"limitBytes", options->limit_bytes, options->limit_bytes > 0},
    };
    scoped(buf) struct buf target = {0};

    resource_write_path(kind, source->ns, name, &target);
    buf_str(&target, "/log");
    resource_write_query("container", source->container, &target);
    resource_write_query("follow", options->follow ? "true" : NULL, &target);
    resource_write_query("timestamps", options->timestamps ? "true" : NULL, &target);
    resource_write_query("previous", source->previous ? "true" : NULL, &target);
    for (size_t i = 0; i < countof(numbers); i++) {
        scoped_str text = mem_printf("%lld", (long long)numbers[i].value);

        resource_write_query(numbers[i].key, numbers[i].given ? text : NULL, &target);
    }
    return buf_take(&target);
}

static void enqueue(struct logtail *tail, struct stream *stream)
{
    stream->next = NULL;
    *tail->w_end = stream;
    tail->w_end = &stream->next;
}

static struct stream *stream_new(struct logtail *tail, const struct logtail_source *source)
{
    static const enum color colors[] = {COLOR_CYAN, COLOR_GREEN, COLOR_YELLOW, COLOR_BLUE};
    struct stream *stream = mem_alloc(sizeof *stream);
    scoped_str kept = source->kept   ? mem_strdup(source->kept)
                      : *source->uid ? pod_log_name(source->pod, source->uid)
                                     : NULL;

    stream->tail = tail;
    stream->kept_target = kept ? log_target(tail, &kind_pod_log, kept, source) : NULL;
    stream->target =
        source->kept ? take(stream->kept_target) : log_target(tail, &kind_pod, source->pod, source);
    stream->label = mem_printf("%s/%s", source->pod, source->container);
    stream->line = (struct log_line){
        .label = stream->label,
        .color = term_color(&tail->term, colors[HASH_COUNT(tail->streams) % countof(colors)]),
        .reset = term_reset(&tail->term),
    };
    return stream;
}

void logtail_add(struct logtail *tail, const struct logtail_source *source)
{
    scoped_str key = mem_printf("%s/%s/%lld", source->uid, source->container,
                                (long long)(source->run - source->previous));
    struct stream *stream;

    HASH_FIND_STR(tail->streams, key, stream);
    if (stream)
        return;
    stream = stream_new(tail, source);
    stream->key = take(key);
    HASH_ADD_KEYPTR(hh, tail->streams, stream->key, strlen(stream->key), stream);
    enqueue(tail, stream);
    start_waiting(tail);
}

void logtail_go_on(struct logtail *tail, struct client *client)
{
    struct stream *stream, *next;

    tail->client = client;
    tail->cut = false;
    HASH_ITER(hh, tail->streams, stream, next)
    {
        if (!stream->is_cut)
            continue;
        stream->is_cut = false;
        stream->skip = stream->taken;
        enqueue(tail, stream);
    }
    start_waiting(tail);
}

bool logtail_is_idle(const struct logtail *tail)
{
    return tail->running == 0 && (!tail->waiting || tail->cut);
}

bool logtail_is_cut(const struct logtail *tail)
{
    return tail->cut;
}

bool logtail_failed(const struct logtail *tail)
{
    return tail->failed;
}

struct logtail *logtail_new(struct client *client, const struct logtail_options *options)
{
    struct logtail *tail = mem_alloc(sizeof *tail);

    tail->client = client;
    tail->options = *options;
    tail->w_end = &tail->waiting;
    tail->printer = (struct log_printer){.out = stdout, .clock = clock_real()};
    term_look(&tail->term, stdout);
    return tail;
}

void logtail_free(struct logtail *tail)
{
    struct stream *stream, *next;

    if (!tail)
        return;
    HASH_ITER(hh, tail->streams, stream, next)
    {
        HASH_DEL(tail->streams, stream);
        client_call_release(&stream->call);
        buf_release(&stream->partial);
        mem_free(stream->key);
        mem_free(stream->target);
        mem_free(stream->kept_target);
        mem_free(stream->label);
        mem_free(stream);
    }
    mem_free(tail);
}
