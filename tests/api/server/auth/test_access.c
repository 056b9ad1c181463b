/*
 * Access control: roles from groups, the authorization table, bearer tokens, authentication and the
 * check of Host and Origin.
 */
#include "tests/unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "api/server/auth/authn.h"
#include "api/server/auth/authz.h"
#include "api/server/http/host_check.h"
#include "api/types/kind.h"
#include "base/clock.h"
#include "base/collections/arena.h"
#include "base/file.h"
#include "base/mem.h"

enum sender { ANONYMOUS, VIEWER, EDITOR, EDITOR_OF_A, ADMIN };
enum { SENDER_N = ADMIN + 1 };

static struct identity *new_sender(enum sender sender)
{
    static const char *const a[] = {"a"};

    switch (sender) {
    case VIEWER:
        return identity_with_role("viewer", ROLE_VIEWER, NULL, 0);
    case EDITOR:
        return identity_with_role("editor", ROLE_EDITOR, NULL, 0);
    case EDITOR_OF_A:
        return identity_with_role("editor-a", ROLE_EDITOR, a, 1);
    case ADMIN:
        return identity_with_role("admin", ROLE_ADMIN, NULL, 0);
    case ANONYMOUS:
        break;
    }
    return identity_anonymous();
}

static void rights_come_from_groups(void **state)
{
    static const struct {
        const char *group;
        enum role everywhere, in_a;
    } cases[] = {
        {"system:masters", ROLE_ADMIN, ROLE_ADMIN},
        {"jobflow:admin", ROLE_ADMIN, ROLE_ADMIN},
        {"jobflow:viewer", ROLE_VIEWER, ROLE_VIEWER},
        {"jobflow:editor:a", ROLE_NONE, ROLE_EDITOR},
        {"jobflow:editor:b", ROLE_NONE, ROLE_NONE},
        {"jobflow:editor:", ROLE_NONE, ROLE_NONE},
        {"jobflow:admin:a", ROLE_NONE, ROLE_NONE},
        {"jobflow:editors", ROLE_NONE, ROLE_NONE},
        {"editor", ROLE_NONE, ROLE_NONE},
        {"", ROLE_NONE, ROLE_NONE},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(identity) struct identity *sender = identity_new("x", &cases[i].group, 1);

        check_int(cases[i].group, identity_role(sender, NULL), cases[i].everywhere);
        check_int(cases[i].group, identity_role(sender, "a"), cases[i].in_a);
    }
}

struct access_case {
    enum api_method method;
    const char *target;
    bool allowed[SENDER_N];
};

/* clang-format off */
static const struct access_case access_cases[] = {
    /* Whether each row is allowed for: anonymous, viewer, editor, editor of namespace a,
     * administrator. */
    {API_GET,    "/livez",                                              {1, 1, 1, 1, 1}},
    {API_GET,    "/readyz?verbose",                                     {1, 1, 1, 1, 1}},
    {API_GET,    "/healthz",                                            {0, 1, 1, 1, 1}},
    {API_GET,    "/version",                                            {0, 1, 1, 1, 1}},
    {API_GET,    "/api",                                                {0, 1, 1, 1, 1}},
    {API_GET,    "/apis/flow.volcano.sh/v1alpha1",                      {0, 1, 1, 1, 1}},
    {API_GET,    "/openapi/v3",                                         {0, 1, 1, 1, 1}},
    {API_GET,    "/metrics",                                            {0, 0, 0, 0, 1}},
    {API_GET,    "/debug/pprof",                                        {0, 0, 0, 0, 1}},
    {API_GET,    "/nobody/knows",                                       {0, 0, 0, 0, 1}},
    {API_POST,   "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {0, 1, 1, 1, 1}},
    {API_GET,    "/apis/flow.volcano.sh/v1alpha1/jobflows",             {0, 1, 1, 0, 1}},
    {API_GET,    "/apis/flow.volcano.sh/v1alpha1/namespaces/a/jobflows",   {0, 1, 1, 1, 1}},
    {API_GET,    "/apis/flow.volcano.sh/v1alpha1/namespaces/b/jobflows/x", {0, 1, 1, 0, 1}},
    {API_POST,   "/apis/flow.volcano.sh/v1alpha1/namespaces/a/jobflows",   {0, 0, 1, 1, 1}},
    {API_POST,   "/apis/flow.volcano.sh/v1alpha1/namespaces/b/jobflows",   {0, 0, 1, 0, 1}},
    {API_PATCH,  "/apis/flow.volcano.sh/v1alpha1/namespaces/a/jobflows/x", {0, 0, 1, 1, 1}},
    {API_DELETE, "/apis/flow.volcano.sh/v1alpha1/namespaces/a/jobflows",   {0, 0, 1, 1, 1}},
    {API_GET,    "/apis/flow.volcano.sh/v1alpha1/namespaces/a/jobflows/x/status", {0, 1, 1, 1, 1}},
    {API_PUT,    "/apis/flow.volcano.sh/v1alpha1/namespaces/a/jobflows/x/status", {0, 0, 0, 0, 1}},
    {API_GET,    "/apis/batch.volcano.sh/v1alpha1/namespaces/a/jobs/x/status",  {0, 1, 1, 1, 1}},
    {API_PATCH,  "/apis/batch.volcano.sh/v1alpha1/namespaces/a/jobs/x/status",  {0, 0, 0, 0, 1}},
    {API_GET,    "/api/v1/namespaces/a/secrets",                        {0, 0, 1, 1, 1}},
    {API_GET,    "/api/v1/namespaces/a/secrets?watch=1",                {0, 0, 1, 1, 1}},
    {API_GET,    "/api/v1/secrets",                                     {0, 0, 1, 0, 1}},
    {API_GET,    "/api/v1/namespaces/a/pods/p/log",                     {0, 1, 1, 1, 1}},
    {API_POST,   "/api/v1/namespaces/a/pods/p/exec",                    {0, 0, 1, 1, 1}},
    {API_POST,   "/api/v1/namespaces/a/pods/p/eviction",                {0, 0, 1, 1, 1}},
    {API_POST,   "/api/v1/namespaces/a/pods/p/binding",                 {0, 0, 0, 0, 1}},
    {API_GET,    "/api/v1/namespaces",                                  {0, 1, 1, 1, 1}},
    {API_GET,    "/api/v1/namespaces/b",                                {0, 1, 1, 1, 1}},
    {API_POST,   "/api/v1/namespaces",                                  {0, 0, 0, 0, 1}},
    {API_DELETE, "/api/v1/namespaces/a",                                {0, 0, 0, 0, 1}},
    {API_PUT,    "/api/v1/namespaces/a/status",                         {0, 0, 0, 0, 1}},
    {API_GET,    "/api/v1/nodes",                                       {0, 1, 1, 1, 1}},
    {API_PATCH,  "/api/v1/nodes/n",                                     {0, 0, 0, 0, 1}},
    {API_PATCH,  "/apis/scheduling.volcano.sh/v1beta1/queues/q",        {0, 0, 0, 0, 1}},
    {API_GET,    "/apis/unknown.io/v1/namespaces/a/things",             {0, 0, 0, 0, 1}},
};
/* clang-format on */

/* covers: reliability.md SEC-04 SEC-12 FT-32; kube-api.md 16 */
static void each_request_needs_its_role(void **state)
{
    for (size_t i = 0; i < countof(access_cases); i++)
        for (int sender = ANONYMOUS; sender < SENDER_N; sender++) {
            const struct access_case *c = &access_cases[i];
            scoped(identity) struct identity *identity = new_sender((enum sender)sender);
            scoped(arena) struct arena *arena = arena_new(0);
            scoped_str name = mem_printf("%s %d %s", identity->user, c->method, c->target);
            struct request_target target;
            struct authz_attributes ask;

            check("parsed", request_target_parse(c->target, arena, &target, NULL));
            authz_attributes_of(&target, c->method, c->target, &ask);
            check_int(name, authz_allows(identity, &ask), c->allowed[sender]);
        }
}

/* covers: reliability.md SEC-04 */
static void every_kind_has_a_rule(void **state)
{
    for (int id = 0; id < KIND_N; id++) {
        const struct kind *kind = kind_by_id((enum kind_id)id);
        bool found = false;

        for (const struct authz_rule *rule = authz_rules; rule->resource; rule++)
            if (strcmp(rule->resource, kind->plural) == 0 &&
                strcmp(rule->group, kind->group) == 0) {
                found = true;
                check_int(kind->name, rule->cluster, !kind->namespaced);
            }
        check(kind->name, found);
    }
}

/* covers: kube-api.md 16 */
static void a_refusal_names_user_verb_and_resource(void **state)
{
    static const struct {
        enum api_method method;
        const char *target, *text;
    } cases[] = {
        {API_POST, "/apis/flow.volcano.sh/v1alpha1/namespaces/a/jobflows",
         "jobflows.flow.volcano.sh is forbidden: User \"viewer\" cannot create resource "
         "\"jobflows\" in API group \"flow.volcano.sh\" in the namespace \"a\""},
        {API_GET, "/api/v1/namespaces/a/secrets/s",
         "secrets \"s\" is forbidden: User \"viewer\" cannot get resource \"secrets\" in API group "
         "\"\" in the namespace \"a\""},
        {API_DELETE, "/api/v1/nodes/n",
         "nodes \"n\" is forbidden: User \"viewer\" cannot delete resource \"nodes\" in API group "
         "\"\" at the cluster scope"},
        {API_GET, "/metrics", "forbidden: User \"viewer\" cannot get path \"/metrics\""},
    };
    scoped(identity) struct identity *viewer = new_sender(VIEWER);

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(arena) struct arena *arena = arena_new(0);
        struct request_target target;
        struct authz_attributes ask;
        struct error err = {0};

        request_target_parse(cases[i].target, arena, &target, NULL);
        authz_attributes_of(&target, cases[i].method, cases[i].target, &ask);
        authz_refuse(viewer, &ask, &err);
        check_int("code", err.code, ERR_FORBIDDEN);
        check_str(cases[i].target, err.message, cases[i].text);
    }
}

/* covers: reliability.md SEC-03 */
static void tokens_are_kept_as_hashes_and_found_again(void **state)
{
    scoped(bearer_tokens) struct bearer_tokens made = {0}, read = {0};
    scoped_str path = test_path("tokens.json");
    scoped(buf) struct buf text = {0};
    static const char *const namespaces[] = {"a", "b"};
    static const struct bearer_token_request root = {.name = "root",
                                                     .role = ROLE_ADMIN,
                                                     .now_ms = 1000},
                                             ci = {.name = "ci",
                                                   .role = ROLE_EDITOR,
                                                   .namespaces = namespaces,
                                                   .n_namespaces = 2,
                                                   .now_ms = 1000,
                                                   .expires_ms = 5000},
                                             malformed = {.name = "../x", .role = ROLE_VIEWER};
    char admin[BEARER_TEXT + 1], editor[BEARER_TEXT + 1];
    const struct bearer_token *found;
    struct error err = {0};
    struct stat info;

    check_ok("admin", bearer_tokens_add(&made, &root, admin, &err), err);
    check_ok("editor", bearer_tokens_add(&made, &ci, editor, &err), err);
    check("taken", !bearer_tokens_add(&made, &ci, editor, &err));
    check_int("code", err.code, ERR_EXISTS);
    check("no name", !bearer_tokens_add(&made, &malformed, editor, &err));
    check("differ", strcmp(admin, editor) != 0);
    check_ok("saved", bearer_tokens_save(&made, path, &err), err);
    check_int("there", stat(path, &info), 0);
    check_int("mode", info.st_mode & 0777, 0600);
    file_read(path, 1 << 20, &text, NULL);
    check("no token in it", !strstr(text.data, admin + 3) && !strstr(text.data, editor + 3));

    check_ok("read", bearer_tokens_load(&read, path, &err), err);
    found = bearer_tokens_find(&read, editor, BEARER_TEXT, 4999);
    check("found", found != NULL);
    check_str("name", found->name, "ci");
    check_int("rights", identity_role(found->identity, "b"), ROLE_EDITOR);
    check_int("nowhere else", identity_role(found->identity, "c"), ROLE_NONE);
    check("expired", !bearer_tokens_find(&read, editor, BEARER_TEXT, 5000));
    check("a part is nothing", !bearer_tokens_find(&read, admin, BEARER_TEXT - 1, 0));
    check("removed", bearer_tokens_remove(&read, "root") && !bearer_tokens_remove(&read, "root"));
    check("gone", !bearer_tokens_find(&read, admin, BEARER_TEXT, 0));
}

/* The hashes of some of these texts share the first byte with that of the token.
 * covers: reliability.md SEC-03 */
static void only_the_whole_token_is_accepted(void **state)
{
    enum { TEXTS = 4096 };
    static const struct bearer_token_request root = {.name = "root", .role = ROLE_ADMIN};
    scoped(bearer_tokens) struct bearer_tokens tokens = {0};
    char text[BEARER_TEXT + 1];
    struct error err = {0};

    check_ok("add", bearer_tokens_add(&tokens, &root, text, &err), err);
    for (int i = 0; i < TEXTS; i++) {
        scoped_str other = mem_printf("jf_%d", i);

        check(other, !bearer_tokens_find(&tokens, other, strlen(other), 0));
    }
    check("itself", bearer_tokens_find(&tokens, text, BEARER_TEXT, 0) != NULL);
}

/* covers: reliability.md SEC-03 SEC-16 */
static void a_token_file_that_is_open_or_damaged_is_refused(void **state)
{
    static const struct {
        const char *name, *text;
        mode_t mode;
        enum error_code code;
    } cases[] = {
        {"open to the group", "{\"tokens\":[]}", 0640, ERR_FORBIDDEN},
        {"open to all", "{\"tokens\":[]}", 0604, ERR_FORBIDDEN},
        {"no JSON", "{", 0600, ERR_BAD_REQUEST},
        {"no list", "{}", 0600, ERR_INVALID},
        {"no role", "{\"tokens\":[{\"name\":\"a\",\"sha256\":\"00\"}]}", 0600, ERR_INVALID},
        {"a short hash", "{\"tokens\":[{\"name\":\"a\",\"role\":\"admin\",\"sha256\":\"00\"}]}",
         0600, ERR_INVALID},
        {"an expiry that is no time",
         "{\"tokens\":[{\"name\":\"a\",\"role\":\"admin\",\"expiresAt\":\"soon\",\"sha256\":"
         "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}]}",
         0600, ERR_INVALID},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(bearer_tokens) struct bearer_tokens bearers = {0};
        scoped_str path = test_path("bad.json");
        struct error err = {0};

        file_write_atomic(path, cases[i].text, strlen(cases[i].text), cases[i].mode, NULL);
        check(cases[i].name, !bearer_tokens_load(&bearers, path, &err));
        check_int(cases[i].name, err.code, cases[i].code);
    }
}

struct authn_fixture {
    struct clock *clock;
    struct loop *loop;
    struct authn *authn;
    char *path;
    char admin[BEARER_TEXT + 1], ci[BEARER_TEXT + 1];
};

static void fixture_start(struct authn_fixture *fixture)
{
    static const struct bearer_token_request root = {.name = "root", .role = ROLE_ADMIN},
                                             ci = {.name = "ci", .role = ROLE_EDITOR};
    scoped(bearer_tokens) struct bearer_tokens made = {0};

    fixture->clock = clock_virtual_new(1767225600000, 3);
    fixture->loop = loop_new(fixture->clock);
    fixture->path = test_path("tokens.json");
    bearer_tokens_add(&made, &root, fixture->admin, NULL);
    bearer_tokens_add(&made, &ci, fixture->ci, NULL);
    check("saved", bearer_tokens_save(&made, fixture->path, NULL));
    fixture->authn = authn_new(fixture->loop, fixture->path);
}

static void fixture_stop(struct authn_fixture *fixture)
{
    authn_free(fixture->authn);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
    mem_free(fixture->path);
}

/* Returns the user's name, or the HTTP status of the refusal. */
static char *authenticate(struct authn_fixture *fixture, struct credentials credentials,
                          const char *authorization)
{
    struct error err = {0};
    scoped(identity) struct identity *sender = NULL;

    if (authorization)
        credentials.authorization = (struct header_value){authorization, strlen(authorization)};
    if (!credentials.peer)
        credentials.peer = "10.0.0.1";
    sender = authn_authenticate(fixture->authn, &credentials, &err);
    return sender ? mem_strdup(sender->user) : mem_printf("%d", error_http_status(err.code));
}

static void check_sender(struct authn_fixture *fixture, const char *name,
                         struct credentials credentials, const char *authorization,
                         const char *wanted)
{
    scoped_str got = authenticate(fixture, credentials, authorization);

    check_str(name, got, wanted);
}

/* covers: kube-api.md 15; reliability.md SEC-02 */
static void a_wrong_credential_is_never_anonymous(void **state)
{
    scoped(identity) struct identity *cert = identity_new("carol", NULL, 0);
    scoped(identity) struct identity *owner = new_sender(ADMIN);
    struct authn_fixture fixture;

    fixture_start(&fixture);

    scoped_str good = mem_printf("Bearer %s", fixture.ci);
    scoped_str lower = mem_printf("bearer %s", fixture.ci);

    check_sender(&fixture, "nothing", (struct credentials){0}, NULL, "system:anonymous");
    check_sender(&fixture, "a token", (struct credentials){0}, good, "ci");
    check_sender(&fixture, "the scheme in any case", (struct credentials){0}, lower, "ci");
    check_sender(&fixture, "a wrong token", (struct credentials){0}, "Bearer jf_x", "401");
    check_sender(&fixture, "another scheme", (struct credentials){0}, "Basic YTpi", "401");
    check_sender(&fixture, "an empty one", (struct credentials){0}, "Bearer ", "401");
    check_sender(&fixture, "a certificate", (struct credentials){.certificate = cert}, NULL,
                 "carol");
    check_sender(&fixture, "a foreign one", (struct credentials){.certificate_refused = true}, NULL,
                 "401");
    check_sender(&fixture, "the socket's owner", (struct credentials){.socket = owner}, NULL,
                 "admin");
    check_sender(&fixture, "a token takes precedence over the socket",
                 (struct credentials){.socket = owner}, good, "ci");
    check_sender(&fixture, "… also when it is wrong", (struct credentials){.socket = owner},
                 "Bearer x", "401");
    fixture_stop(&fixture);
}

enum { OTHER_PEERS = 64 };

/* Returns how many of the other peers may still fail. Failures are counted in buckets by a hash
 * that differs from process to process: a few peers may share the bucket of the first one, but
 * never half. */
static int count_unaffected_peers(struct authn_fixture *fixture)
{
    int unaffected = 0;

    for (int i = 0; i < OTHER_PEERS; i++) {
        scoped_str peer = mem_printf("10.0.1.%d", i);
        scoped_str got = authenticate(fixture, (struct credentials){.peer = peer}, "Bearer x");

        unaffected += strcmp(got, "401") == 0;
    }
    return unaffected;
}

/* covers: reliability.md SEC-07 */
static void failures_are_bounded_by_peer_and_second(void **state)
{
    struct authn_fixture fixture;

    fixture_start(&fixture);
    for (int i = 0; i < 10; i++)
        check_sender(&fixture, "try", (struct credentials){0}, "Bearer x", "401");
    check_sender(&fixture, "one too many", (struct credentials){0}, "Bearer x", "429");
    check("others are not held up", count_unaffected_peers(&fixture) > OTHER_PEERS / 2);
    check_sender(&fixture, "nor is what is right", (struct credentials){0}, NULL,
                 "system:anonymous");
    clock_advance_ms(fixture.clock, 1000);
    check_sender(&fixture, "a second later", (struct credentials){0}, "Bearer x", "401");
    fixture_stop(&fixture);
}

/* covers: reliability.md SEC-03 */
static void a_revoked_token_ends_and_others_keep_their_identity(void **state)
{
    scoped(bearer_tokens) struct bearer_tokens bearers = {0};
    struct error err = {0};
    struct authn_fixture fixture;

    fixture_start(&fixture);

    scoped_str ci = mem_printf("Bearer %s", fixture.ci);
    scoped_str root = mem_printf("Bearer %s", fixture.admin);
    const struct credentials with_root = {.authorization = {root, strlen(root)}},
                             with_ci = {.authorization = {ci, strlen(ci)}};
    scoped(identity) struct identity *before = authn_authenticate(fixture.authn, &with_root, &err);
    scoped(identity) struct identity *held = authn_authenticate(fixture.authn, &with_ci, &err);

    check_ok("load", bearer_tokens_load(&bearers, fixture.path, &err), err);
    bearer_tokens_remove(&bearers, "ci");
    check_ok("save", bearer_tokens_save(&bearers, fixture.path, &err), err);
    check_sender(&fixture, "revoked", (struct credentials){0}, ci, "401");
    check("marked", held->revoked && !before->revoked);

    scoped(identity) struct identity *after = authn_authenticate(fixture.authn, &with_root, &err);

    check("the same", before == after);
    fixture_stop(&fixture);
}

static struct bearer_token *token_named(struct bearer_tokens *tokens, const char *name)
{
    for (size_t i = 0; i < tokens->count; i++)
        if (strcmp(tokens->items[i].name, name) == 0)
            return &tokens->items[i];
    return NULL;
}

/* covers: reliability.md SEC-03 */
static void a_token_whose_role_has_changed_has_the_new_one(void **state)
{
    scoped(bearer_tokens) struct bearer_tokens bearers = {0};
    struct error err = {0};
    struct authn_fixture fixture;

    fixture_start(&fixture);

    scoped_str ci = mem_printf("Bearer %s", fixture.ci);
    const struct credentials with_ci = {.authorization = {ci, strlen(ci)}};
    scoped(identity) struct identity *before = authn_authenticate(fixture.authn, &with_ci, &err);

    check_ok("load", bearer_tokens_load(&bearers, fixture.path, &err), err);
    check("more than a viewer", identity_best_role(before) > ROLE_VIEWER);
    token_named(&bearers, "ci")->role = ROLE_VIEWER;
    check_ok("save", bearer_tokens_save(&bearers, fixture.path, &err), err);

    scoped(identity) struct identity *after = authn_authenticate(fixture.authn, &with_ci, &err);

    check_int("a viewer", identity_best_role(after), ROLE_VIEWER);
    check("its connections end", before->revoked);
    fixture_stop(&fixture);
}

/* covers: web.md WEB-032; reliability.md SEC-03 */
static void a_lent_token_is_good_on_the_socket_until_it_is_withdrawn(void **state)
{
    scoped(identity) struct identity *owner = new_sender(ADMIN);
    const struct credentials network = {0}, local = {.socket = owner};
    char lent[BEARER_TEXT + 1];
    struct error err = {0};
    struct authn_fixture fixture;

    fixture_start(&fixture);

    scoped_str ci = mem_printf("Bearer %s", fixture.ci);
    const struct credentials with_ci = {.authorization = {ci, strlen(ci)}};
    scoped(identity) struct identity *user = authn_authenticate(fixture.authn, &with_ci, &err);

    authn_lend(fixture.authn, user, lent);

    scoped_str shown = mem_printf("Bearer %s", lent);

    check_sender(&fixture, "on the socket", local, shown, "ci");
    check_sender(&fixture, "from the network", network, shown, "401");
    user->revoked = true;
    check_sender(&fixture, "revoked", local, shown, "401");
    user->revoked = false;
    authn_withdraw(fixture.authn, lent);
    check_sender(&fixture, "withdrawn", local, shown, "401");
    fixture_stop(&fixture);
}

/* covers: web.md WEB-032 */
static void a_credential_has_a_text_that_is_no_secret(void **state)
{
    scoped(bearer_tokens) struct bearer_tokens bearers = {0};
    scoped(identity) struct identity *stranger = identity_new("carol", NULL, 0);
    scoped(buf) struct buf text = {0}, uid = {0};
    struct identity *owner = new_sender(ADMIN);
    struct error err = {0};
    struct authn_fixture fixture;
    int64_t expires_ms;
    enum role role;

    fixture_start(&fixture);
    authn_allow_uid(fixture.authn, 7, owner);

    scoped_str ci = mem_printf("Bearer %s", fixture.ci);
    const struct credentials with_ci = {.authorization = {ci, strlen(ci)}};
    scoped(identity) struct identity *user = authn_authenticate(fixture.authn, &with_ci, &err);

    check("of a token", authn_credential_of(fixture.authn, user, &text));
    check("not the secret", !strstr(text.data, fixture.ci));
    check("found", authn_by_credential(fixture.authn, text.data, &expires_ms) == user);
    check("of a local user", authn_credential_of(fixture.authn, owner, &uid));
    check("found", authn_by_credential(fixture.authn, uid.data, &expires_ms) == owner);
    check("of nobody", !authn_credential_of(fixture.authn, stranger, &uid));
    check("nonsense", !authn_by_credential(fixture.authn, "token zz", &expires_ms));
    check("another user", !authn_by_credential(fixture.authn, "uid 8", &expires_ms));
    check_ok("load", bearer_tokens_load(&bearers, fixture.path, &err), err);
    role = token_named(&bearers, "ci")->role;
    token_named(&bearers, "ci")->role = ROLE_VIEWER;
    check_ok("save", bearer_tokens_save(&bearers, fixture.path, &err), err);
    check("another role", !authn_by_credential(fixture.authn, text.data, &expires_ms));
    token_named(&bearers, "ci")->role = role;
    check_ok("save", bearer_tokens_save(&bearers, fixture.path, &err), err);
    check("as before", authn_by_credential(fixture.authn, text.data, &expires_ms) != NULL);
    check_ok("load", bearer_tokens_load(&bearers, fixture.path, &err), err);
    token_named(&bearers, "ci")->name[0] = 'd';
    check_ok("save", bearer_tokens_save(&bearers, fixture.path, &err), err);
    check("another name", !authn_by_credential(fixture.authn, text.data, &expires_ms));
    fixture_stop(&fixture);
}

/* covers: reliability.md SEC-05 */
static void only_known_hosts_and_origins_are_accepted(void **state)
{
    static const char *const hosts[] = {"localhost", "127.0.0.1", "::1"};
    static const char *const origins[] = {"https://ui.example"};
    static const struct host_list list = {hosts, countof(hosts), origins, countof(origins)};
    static const struct {
        const char *host, *origin;
        bool good;
    } cases[] = {
        {"localhost", NULL, true},
        {"LOCALHOST:6480", NULL, true},
        {"127.0.0.1:6480", NULL, true},
        {"[::1]:6480", NULL, true},
        {"evil.example", NULL, false},
        {"localhost.evil.example", NULL, false},
        {"locallost", NULL, false},
        {"128.0.0.1:6480", NULL, false},
        {"127.0.0.1.nip.io", NULL, false},
        {"[::1", NULL, false},
        {"", NULL, false},
        {NULL, NULL, false},
        {"localhost", "null", false},
        {"localhost", "https://evil.example", false},
        {"localhost", "https://xx.example", false},
        {"localhost", "", false},
        {"localhost", "https://ui.example", true},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct request_head head = {0};
        struct error err = {0};

        if (cases[i].host)
            head.host = (struct header_value){cases[i].host, strlen(cases[i].host)};
        if (cases[i].origin)
            head.origin = (struct header_value){cases[i].origin, strlen(cases[i].origin)};
        check_int(cases[i].host ? cases[i].host : "(none)", host_check(&list, &head, &err),
                  cases[i].good);
        check_int("code", err.code, cases[i].good ? ERR_NONE : ERR_FORBIDDEN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rights_come_from_groups),
        cmocka_unit_test(each_request_needs_its_role),
        cmocka_unit_test(every_kind_has_a_rule),
        cmocka_unit_test(a_refusal_names_user_verb_and_resource),
        cmocka_unit_test(tokens_are_kept_as_hashes_and_found_again),
        cmocka_unit_test(only_the_whole_token_is_accepted),
        cmocka_unit_test(a_lent_token_is_good_on_the_socket_until_it_is_withdrawn),
        cmocka_unit_test(a_credential_has_a_text_that_is_no_secret),
        cmocka_unit_test(a_token_whose_role_has_changed_has_the_new_one),
        cmocka_unit_test(a_token_file_that_is_open_or_damaged_is_refused),
        cmocka_unit_test(a_wrong_credential_is_never_anonymous),
        cmocka_unit_test(failures_are_bounded_by_peer_and_second),
        cmocka_unit_test(a_revoked_token_ends_and_others_keep_their_identity),
        cmocka_unit_test(only_known_hosts_and_origins_are_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
