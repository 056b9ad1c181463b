/*
 * The process of a child, its two pipes, its time limit, and the queue before it.
 */
#include "web/child/child.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "web/child/child_arguments.h"

enum {
    AT_ONCE = 2,
    WAITING_MAX = 16,
    LIMIT_MS = 30000,
    OUT_BYTES_MAX = 64 << 20,
    ERRORS_BYTES_MAX = 16 << 10,
    READ_BYTES = 64 << 10,
    HANDLES = 3, /* the process and its two pipes */
};

struct child_slots {
    struct loop *loop;
    int running, n_waiting;
    TAILQ_HEAD(, child) waiting;
};

/* What outlives the child until its handles are closed. */
struct child_process {
    uv_process_t process;
    uv_pipe_t out, errors;
    struct timer limit;
    struct child *child; /* NULL: it was released */
    struct child_slots *slots;
    struct buf complaint; /* the beginning of what it has printed on stderr */
    char bytes[READ_BYTES];
    int open,
        to_end; /* number of open handles, and of ends still to be seen: two pipes and the exit */
    int64_t status;
    bool too_large, late;
};

struct child_slots *child_slots_new(struct loop *loop)
{
    struct child_slots *slots = mem_alloc(sizeof *slots);

    slots->loop = loop;
    TAILQ_INIT(&slots->waiting);
    return slots;
}

void child_slots_free(struct child_slots *slots)
{
    if (!slots)
        return;
    while (slots->running > 0) /* the processes are killed, so they end at once */
        uv_run(loop_uv(slots->loop), UV_RUN_ONCE);
    mem_free(slots);
}

static void begin_next(struct child_slots *slots);

static void on_closed(uv_handle_t *handle)
{
    struct child_process *process = handle->data;

    if (--process->open > 0)
        return;
    buf_release(&process->complaint);
    mem_free(process);
}

static void close_handles(struct child_process *process)
{
    timer_stop(process->slots->loop, &process->limit);
    uv_close((uv_handle_t *)&process->process, on_closed);
    uv_close((uv_handle_t *)&process->out, on_closed);
    uv_close((uv_handle_t *)&process->errors, on_closed);
}

/* Returns the first line of what the child complains about, without its "error: ". */
static const char *complaint_of(struct child_process *process)
{
    static const char begins[] = "error: ";
    char *text = process->complaint.len ? process->complaint.data : NULL, *at;

    if (!text)
        return "it has said nothing";
    at = strstr(text, begins);
    at = at ? at + sizeof begins - 1 : text;
    at[strcspn(at, "\n")] = '\0';
    return at;
}

static void judge(struct child_process *process, struct error *err)
{
    if (process->too_large)
        error_set(err, ERR_TOO_LARGE, "", "the answer is larger than %d bytes", OUT_BYTES_MAX);
    else if (process->late)
        error_set(err, ERR_TIMEOUT, "", "no answer within %d s", LIMIT_MS / 1000);
    else if (process->status != 0)
        error_set(err, strstr(complaint_of(process), "not found") ? ERR_NOT_FOUND : ERR_UNAVAILABLE,
                  "", "%s", complaint_of(process));
}

/* One of the three ends: the exit, and the end of each pipe. */
static void on_ended(struct child_process *process)
{
    struct child *child = process->child;
    struct child_slots *slots = process->slots;

    if (--process->to_end > 0)
        return;
    slots->running--;
    if (child) {
        buf_add(&child->said, process->complaint.len ? process->complaint.data : "",
                process->complaint.len);
        judge(process, &child->err);
    }
    close_handles(process);
    begin_next(slots);
    if (!child)
        return;
    child->process = NULL;
    child->done(child);
}

static void on_exit_status(uv_process_t *handle, int64_t status, int signal)
{
    struct child_process *process = handle->data;

    process->status = signal ? 1 : status;
    on_ended(process);
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *out)
{
    struct child_process *process = handle->data;

    *out = uv_buf_init(process->bytes, sizeof process->bytes);
}

static void stop(struct child_process *process)
{
    uv_process_kill(&process->process, SIGKILL);
}

static void on_out(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    struct child_process *process = stream->data;

    if (n < 0) {
        uv_read_stop(stream);
        on_ended(process);
        return;
    }
    if (!process->child)
        return;
    if (process->child->out.len + (size_t)n <= OUT_BYTES_MAX) {
        buf_add(&process->child->out, bytes->base, (size_t)n);
        return;
    }
    process->too_large = true;
    stop(process);
}

static void on_complaint(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    struct child_process *process = stream->data;

    if (n < 0) {
        uv_read_stop(stream);
        on_ended(process);
    } else {
        size_t rest = ERRORS_BYTES_MAX - process->complaint.len;

        buf_add(&process->complaint, bytes->base, (size_t)n < rest ? (size_t)n : rest);
    }
}

static void on_limit(struct timer *timer)
{
    struct child_process *process = container_of(timer, struct child_process, limit);

    process->late = true;
    stop(process);
}

/* Ends a child that could not be started, after child_start has returned. */
static void on_not_started(struct timer *timer)
{
    on_ended(container_of(timer, struct child_process, limit));
}

/* Makes a file in memory; -1: it has no content, or there is no memory for it. */
static int open_memory(const char *bytes, size_t len)
{
    int fd = bytes ? memfd_create("input", MFD_CLOEXEC) : -1;

    for (size_t done = 0; fd >= 0 && done < len;) {
        ssize_t n = write(fd, bytes + done, len - done);

        if (n <= 0) {
            close(fd);
            return -1;
        }
        done += (size_t)n;
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

static bool spawn(struct child_process *process, char **arguments)
{
    uv_loop_t *loop = loop_uv(process->slots->loop);
    const struct buf *given = process->child->in;
    const char *token = process->child->queue->token;
    int in = given ? open_memory(given->len ? given->data : "", given->len) : -1;
    int token_fd = open_memory(token, token ? strlen(token) : 0);
    uv_stdio_container_t files[] = {
        {.flags = in < 0 ? UV_IGNORE : UV_INHERIT_FD, .data.fd = in},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&process->out},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
         .data.stream = (uv_stream_t *)&process->errors},
        [CHILD_TOKEN_FD] = {.flags = token_fd < 0 ? UV_IGNORE : UV_INHERIT_FD, .data.fd = token_fd},
    };
    const uv_process_options_t options = {.file = "/proc/self/exe",
                                          .args = arguments,
                                          .exit_cb = on_exit_status,
                                          .stdio = files,
                                          .stdio_count = countof(files)};
    bool started;

    uv_pipe_init(loop, &process->out, 0);
    uv_pipe_init(loop, &process->errors, 0);
    process->process.data = process->out.data = process->errors.data = process;
    process->open = HANDLES;
    started = uv_spawn(loop, &process->process, &options) == 0;
    if (in >= 0)
        close(in);
    if (token_fd >= 0)
        close(token_fd);
    return started;
}

static void begin(struct child *child)
{
    struct child_slots *slots = child->queue->slots;
    struct child_process *process = mem_alloc(sizeof *process);
    char **arguments = child_arguments(child->texts, child->queue);
    bool started;

    process->child = child;
    process->slots = slots;
    process->limit.fire = on_limit;
    process->to_end = HANDLES;
    child->process = process;
    slots->running++;
    timer_start(slots->loop, &process->limit, LIMIT_MS);
    started = spawn(process, arguments);
    child_arguments_free(arguments);
    if (started) {
        uv_read_start((uv_stream_t *)&process->out, on_room, on_out);
        uv_read_start((uv_stream_t *)&process->errors, on_room, on_complaint);
        return;
    }
    process->status = process->to_end = 1;
    buf_str(&process->complaint, "the program cannot be started");
    process->limit.fire = on_not_started;
    timer_start(slots->loop, &process->limit, 0);
}

static void begin_next(struct child_slots *slots)
{
    while (slots->running < AT_ONCE && !TAILQ_EMPTY(&slots->waiting)) {
        struct child *child = TAILQ_FIRST(&slots->waiting);

        TAILQ_REMOVE(&slots->waiting, child, waiting);
        child->queued = false;
        slots->n_waiting--;
        begin(child);
    }
}

bool child_start(const struct child_queue *queue, struct child *child, struct error *err)
{
    struct child_slots *slots = queue->slots;

    if (slots->n_waiting >= WAITING_MAX)
        return error_set(err, ERR_TOO_MANY, "", "too many questions wait; try again later");
    child->queue = queue;
    for (size_t i = 0; i + 1 < CHILD_ARGUMENTS_MAX && child->arguments[i]; i++)
        child->texts[i] = mem_strdup(child->arguments[i]);
    child->queued = true;
    slots->n_waiting++;
    TAILQ_INSERT_TAIL(&slots->waiting, child, waiting);
    begin_next(slots);
    return true;
}

void child_release(struct child *child)
{
    if (child->queued) {
        TAILQ_REMOVE(&child->queue->slots->waiting, child, waiting);
        child->queue->slots->n_waiting--;
        child->queued = false;
    }
    if (child->process) {
        child->process->child = NULL;
        stop(take(child->process));
    }
    for (size_t i = 0; i < CHILD_ARGUMENTS_MAX; i++)
        mem_free(take(child->texts[i]));
    buf_release(&child->out);
    buf_release(&child->said);
}
