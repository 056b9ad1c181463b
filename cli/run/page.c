/*
 * The process of the page, and the pipe of what it prints.
 */
#include "cli/run/page.h"

#include <stdio.h>

#include "base/mem.h"
#include "cli/command/command.h"

enum { HANDLES = 3, BYTES = 4096 };

struct page {
    uv_process_t process;
    uv_pipe_t out, errors;
    int open; /* handles that are not closed yet */
    char bytes[BYTES];
};

static void on_closed(uv_handle_t *handle)
{
    struct page *page = handle->data;

    if (--page->open == 0)
        mem_free(page);
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *out)
{
    struct page *page = handle->data;

    *out = uv_buf_init(page->bytes, sizeof page->bytes);
}

static void on_printed(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    if (n < 0)
        uv_read_stop(stream);
    else
        fwrite(bytes->base, 1, (size_t)n, stderr);
}

static int spawn(struct page *page, uv_loop_t *loop, char **arguments)
{
    uv_stdio_container_t files[] = {
        {.flags = UV_IGNORE},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&page->out},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&page->errors},
    };
    const uv_process_options_t options = {.file = "/proc/self/exe",
                                          .args = arguments,
                                          .flags = UV_PROCESS_DETACHED,
                                          .stdio = files,
                                          .stdio_count = countof(files)};

    uv_pipe_init(loop, &page->out, 0);
    uv_pipe_init(loop, &page->errors, 0);
    page->process.data = page->out.data = page->errors.data = page;
    page->open = HANDLES;
    return uv_spawn(loop, &page->process, &options);
}

struct page *page_start(struct loop *loop, const struct page_request *request)
{
    struct page *page = mem_alloc(sizeof *page);
    scoped_str flow = request->flow ? mem_printf("jf/%s", request->flow) : NULL;
    char *arguments[] = {(char *)(size_t) "jobflow",
                         (char *)(size_t) "ui",
                         (char *)(size_t) "--idle",
                         (char *)(size_t) "10m",
                         (char *)(size_t) "--data-dir",
                         (char *)(size_t)request->data_dir,
                         (char *)(size_t) "--namespace",
                         (char *)(size_t)request->namespace,
                         flow,
                         NULL};
    int failed = spawn(page, loop_uv(loop), arguments);

    if (failed) {
        cli_warnf("the page cannot be started: %s", uv_strerror(failed));
        page_release(page);
        return NULL;
    }
    uv_read_start((uv_stream_t *)&page->out, on_room, on_printed);
    uv_read_start((uv_stream_t *)&page->errors, on_room, on_printed);
    /* None of these keeps the run from ending. */
    uv_unref((uv_handle_t *)&page->process);
    uv_unref((uv_handle_t *)&page->out);
    uv_unref((uv_handle_t *)&page->errors);
    return page;
}

void page_release(struct page *page)
{
    if (!page)
        return;
    uv_close((uv_handle_t *)&page->process, on_closed);
    uv_close((uv_handle_t *)&page->out, on_closed);
    uv_close((uv_handle_t *)&page->errors, on_closed);
}
