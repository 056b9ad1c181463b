/*
 * The command `jobflow ui`: shows the flows of a server in a browser.
 *
 *   open the server ─► listen on loopback ─► print the link ─┬─ Enter: a new link
 *                                                            └─ Ctrl-C, no page for long: end
 *
 * The site (web/site.h) does the rest. Its sign-ins end with this process. With --link the page is
 * that of a daemon, which is asked for a link.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "base/secret.h"
#include "cli/client/client.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/show/browser.h"
#include "cli/daemon/access.h"
#include "web/assets.h"
#include "web/child/child.h"
#include "web/loopback.h"
#include "web/server.h"

enum {
    TICKET_MS = 10 * 60 * 1000, /* how long a printed link works */
    TICKET_FILE_MS = 60 * 1000, /* how long the link in the browser's file works */
    BROWSER_WAIT_MS = 5000,     /* after this time without the browser the link is printed, too */
    IDLE_LOOK_MS = 5000,
    PORT_MAX = 65535,
};

struct ui_options {
    struct client_endpoint endpoint;
    const char *namespace, *port;
    bool no_browser, read_only, link;
    int64_t idle_ms;
};

static bool check_port(const char *text, struct error *err)
{
    char *end;
    long port = strtol(text, &end, 10);

    if (strchr(text, ':') || strchr(text, '.'))
        return error_set(err, ERR_INVALID, NULL,
                         "the page is served on loopback addresses only, and this is a port "
                         "number: from another machine use 'ssh -L', or the page of the daemon");
    return (*text && !*end && port >= 1 && port <= PORT_MAX) ||
           error_set(err, ERR_INVALID, NULL, "must be between 1 and %d", PORT_MAX);
}

#define UI(member) offsetof(struct ui_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR,      "port",       0,   "PORT", "port to listen on; default: 6481, or a free one when that is taken", UI(port), .check = check_port},
    {FLAG_BOOL,     "no-browser", 0,   NULL,   "print the link and open nothing", UI(no_browser)},
    {FLAG_BOOL,     "read-only",  0,   NULL,   "let nothing be changed through the page", UI(read_only)},
    {FLAG_BOOL,     "link",       0,   NULL,   "print a link to the page that the daemon itself serves, and end", UI(link)},
    {FLAG_DURATION, "idle",       0,   "TIME", "end after this time without a page; 0: never; default: 12h", UI(idle_ms)},
    {FLAG_STR,      "namespace",  'n', "NAME", "namespace to begin with; default: that of the kubeconfig, or default", UI(namespace)},
    CLIENT_ENDPOINT_FLAGS(UI(endpoint)),
    {0},
};
/* clang-format on */

static const struct ui_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL,
                                           .idle_ms = INT64_C(12) * 3600 * 1000};

struct ui {
    const struct ui_options *options;
    struct loop *loop;
    struct upstream *upstream;
    struct web_site *site;
    struct web_server *server;
    struct listener *listener;
    struct child_slots *child_slots;
    struct browser *browser; /* NULL: none, or it has opened the page */
    struct timer browser_wait, idle;
    uv_signal_t signals[3];
    uv_poll_t terminal;
    bool has_terminal, said; /* `said`: the first lines are printed */
    int port;
};

/* What the server is called in the first line. */
static void write_server(const struct upstream_info *info, struct buf *out)
{
    scoped_str usual = access_default_dir();
    bool is_usual = usual && strcmp(info->name, usual) == 0;

    switch (info->kind) {
    case UPSTREAM_RUN:
        buf_printf(out, "the run in %s", info->name);
        break;
    case UPSTREAM_DAEMON:
        if (is_usual)
            buf_str(out, "the daemon of this user");
        else
            buf_printf(out, "the daemon at %s", info->name);
        break;
    case UPSTREAM_STORE:
        buf_printf(out, "the store in %s, where no process runs", info->name);
        break;
    case UPSTREAM_CLUSTER:
    case UPSTREAM_KIND_N:
        buf_printf(out, "the cluster at %s", info->name);
        break;
    }
}

static void say_server(const struct ui *ui)
{
    scoped(buf) struct buf line = {0};
    struct upstream_info info;

    upstream_info(ui->upstream, &info);
    write_server(&info, &line);
    printf("%s, as %s; may look%s\n", line.data, info.user,
           info.may_change && !ui->options->read_only ? " and change" : "");
    if (info.live && !info.known)
        cli_warnf("%s", info.reason ? info.reason : "the server does not say who this user is");
}

/* Writes a link for one sign-in. The caller wipes it. */
static void write_link(const struct ui *ui, int64_t life_ms, struct buf *out)
{
    buf_printf(out, "http://127.0.0.1:%d/ui/#t=", ui->port);
    web_site_ticket(ui->site, life_ms, out);
}

static void print_link(const struct ui *ui)
{
    struct buf link = {0};

    write_link(ui, TICKET_MS, &link);
    printf("  %s\n", link.data);
    fflush(stdout);
    secret_wipe(&link);
}

static void print_tunnel(const struct ui *ui)
{
    const char *user = getenv("USER");
    char host[256] = "HOST";

    gethostname(host, sizeof host - 1);
    printf("  from your own machine: ssh -L %d:127.0.0.1:%d %s@%s\n", ui->port, ui->port,
           user && *user ? user : "USER", host);
}

static void forget_browser(struct ui *ui)
{
    timer_stop(ui->loop, &ui->browser_wait);
    browser_forget(take(ui->browser));
}

/* Nobody has signed in by the file: perhaps the browser cannot read it. */
static void on_browser_wait(struct timer *timer)
{
    struct ui *ui = container_of(timer, struct ui, browser_wait);

    if (!ui->browser)
        return;
    if (ui->said) {
        printf("  the browser has not opened the page; this link can be clicked:\n");
        print_link(ui);
        ui->said = false; /* happens once; the file is removed at the end of its ticket */
        timer_start(ui->loop, timer, TICKET_FILE_MS - BROWSER_WAIT_MS);
        return;
    }
    forget_browser(ui);
}

static bool open_browser(struct ui *ui)
{
    struct upstream_info info;
    struct buf link = {0};

    if (ui->options->no_browser || !browser_possible())
        return false;
    upstream_info(ui->upstream, &info);
    write_link(ui, TICKET_FILE_MS, &link);
    ui->browser = browser_open(ui->loop, info.name, link.data);
    secret_wipe(&link);
    if (ui->browser)
        timer_start(ui->loop, &ui->browser_wait, BROWSER_WAIT_MS);
    return ui->browser != NULL;
}

static void say_hello(struct ui *ui)
{
    say_server(ui);
    if (open_browser(ui)) {
        printf("  http://127.0.0.1:%d/ui/    opened in the browser\n", ui->port);
        ui->said = true;
    } else {
        print_link(ui);
        if (getenv("SSH_CONNECTION"))
            print_tunnel(ui);
    }
    printf("  %sCtrl-C: end\n", ui->has_terminal ? "Enter: a new link    " : "");
    fflush(stdout);
}

static void on_warning(void *ctx, const char *text)
{
    cli_warnf("%s", text);
}

static void on_signed_in(void *ctx)
{
    forget_browser(ctx);
}

static void on_upstream_changed(void *ctx)
{
    struct ui *ui = ctx;

    if (ui->server)
        web_server_upstream_changed(ui->server);
    else
        loop_stop(ui->loop);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct ui *ui = handle->data;

    loop_stop(ui->loop);
}

static void on_terminal(uv_poll_t *handle, int status, int events)
{
    struct ui *ui = handle->data;
    char bytes[256];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);

    if (n > 0 && memchr(bytes, '\n', (size_t)n))
        print_link(ui);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        uv_poll_stop(handle);
}

static void on_idle(struct timer *timer)
{
    struct ui *ui = container_of(timer, struct ui, idle);

    if (web_site_idle_ms(ui->site) >= ui->options->idle_ms) {
        printf("no page for a long time (--idle): ended\n");
        loop_stop(ui->loop);
        return;
    }
    timer_start(ui->loop, timer,
                ui->options->idle_ms < IDLE_LOOK_MS ? ui->options->idle_ms : IDLE_LOOK_MS);
}

static void listen_to_user(struct ui *ui)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < countof(numbers); i++) {
        uv_signal_init(loop_uv(ui->loop), &ui->signals[i]);
        ui->signals[i].data = ui;
        uv_signal_start(&ui->signals[i], on_signal, numbers[i]);
    }
    ui->has_terminal =
        isatty(STDIN_FILENO) && uv_poll_init(loop_uv(ui->loop), &ui->terminal, STDIN_FILENO) == 0;
    if (!ui->has_terminal)
        return;
    ui->terminal.data = ui;
    uv_poll_start(&ui->terminal, UV_READABLE, on_terminal);
}

static void stop_listening(struct ui *ui)
{
    for (size_t i = 0; i < countof(ui->signals); i++)
        uv_close((uv_handle_t *)&ui->signals[i], NULL);
    if (ui->has_terminal)
        uv_close((uv_handle_t *)&ui->terminal, NULL);
}

/* Serves until the user ends it. Returns the exit code. */
static int serve(struct ui *ui)
{
    struct error err = {0};

    ui->listener =
        loopback_listen(ui->loop, web_site_handler(ui->site),
                        ui->options->port ? atoi(ui->options->port) : 0, &ui->port, &err);
    if (!ui->listener) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    listen_to_user(ui);
    ui->browser_wait.fire = on_browser_wait;
    ui->idle.fire = on_idle;
    say_hello(ui);
    if (ui->options->idle_ms > 0)
        on_idle(&ui->idle);
    loop_run(ui->loop);
    stop_listening(ui);
    timer_stop(ui->loop, &ui->idle);
    forget_browser(ui);
    return EXIT_OK;
}

/* There is one user, whose rights the endpoint has. */
static struct web_server *server_of(void *ctx, const char *credential, struct error *err)
{
    return ((const struct ui *)ctx)->server;
}

static bool open_site(struct ui *ui, const char *open, struct error *err)
{
    struct web_site_options options = {.loop = ui->loop,
                                       .another_link = "press Enter in the terminal of "
                                                       "'jobflow ui' for a link",
                                       .server_of = server_of,
                                       .warn = on_warning,
                                       .signed_in = on_signed_in,
                                       .ctx = ui};

    options.assets = assets_built_in(&options.assets_len);
    ui->site = web_site_new(&options, err);
    if (!ui->site)
        return false;
    ui->child_slots = child_slots_new(ui->loop);
    ui->server =
        web_server_new(&(const struct web_server_options){.site = ui->site,
                                                          .upstream = ui->upstream,
                                                          .child_slots = ui->child_slots,
                                                          .endpoint = &ui->options->endpoint,
                                                          .namespace = ui->options->namespace,
                                                          .open = open,
                                                          .read_only = ui->options->read_only});
    return true;
}

static int run_on(struct ui *ui, const char *open)
{
    const struct upstream_options upstream = {.loop = ui->loop,
                                              .endpoint = ui->options->endpoint,
                                              .namespace = ui->options->namespace,
                                              .changed = on_upstream_changed,
                                              .ctx = ui};
    struct upstream_info info;
    struct error err = {0};
    int code;

    ui->upstream = upstream_new(&upstream, &err);
    if (!ui->upstream) {
        cli_error(&err);
        return client_open_failed(&err);
    }
    upstream_info(ui->upstream, &info);
    if (!info.known) /* until the server has said who this user is, or has not answered */
        loop_run(ui->loop);
    if (!open_site(ui, open, &err)) {
        cli_error(&err);
        return EXIT_INTERNAL;
    }
    code = serve(ui);
    web_site_stop(ui->site, "'jobflow ui' has ended");
    listener_stop(ui->listener);
    return code;
}

/* Prints the link that the daemon has made. `server` is its address for this client; NULL: the
 * daemon names one. */
static int print_daemon_link(const json_t *made, const char *server, const char *open,
                             const char *namespace)
{
    const char *ticket = doc_text(made, "ticket"), *url = server ? server : doc_text(made, "url");

    if (!ticket || !url) {
        cli_errorf("%s", ticket ? "the daemon listens on no address (--listen), so it has no page"
                                : "the daemon's answer is not understood");
        return EXIT_FAILED;
    }
    if (open)
        printf("%s/ui/flows/%s/%s#t=%s\n", url, namespace, open, ticket);
    else
        printf("%s/ui/#t=%s\n", url, ticket);
    return EXIT_OK;
}

/* Asks the daemon for a link with the rights of this client. */
static int ask_for_link(const struct ui_options *options, const char *open)
{
    struct error err = {0};
    scoped(client) struct client *client = client_open_at(&options->endpoint, CLIENT_LOOK, &err);
    struct client_call call = {
        .method = "POST", .target = "/ui/ticket", .body = "{}", .body_len = 2};
    scoped(json) json_t *made = NULL;
    int code = EXIT_FAILED;

    if (!client) {
        cli_error(&err);
        return client_open_failed(&err);
    }
    if (!client_is_live(client)) {
        cli_errorf("no daemon runs there: 'jobflow ui' without --link shows what is stored");
        return EXIT_FAILED;
    }
    client_start(client, &call);
    client_run(client, -1);
    if (call.status == 201) {
        made = json_loadb(call.text.len ? call.text.data : "", call.text.len, 0, NULL);
        code = print_daemon_link(
            made, strstr(client_data_dir(client), "://") ? client_data_dir(client) : NULL, open,
            client_namespace(client, options->namespace));
    } else if (call.status == 404 || call.status == 403) {
        cli_errorf("there is no page at %s: a daemon serves one unless --ui off; 'jobflow ui' "
                   "without --link shows it from here",
                   client_data_dir(client));
    } else {
        client_ok(&call, &err);
        cli_error(&err);
    }
    secret_wipe(&call.text);
    client_call_release(&call);
    return code;
}

/* Returns the name of the flow that the operand names; NULL after printing what is wrong. */
static const char *flow_name(const char *word)
{
    struct resource named = {0};
    struct error err = {0};

    if (!resource_parse(word, &named, &err)) {
        cli_error(&err);
        return NULL;
    }
    if (named.kind == &kind_job_flow && named.name)
        return named.name;
    cli_errorf("\"%s\" names no flow: give jf/NAME", word);
    return NULL;
}

static int run(const void *opaque, int n_operands, char **operands)
{
    struct ui ui = {.options = opaque};
    const char *open = n_operands ? flow_name(operands[0]) : NULL;
    size_t assets_len;
    int code;

    if (n_operands && !open)
        return EXIT_REFUSED;
    if (ui.options->link)
        return ask_for_link(ui.options, open);
    if (!assets_built_in(&assets_len)) {
        cli_errorf("this program was built without the page: 'cmake -DJOBFLOW_WEB=ON' builds it, "
                   "and needs esbuild");
        return EXIT_REFUSED;
    }
    signal(SIGPIPE, SIG_IGN); /* the run that has started this may have ended */
    ui.loop = loop_new(clock_real());
    code = run_on(&ui, open);
    web_server_free(ui.server);
    child_slots_free(ui.child_slots);
    web_site_free(ui.site);
    upstream_free(ui.upstream);
    loop_free(ui.loop);
    return code;
}

const struct command cmd_ui = {
    .name = "ui",
    .operands = "[jf/NAME]",
    .summary = "Show flows in a browser",
    .details =
        "Serves a page on this machine's loopback addresses and prints a link to it. The page "
        "shows what 'jobflow get' with\n"
        "the same flags would talk to: a run, a daemon, a cluster, or the store of a run that has "
        "ended. It goes live when a run\n"
        "starts there. A link signs one browser in, once, within ten minutes; Enter prints "
        "another one. All sign-ins end with\n"
        "this command.",
    .examples = "  jobflow ui\n"
                "  jobflow ui jf/pipeline --read-only\n"
                "  jobflow ui --link                     # of the daemon's own page\n"
                "  jobflow ui --no-browser --port 8080   # over ssh -L 8080:127.0.0.1:8080",
    .flags = flags,
    .options_size = sizeof(struct ui_options),
    .defaults = &defaults,
    .min_operands = 0,
    .max_operands = 1,
    .operand_kind = "resource",
    .run = run,
};
