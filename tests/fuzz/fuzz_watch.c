/*
 * FZ-09: the bytes of a watch, as api/client/reflector reads them. The owner receives the same
 * events however the bytes are split; the size of an event is bounded; nothing is delivered after
 * the end.
 */
/* covers: reliability.md FZ-09 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "api/client/reflector.h"
#include "base/mem.h"
#include "tests/support/dice.h"
#include "tests/support/scripted_server.h"

enum { EVENT_BYTES_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct follower {
    struct reflector reflector;
    struct buf told;
};

static void tell(struct reflector *reflector, const char *what, json_t *object)
{
    struct follower *follower = container_of(reflector, struct follower, reflector);
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

    buf_printf(&follower->told, "%s %s\n", what, text ? text : "");
    mem_free(text);
}

static void begun(struct reflector *reflector)
{
    tell(reflector, "begun", NULL);
}

static void present(struct reflector *reflector, json_t *object)
{
    tell(reflector, "present", object);
}

static void vanished(struct reflector *reflector, json_t *object)
{
    tell(reflector, "vanished", object);
}

static void listed(struct reflector *reflector)
{
    tell(reflector, "listed", NULL);
}

static void failed(struct reflector *reflector, const struct error *err)
{
    assert(err->code != ERR_NONE && err->message[0]);
    tell(reflector, err->message, NULL);
}

static const struct reflector_ops ops = {begun, present, vanished, listed, failed};

/* Serves an empty collection at revision 7. The first watch sends the input, later ones nothing. */
static void serve(void *ctx, struct scripted_exchange *ask)
{
    int *watches = ctx;
    bool is_watch = strstr(ask->target, "watch=true");

    ask->status = 200;
    ask->stays_open = is_watch && !*watches;
    ask->silent = is_watch && *watches;
    *watches += is_watch;
    if (!is_watch)
        buf_str(&ask->text, "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}");
}

/* Returns the size of the next piece: the rest of the input, or random. */
static size_t piece(struct dice *dice, size_t left)
{
    size_t len = dice ? (size_t)dice_roll(dice, 8) + 1 : left;

    return len < left ? len : left;
}

static void follow(const uint8_t *data, size_t size, struct dice *dice, struct buf *out)
{
    struct clock *clock = clock_virtual_new(1767225600000, 1);
    struct loop *loop = loop_new(clock);
    int watches = 0;
    struct scripted_server *scripted = scripted_new(loop, serve, &watches);
    struct remote *remote = remote_new(loop, scripted_transport(scripted), NULL);
    struct follower follower = {
        .reflector = {.ops = &ops, .remote = remote, .event_bytes_max = EVENT_BYTES_MAX}};

    follower.reflector.collection = mem_strdup("/api/v1/configmaps");
    reflector_start(&follower.reflector);
    loop_settle(loop);
    assert(follower.reflector.synced && scripted_has_open(scripted));
    for (size_t at = 0, len; at < size && scripted_has_open(scripted); at += len) {
        len = piece(dice, size - at);
        scripted_send_bytes(scripted, data + at, len);
    }
    if (scripted_has_open(scripted))
        scripted_end(scripted, SCRIPTED_COMPLETE);
    buf_printf(&follower.told, "from %s\n",
               follower.reflector.revision ? follower.reflector.revision : "the beginning");
    reflector_stop(&follower.reflector);
    remote_free(remote);
    scripted_free(scripted);
    loop_free(loop);
    clock_free(clock);
    *out = follower.told;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(buf) struct buf whole = {0}, cut = {0};
    struct dice dice = {size};

    follow(data, size, NULL, &whole);
    follow(data, size, &dice, &cut);
    assert(whole.len == cut.len && memcmp(whole.data, cut.data, whole.len) == 0);
    return 0;
}
