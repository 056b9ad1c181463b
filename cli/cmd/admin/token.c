/*
 * The command `jobflow token`: creates, lists and revokes tokens.
 *
 * It edits the token file of the data directory. A running daemon reloads the file at once.
 */
#include <string.h>
#include <sys/stat.h>

#include "api/store/dir/dir_owner.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/cmd/commands.h"
#include "cli/daemon/access.h"

struct token_options {
    const char *data_dir, *role;
    struct flag_list namespaces;
    int64_t expires_ms;
    bool kubeconfig;
};

static const char *const roles[] = {"viewer", "editor", "admin", NULL};

#define TOKEN(member) offsetof(struct token_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_CHOICE,   "role",       0,   "ROLE", "create: what the token allows; viewer looks, editor also changes things in namespaces, admin may do everything", TOKEN(role), roles},
    {FLAG_LIST,     "namespace",  'n', "NAME", "create: the only namespaces it is good for; may be given several times; default: all", TOKEN(namespaces)},
    {FLAG_DURATION, "expires",    0,   "D",    "create: how long it is good; default: until it is revoked", TOKEN(expires_ms)},
    {FLAG_BOOL,     "kubeconfig", 0,   NULL,   "create: print a kubeconfig with the token in it", TOKEN(kubeconfig)},
    {FLAG_STR,      "data-dir",   0,   "DIR",  "of the daemon; default: $XDG_STATE_HOME/jobflow", TOKEN(data_dir)},
    {0},
};
/* clang-format on */

static const struct token_options defaults = {.role = "viewer"};

struct request {
    const struct token_options *options;
    const char *data_dir;
    int n_names;
    char **names;
    char text[BEARER_TEXT + 1]; /* text of the created token */
};

static int failed(const struct error *err)
{
    cli_error(err);
    return err->code == ERR_INTERNAL ? EXIT_INTERNAL : EXIT_FAILED;
}

static bool create(void *ctx, struct bearer_tokens *bearers, struct error *err)
{
    struct request *request = ctx;
    const struct token_options *options = request->options;
    int64_t now_ms = clock_wall_ms(clock_real());
    const struct bearer_token_request token = {
        .name = request->names[0],
        .role = role_by_name(options->role),
        .namespaces = options->namespaces.items,
        .n_namespaces = options->namespaces.count,
        .now_ms = now_ms,
        .expires_ms = options->expires_ms ? now_ms + options->expires_ms : 0,
    };

    return bearer_tokens_add(bearers, &token, request->text, err);
}

static bool print_kubeconfig(const struct request *request, struct error *err)
{
    scoped(kubeconfig) struct kubeconfig config = {0};
    scoped(buf) struct buf text = {0};
    const struct token_options *options = request->options;

    if (!access_read_server(request->data_dir, &config, err))
        return false;
    mem_free(config.token);
    mem_free(config.user);
    config.token = mem_strdup(request->text);
    config.user = mem_strdup(request->names[0]);
    if (options->namespaces.count)
        config.namespace = mem_strdup(options->namespaces.items[0]);
    kubeconfig_write(&config, &text);
    fputs(text.data, stdout);
    return true;
}

static int run_create(struct request *request)
{
    scoped(kubeconfig) struct kubeconfig config = {0};
    struct error err = {0};

    if (request->n_names != 1) {
        cli_errorf("token create needs one NAME");
        return EXIT_REFUSED;
    }
    if (strcmp(request->options->role, "admin") == 0 && request->options->namespaces.count) {
        cli_errorf("an admin is not bound to namespaces: leave out -n, or give the role editor");
        return EXIT_REFUSED;
    }
    /* Checked before the token is created, because a token is shown only once. */
    if (request->options->kubeconfig && !access_read_server(request->data_dir, &config, &err))
        return failed(&err);
    if (!access_change_tokens(request->data_dir, create, request, &err))
        return failed(&err);
    if (!request->options->kubeconfig)
        printf("%s\n", request->text);
    else if (!print_kubeconfig(request, &err))
        return failed(&err);
    return EXIT_OK;
}

static bool revoke(void *ctx, struct bearer_tokens *bearers, struct error *err)
{
    const struct request *request = ctx;

    for (int i = 0; i < request->n_names; i++)
        if (!bearer_tokens_remove(bearers, request->names[i]))
            return error_set(err, ERR_NOT_FOUND, "", "there is no token \"%s\"", request->names[i]);
    return true;
}

static int run_revoke(struct request *request)
{
    struct error err = {0};

    if (request->n_names < 1) {
        cli_errorf("token revoke needs NAME…");
        return EXIT_REFUSED;
    }
    if (!access_change_tokens(request->data_dir, revoke, request, &err))
        return failed(&err);
    for (int i = 0; i < request->n_names; i++)
        printf("token \"%s\" revoked\n", request->names[i]);
    return EXIT_OK;
}

static void print_namespaces(const struct bearer_token *bearer)
{
    if (bearer->n_namespaces == 0)
        fputs("all", stdout);
    for (size_t i = 0; i < bearer->n_namespaces; i++)
        printf("%s%s", i ? "," : "", bearer->namespaces[i]);
}

static int run_list(struct request *request)
{
    scoped_str path = mem_printf("%s/" ACCESS_TOKENS, request->data_dir);
    scoped(bearer_tokens) struct bearer_tokens bearers = {0};
    struct error err = {0};
    int64_t now_ms = clock_wall_ms(clock_real());
    int width = (int)strlen("NAME");

    if (!bearer_tokens_load(&bearers, path, &err))
        return failed(&err);
    for (size_t i = 0; i < bearers.count; i++)
        if ((int)strlen(bearers.items[i].name) > width)
            width = (int)strlen(bearers.items[i].name);
    printf("%-*s   ROLE     CREATED                EXPIRES                NAMESPACES\n", width,
           "NAME");
    for (size_t i = 0; i < bearers.count; i++) {
        const struct bearer_token *bearer = &bearers.items[i];
        char created[TIME_TEXT_MAX] = "", until[TIME_TEXT_MAX] = "never";
        bool is_over = bearer->expires_ms && bearer->expires_ms <= now_ms;

        time_format(bearer->created_ms, created);
        if (bearer->expires_ms)
            time_format(bearer->expires_ms, until);
        printf("%-*s   %-6s   %-20s   %-20s   ", width, bearer->name, role_names[bearer->role],
               created, is_over ? "expired" : until);
        print_namespaces(bearer);
        putchar('\n');
    }
    return EXIT_OK;
}

/* Checks that the data directory exists. Only creating a token may come before the daemon's first
 * start. */
static bool is_there(const char *data_dir)
{
    struct stat info;

    if (stat(data_dir, &info) == 0)
        return true;
    cli_errorf("there is no data directory %s: 'jobflow serve' makes one, --data-dir names another",
               data_dir);
    return false;
}

static int run(const void *options, int n_operands, char **operands)
{
    static const struct {
        const char *name;
        int (*run)(struct request *request);
        bool needs_daemon; /* the data directory must exist */
    } words[] = {{"create", run_create},
                 {"list", run_list, .needs_daemon = true},
                 {"revoke", run_revoke, .needs_daemon = true}};
    struct request request = {.options = options, .n_names = n_operands - 1, .names = operands + 1};
    scoped_str default_dir = access_default_dir();
    struct error err = {0};

    request.data_dir =
        request.options->data_dir ? request.options->data_dir : (const char *)default_dir;
    if (!request.data_dir) {
        cli_errorf("neither XDG_STATE_HOME nor HOME is set: name a directory with --data-dir");
        return EXIT_REFUSED;
    }
    if (!dir_owner_check(request.data_dir, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    for (size_t i = 0; i < countof(words); i++)
        if (strcmp(words[i].name, operands[0]) == 0)
            return words[i].needs_daemon && !is_there(request.data_dir) ? EXIT_FAILED
                                                                        : words[i].run(&request);
    cli_errorf("token: \"%s\" is not one of create, list, revoke", operands[0]);
    return EXIT_REFUSED;
}

const struct command cmd_token = {
    .name = "token",
    .operands = "create NAME|list|revoke NAME…",
    .summary = "Make, list and revoke the tokens that let clients into a daemon",
    .details = "A token is shown once, when it is made; the daemon keeps only its hash. A revoked "
               "token ends with its next request, and its\nwatches at once.",
    .examples = "  jobflow token create ci --role editor -n builds\n"
                "  jobflow token create laptop --role viewer --kubeconfig > laptop.kubeconfig\n"
                "  jobflow token revoke ci",
    .flags = flags,
    .options_size = sizeof(struct token_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .run = run,
};
