/*
 * A right of the table stands for several reviews: one for each of its resources and verbs.
 */
#include "cli/controller/rights_check.h"

#include <string.h>

#include "api/types/text/json_text.h"
#include "base/mem.h"

enum { LIMIT_MS = 10000, WORD_MAX = 64, ANSWER_CREATED = 201, ANSWER_NOT_FOUND = 404 };

#define REVIEWS "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

/* One question: may this process do that? */
struct review {
    struct remote_call call;
    struct check *check;
    const struct right *right;
    char resource[WORD_MAX], verb[WORD_MAX];
    char *body;
};

struct check {
    struct loop *loop;
    struct review *items; /* the reviews, [count] */
    size_t count, cap, open;
};

static void write_review(struct review *review, const char *ns)
{
    const char *slash = strchr(review->resource, '/');
    scoped_str plural = mem_printf("%.*s", (int)strcspn(review->resource, "/"), review->resource);
    scoped(json) json_t *doc = json_pack(
        "{s:s, s:s, s:{s:{s:s, s:s, s:s, s:s*, s:s*, s:s*}}}", "apiVersion",
        "authorization.k8s.io/v1", "kind", "SelfSubjectAccessReview", "spec", "resourceAttributes",
        "group", review->right->group, "resource", plural, "verb", review->verb, "subresource",
        slash ? slash + 1 : NULL, "namespace", ns, "name", review->right->names);

    review->body = json_dumps(doc, JSON_COMPACT);
}

/* Copies the next word of a list separated by blanks; false at its end. */
static bool next_word(const char **list, char out[WORD_MAX])
{
    size_t len = strcspn(*list, " ");

    snprintf(out, WORD_MAX, "%.*s", (int)len, *list);
    *list += len + ((*list)[len] == ' ');
    return len > 0;
}

static void add_right(struct check *check, const struct right *right, const char *ns)
{
    struct review review = {.check = check, .right = right};
    const char *resources = right->resources;

    while (next_word(&resources, review.resource)) {
        const char *verbs = right->verbs;

        while (next_word(&verbs, review.verb)) {
            mem_grow(check->items, check->count, check->cap);
            check->items[check->count] = review;
            write_review(&check->items[check->count++], ns);
        }
    }
}

static void add_rights(struct check *check, const struct rights_wanted *wanted)
{
    for (size_t i = 0; i < rights_count; i++) {
        const struct right *right = &rights[i];
        bool is_own = right->scope == RIGHT_OWN;

        if (!(right->modes & wanted->modes) || right->optional || (is_own && !wanted->lease_ns))
            continue;
        if (right->scope != RIGHT_CLUSTER || !wanted->namespaces)
            add_right(check, right, is_own ? wanted->lease_ns : NULL);
        else
            for (size_t n = 0; wanted->namespaces[n]; n++)
                add_right(check, right, wanted->namespaces[n]);
    }
}

static void on_answer(struct remote_call *call)
{
    struct check *check = container_of(call, struct review, call)->check;

    if (--check->open == 0)
        loop_stop(check->loop);
}

static void ask_all(struct check *check, struct server *server)
{
    check->open = check->count;
    for (size_t i = 0; i < check->count; i++) {
        struct remote_call *call = &check->items[i].call;

        call->method = "POST";
        call->target = REVIEWS;
        call->content_type = "application/json";
        call->body = check->items[i].body;
        call->body_len = strlen(check->items[i].body);
        call->limit_ms = LIMIT_MS;
        call->done = on_answer;
        remote_start(server->remotes[SERVER_CALLS], call);
    }
    loop_run(check->loop);
}

static bool is_allowed(const struct review *review)
{
    const struct buf *text = &review->call.text;
    scoped(json) json_t *doc = json_read(text->data ? text->data : "", text->len);

    return json_is_true(json_object_get(json_object_get(doc, "status"), "allowed"));
}

/* Appends the missing verbs of each resource as one line. */
static void write_missing(const struct check *check, struct buf *out)
{
    const char *before = NULL;

    for (size_t i = 0; i < check->count; i++) {
        const struct review *review = &check->items[i];
        const char *group = review->right->group;
        bool goes_on = before && strcmp(before, review->resource) == 0 &&
                       review->right == check->items[i - 1].right;

        if (!goes_on)
            before = NULL;
        if (is_allowed(review))
            continue;
        if (!before)
            buf_printf(out, "%s%s%s%s: %s", out->len ? "\n" : "", review->resource,
                       *group ? "." : "", group, review->verb);
        else
            buf_printf(out, ", %s", review->verb);
        before = review->resource;
    }
    if (out->len)
        buf_char(out, '\n');
}

static bool judge(struct check *check, struct buf *out, struct error *err)
{
    if (check->open > 0) /* a signal has stopped the loop */
        return error_set(err, ERR_GONE, "", "interrupted");
    for (size_t i = 0; i < check->count; i++) {
        if (check->items[i].call.status == ANSWER_NOT_FOUND)
            return true;
        if (!remote_ok(&check->items[i].call, err))
            return false;
    }
    write_missing(check, out);
    return true;
}

bool rights_find_missing(struct server *server, const struct rights_wanted *wanted, struct buf *out,
                         struct error *err)
{
    struct check check = {.loop = server->loop};
    bool ok;

    add_rights(&check, wanted);
    ask_all(&check, server);
    ok = judge(&check, out, err);
    for (size_t i = 0; i < check.count; i++) {
        remote_call_release(&check.items[i].call);
        free(check.items[i].body);
    }
    mem_free(check.items);
    return ok;
}
