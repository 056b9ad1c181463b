/* Electing one of several by a Lease. covers: kube-api.md 136 137 */
#include "tests/unit.h"

#include <ctype.h>

#include "api/client/elector.h"
#include "api/types/text/json_text.h"
#include "tests/support/scripted_server.h"

enum { CANDIDATES = 2 };

/* A strict server with one lease; a candidate may be cut off from it. */
struct rig;
struct candidate {
    struct elector elector;
    struct rig *rig;
    struct scripted_server *scripted;
    struct remote *remote;
    bool cut_off, silent; /* its requests fail, or get no answer */
    bool leads;
    int64_t lost_at_ms;
    int led, released;
};

struct rig {
    struct clock *clock;
    struct loop *loop;
    struct candidate candidates[CANDIDATES];
    json_t *lease; /* as stored; NULL: none */
    int revision, writes;
};

/* ---- the server ---- */

static void status(struct scripted_exchange *ask, int code, const char *reason)
{
    ask->status = code;
    buf_printf(&ask->text, "{\"kind\":\"Status\",\"code\":%d,\"reason\":\"%s\",\"message\":\"no\"}",
               code, reason);
}

/* 2026-01-01T00:00:00.123456Z, as kube-apiserver reads it. */
static bool is_micro_time(const char *text)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd.ddddddZ";

    if (!text || strlen(text) != strlen(form))
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    return true;
}

static const char *member(const json_t *doc, const char *part, const char *key)
{
    return json_string_value(json_object_get(json_object_get(doc, part), key));
}

static void store(struct rig *rig, struct scripted_exchange *ask, json_t *doc)
{
    scoped_str revision = mem_printf("%d", ++rig->revision);

    check("acquireTime", is_micro_time(member(doc, "spec", "acquireTime")));
    check("renewTime", is_micro_time(member(doc, "spec", "renewTime")));
    json_object_set_new(json_object_get(doc, "metadata"), "resourceVersion", json_string(revision));
    json_decref(rig->lease);
    rig->lease = json_incref(doc);
    rig->writes++;
    ask->status = strcmp(ask->method, "POST") == 0 ? 201 : 200;
    json_text(doc, &ask->text);
}

static void serve(void *ctx, struct scripted_exchange *ask)
{
    struct candidate *candidate = ctx;
    struct rig *rig = candidate->rig;
    scoped(json) json_t *doc = json_loads(ask->body, 0, NULL);

    ask->silent = candidate->silent;
    if (candidate->cut_off || candidate->silent)
        return;
    if (strcmp(ask->method, "GET") == 0) {
        if (!rig->lease) {
            status(ask, 404, "NotFound");
            return;
        }
        ask->status = 200;
        json_text(rig->lease, &ask->text);
    } else if (strcmp(ask->method, "POST") == 0 && rig->lease) {
        status(ask, 409, "AlreadyExists");
    } else if (strcmp(ask->method, "PUT") == 0 &&
               strcmp(member(doc, "metadata", "resourceVersion"),
                      member(rig->lease, "metadata", "resourceVersion")) != 0) {
        status(ask, 409, "Conflict");
    } else {
        store(rig, ask, doc);
    }
}

/* ---- the candidates ---- */

static int64_t now_ms(const struct rig *rig)
{
    return loop_mono_ns(rig->loop) / 1000000;
}

static void on_leads(struct elector *elector)
{
    struct candidate *candidate = container_of(elector, struct candidate, elector);

    candidate->leads = true;
    candidate->led++;
    for (int i = 0; i < CANDIDATES; i++)
        if (&candidate->rig->candidates[i] != candidate)
            check("one leader", !elector_leads(&candidate->rig->candidates[i].elector));
}

static void on_lost(struct elector *elector, const char *why)
{
    struct candidate *candidate = container_of(elector, struct candidate, elector);

    check("a reason", *why);
    candidate->leads = false;
    candidate->lost_at_ms = now_ms(candidate->rig);
}

static void on_released(struct elector *elector)
{
    container_of(elector, struct candidate, elector)->released++;
}

static struct rig *rig_new(void)
{
    static const char *const names[CANDIDATES] = {"host_1", "host_2"};
    struct rig *rig = mem_alloc(sizeof *rig);

    rig->clock = clock_virtual_new(1767225600000, 7);
    rig->loop = loop_new(rig->clock);
    for (int i = 0; i < CANDIDATES; i++) {
        struct candidate *candidate = &rig->candidates[i];

        candidate->rig = rig;
        candidate->scripted = scripted_new(rig->loop, serve, candidate);
        candidate->remote = remote_new(rig->loop, scripted_transport(candidate->scripted), NULL);
        candidate->elector = (struct elector){.remote = candidate->remote,
                                              .ns = "kube-system",
                                              .name = "jobflow",
                                              .identity = names[i],
                                              .leads = on_leads,
                                              .lost = on_lost,
                                              .released = on_released};
    }
    return rig;
}

static void rig_free(struct rig *rig)
{
    for (int i = 0; i < CANDIDATES; i++) {
        elector_stop(&rig->candidates[i].elector);
        remote_free(rig->candidates[i].remote);
        scripted_free(rig->candidates[i].scripted);
    }
    json_decref(rig->lease);
    loop_free(rig->loop);
    clock_free(rig->clock);
    mem_free(rig);
}

/* Both at work; the first leads. */
static struct rig *rig_with_leader(void)
{
    struct rig *rig = rig_new();

    elector_start(&rig->candidates[0].elector);
    loop_settle(rig->loop);
    elector_start(&rig->candidates[1].elector);
    loop_advance(rig->loop, 60000);
    check("the first", rig->candidates[0].leads && !rig->candidates[1].leads);
    return rig;
}

static int64_t transitions(const struct rig *rig)
{
    return json_integer_value(
        json_object_get(json_object_get(rig->lease, "spec"), "leaseTransitions"));
}

/* ---- cases ---- */

static void of_two_that_come_together_one_leads(void **state)
{
    struct rig *rig = rig_new();

    elector_start(&rig->candidates[0].elector);
    elector_start(&rig->candidates[1].elector);
    loop_advance(rig->loop, 600000);
    check_int("one", rig->candidates[0].led + rig->candidates[1].led, 1);
    check_int("the lease was made", transitions(rig), 0);
    check_int("renewed every two seconds", rig->writes, 301);
    rig_free(rig);
}

static void when_the_leader_dies_the_other_takes_over_in_time(void **state)
{
    struct rig *rig = rig_with_leader();
    int64_t died_ms = now_ms(rig);
    scoped_str before = mem_strdup(member(rig->lease, "spec", "acquireTime"));

    elector_stop(&rig->candidates[0].elector);
    while (!rig->candidates[1].leads && now_ms(rig) < died_ms + 60000)
        loop_advance(rig->loop, 10);
    /* since it last saw a renewal; its own look comes every 2 to 4.4 s */
    check("not before the lease has run out", now_ms(rig) - died_ms >= 13000);
    check("soon afterwards", now_ms(rig) - died_ms <= 15000 + 4400 + 4400);
    check_int("a transition", transitions(rig), 1);
    check("acquired anew", strcmp(before, member(rig->lease, "spec", "acquireTime")) != 0);
    check_str("holder", member(rig->lease, "spec", "holderIdentity"), "host_2");
    rig_free(rig);
}

static void a_leader_whose_writes_fail_stops_before_another_begins(void **state)
{
    static const struct {
        const char *name;
        bool cut_off, silent;
    } ways[] = {{"refused", true, false}, {"no answer", false, true}};

    for (size_t i = 0; i < countof(ways); i++) {
        struct rig *rig = rig_with_leader();
        int64_t cut_ms = now_ms(rig);

        rig->candidates[0].cut_off = ways[i].cut_off;
        rig->candidates[0].silent = ways[i].silent;
        loop_advance(rig->loop, 7000);
        check(ways[i].name, rig->candidates[0].leads); /* a short trouble is none */
        loop_advance(rig->loop, 60000);
        check(ways[i].name, !rig->candidates[0].leads && rig->candidates[1].leads);
        check(ways[i].name, rig->candidates[0].lost_at_ms - cut_ms <= 10000);
        rig->candidates[0].cut_off = rig->candidates[0].silent = false;
        loop_advance(rig->loop, 60000);
        check(ways[i].name, !rig->candidates[0].leads && rig->candidates[1].leads);
        rig_free(rig);
    }
}

static void a_short_trouble_does_not_end_leadership(void **state)
{
    struct rig *rig = rig_with_leader();

    for (int i = 0; i < 5; i++) {
        rig->candidates[0].cut_off = true;
        loop_advance(rig->loop, 6000);
        rig->candidates[0].cut_off = false;
        loop_advance(rig->loop, 6000);
    }
    check_int("never lost", rig->candidates[0].led, 1);
    check_int("the other waits", rig->candidates[1].led, 0);
    check_int("no transition", transitions(rig), 0);
    rig_free(rig);
}

static void a_released_lease_is_taken_at_once(void **state)
{
    struct rig *rig = rig_with_leader();
    int64_t released_ms = now_ms(rig);

    elector_release(&rig->candidates[0].elector);
    check("no more", !elector_leads(&rig->candidates[0].elector));
    loop_settle(rig->loop);
    check_int("told", rig->candidates[0].released, 1);
    check_str("nobody's", member(rig->lease, "spec", "holderIdentity"), "");
    loop_advance(rig->loop, 4401);
    check("the other", rig->candidates[1].leads);
    check("soon", now_ms(rig) - released_ms < 5000);
    elector_release(&rig->candidates[0].elector);
    loop_settle(rig->loop);
    check_int("who holds none is told, too", rig->candidates[0].released, 2);
    rig_free(rig);
}

/* Somebody else's clock is an hour behind ours: his lease holds all the same. */
static void clocks_of_others_do_not_count(void **state)
{
    struct rig *rig = rig_new();

    rig->lease =
        json_pack("{s:s,s:s,s:{s:s,s:s,s:s},s:{s:s,s:i,s:s,s:s,s:i}}", "apiVersion",
                  "coordination.k8s.io/v1", "kind", "Lease", "metadata", "name", "jobflow",
                  "namespace", "kube-system", "resourceVersion", "1", "spec", "holderIdentity",
                  "other", "leaseDurationSeconds", 15, "acquireTime", "2025-12-31T23:00:00.000000Z",
                  "renewTime", "2025-12-31T23:00:00.000000Z", "leaseTransitions", 4);
    rig->revision = 1;
    elector_start(&rig->candidates[0].elector);
    loop_advance(rig->loop, 14999);
    check("it has just been seen", !rig->candidates[0].leads);
    loop_advance(rig->loop, 5000);
    check("it has not been renewed", rig->candidates[0].leads);
    check_int("counted", transitions(rig), 5);
    rig_free(rig);
}

static void a_lease_taken_away_ends_leadership(void **state)
{
    struct rig *rig = rig_with_leader();
    json_t *spec = json_object_get(rig->lease, "spec");

    json_object_set_new(spec, "holderIdentity", json_string("somebody"));
    json_object_set_new(json_object_get(rig->lease, "metadata"), "resourceVersion",
                        json_string("999"));
    rig->revision = 999;
    loop_advance(rig->loop, 4100); /* a conflict, and a look */
    check("stopped", !rig->candidates[0].leads);
    rig_free(rig);
}

static void a_lease_made_by_hand_is_taken(void **state)
{
    struct rig *rig = rig_new();

    rig->lease =
        json_pack("{s:s,s:s,s:{s:s,s:s,s:s,s:{s:s}}}", "apiVersion", "coordination.k8s.io/v1",
                  "kind", "Lease", "metadata", "name", "jobflow", "namespace", "kube-system",
                  "resourceVersion", "1", "labels", "kept", "yes");
    rig->revision = 1;
    elector_start(&rig->candidates[0].elector);
    loop_settle(rig->loop);
    check("leads", rig->candidates[0].leads);
    check_str("what others wrote stays",
              json_string_value(json_object_get(
                  json_object_get(json_object_get(rig->lease, "metadata"), "labels"), "kept")),
              "yes");
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_two_that_come_together_one_leads),
        cmocka_unit_test(when_the_leader_dies_the_other_takes_over_in_time),
        cmocka_unit_test(a_leader_whose_writes_fail_stops_before_another_begins),
        cmocka_unit_test(a_short_trouble_does_not_end_leadership),
        cmocka_unit_test(a_released_lease_is_taken_at_once),
        cmocka_unit_test(clocks_of_others_do_not_count),
        cmocka_unit_test(a_lease_taken_away_ends_leadership),
        cmocka_unit_test(a_lease_made_by_hand_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
