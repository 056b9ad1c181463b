/*
 * FZ-06: request targets and selectors. No route contains a decoded '/', NUL or "..", and parsing a
 * target twice gives the same result.
 */
/* covers: reliability.md FZ-06 FZ-07 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/server/message/accept.h"
#include "api/server/message/continue_token.h"
#include "api/server/rest/filter.h"
#include "api/server/rest/route.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_segment(const char *segment)
{
    assert(*segment && !strchr(segment, '/'));
    assert(strcmp(segment, ".") != 0 && strcmp(segment, "..") != 0);
    for (const char *c = segment; *c; c++)
        assert((unsigned char)*c >= 0x20 && *c != 0x7f);
}

static void check_query(const struct request_target *target)
{
    int64_t number;
    struct error err = {0};

    assert(target->n_pairs <= REQUEST_QUERY_PAIRS_MAX);
    for (size_t i = 0; i < target->n_pairs; i++) {
        struct media media;

        request_query_bool(target, target->keys[i]);
        request_query_int(target, target->keys[i], 0, &number, NULL);
        accept_negotiate(target->values[i], ACCEPT_LIST, PROTOBUF_POSSIBLE, &media, NULL);
    }
    if (!request_query_int(target, "limit", 0, &number, &err))
        assert(err.code == ERR_BAD_REQUEST && err.message[0]);
}

static void check_filter(const struct request_target *target, const struct kind *kind,
                         struct arena *arena)
{
    scoped(filter) struct filter filter = {0};
    struct error err = {0};

    if (!filter_parse(target, kind, NULL, arena, &filter, &err))
        assert(err.code == ERR_BAD_REQUEST && err.message[0]);
}

static void check_token(const char *text)
{
    scoped(buf) struct buf scratch = {0}, printed = {0}, again = {0};
    struct continue_token token, back;

    if (!continue_token_read(text, &scratch, &token, NULL))
        return;
    continue_token_write(&token, &printed);
    assert(continue_token_read(printed.data, &again, &back, NULL));
    assert(back.revision == token.revision && back.given == token.given);
    assert(strcmp(back.after, token.after) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(arena) struct arena *arena = arena_new(0);
    scoped_str text = mem_alloc(size + 1);
    struct request_target target;
    struct route route;
    struct error err = {0};

    if (size)
        memcpy(text, data, size);
    check_token(text);
    if (!request_target_parse(text, arena, &target, &err)) {
        assert((err.code == ERR_BAD_REQUEST || err.code == ERR_NOT_FOUND ||
                err.code == ERR_TARGET_TOO_LONG) &&
               err.message[0]);
        return 0;
    }
    assert(target.n_segments <= REQUEST_SEGMENTS_MAX);
    for (size_t i = 0; i < target.n_segments; i++)
        check_segment(target.segments[i]);
    check_query(&target);
    if (!route_find(&target, &route, &err)) {
        assert(err.code == ERR_NOT_FOUND && !route.kind);
        return 0;
    }
    assert(route.kind && (!route.kind->namespaced || !route.name || route.ns));
    check_filter(&target, route.kind, arena);
    return 0;
}
