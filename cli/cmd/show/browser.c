/*
 * Writes the file that redirects the browser to the page, and starts the browser.
 */
#include "cli/cmd/show/browser.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/secret.h"

struct browser {
    uv_process_t process;
    char *path;
};

static const char *environment(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

bool browser_possible(void)
{
    return (environment("DISPLAY") || environment("WAYLAND_DISPLAY")) &&
           !environment("SSH_CONNECTION");
}

/* Writes the file; false when that fails. */
static bool write_file(const char *path, const char *link)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct buf text = {0};
    bool ok;

    if (fd < 0)
        return false;
    buf_printf(&text,
               "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" "
               "content=\"no-referrer\"><title>jobflow</title>"
               "<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n",
               link);
    ok = file_write_all(fd, text.data, text.len);
    secret_wipe(&text);
    close(fd);
    return ok;
}

static void on_closed(uv_handle_t *handle)
{
    struct browser *browser = handle->data;

    mem_free(browser->path);
    mem_free(browser);
}

/* The program may end as soon as it has told a browser; libuv reaps it. */
static void on_exit_status(uv_process_t *process, int64_t status, int signal)
{
}

struct browser *browser_open(struct loop *loop, const char *directory, const char *link)
{
    const char *runtime = environment("XDG_RUNTIME_DIR"), *program = environment("BROWSER");
    struct browser *browser = mem_alloc(sizeof *browser);
    uv_process_options_t options = {.exit_cb = on_exit_status, .flags = UV_PROCESS_DETACHED};
    char *arguments[3] = {(char *)(size_t)(program ? program : "xdg-open")};

    browser->path =
        mem_printf("%s/jobflow-ui-%ld.html", runtime ? runtime : directory, (long)getpid());
    browser->process.data = browser;
    arguments[1] = browser->path;
    options.file = arguments[0];
    options.args = arguments;
    if (write_file(browser->path, link) &&
        uv_spawn(loop_uv(loop), &browser->process, &options) == 0)
        return browser;
    unlink(browser->path);
    if (browser->process.type == UV_PROCESS)
        uv_close((uv_handle_t *)&browser->process, on_closed);
    else
        on_closed((uv_handle_t *)&browser->process);
    return NULL;
}

void browser_forget(struct browser *browser)
{
    if (!browser)
        return;
    unlink(browser->path);
    uv_close((uv_handle_t *)&browser->process, on_closed);
}
