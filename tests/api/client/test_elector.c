/*
 * Tests leader election by a Lease. covers: kube-api.md 136 137
 */
#include "tests/unit.h"

#include <ctype.h>

#include "api/client/elector.h"
#include "api/types/text/json_text.h"
#include "tests/support/scripted_server.h"

enum { CANDIDATES = 2 };

/* A strict server with one lease. It can cut off a candidate. */
struct fixture;
struct candidate {
    struct elector elector;
    struct fixture *fixture;
    struct scripted_server *scripted;
    struct remote *remote;
    bool cut_off, silent; /* requests of the candidate fail; or they get no answer */
    bool unheard;         /* its requests are obeyed, and the answers are lost */
    bool unwatched;       /* it may not list and watch Leases */
    bool leads;
    int64_t lost_at_ms;
    int led, released;
};

struct fixture {
    struct clock *clock;
    struct loop *loop;
    struct candidate candidates[CANDIDATES];
    json_t *lease; /* the Lease as stored; NULL: there is none */
    int revision, writes;
    int64_t written_ms; /* time of the last write that was stored */
};

static void status(struct scripted_exchange *ask, int code, const char *reason)
{
    ask->status = code;
    buf_printf(&ask->text, "{\"kind\":\"Status\",\"code\":%d,\"reason\":\"%s\",\"message\":\"no\"}",
               code, reason);
}

/* Checks for 2026-01-01T00:00:00.123456Z, the format that kube-apiserver reads. */
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

/* Sends the stored Lease to all candidates that watch it. */
static void tell(struct fixture *fixture, const char *event)
{
    scoped(json) json_t *doc = json_pack("{s:s, s:O}", "type", event, "object", fixture->lease);
    scoped(buf) struct buf text = {0};

    json_text(doc, &text);
    buf_char(&text, '\n');
    for (int i = 0; i < CANDIDATES; i++) {
        const struct candidate *candidate = &fixture->candidates[i];

        if (!candidate->cut_off && !candidate->silent && scripted_has_open(candidate->scripted))
            scripted_push(candidate->scripted, text.data);
    }
}

static void store(struct fixture *fixture, struct scripted_exchange *ask, json_t *doc)
{
    scoped_str revision = mem_printf("%d", ++fixture->revision);

    check("acquireTime", is_micro_time(member(doc, "spec", "acquireTime")));
    check("renewTime", is_micro_time(member(doc, "spec", "renewTime")));
    json_object_set_new(json_object_get(doc, "metadata"), "resourceVersion", json_string(revision));
    json_decref(fixture->lease);
    fixture->lease = json_incref(doc);
    fixture->writes++;
    fixture->written_ms = loop_mono_ns(fixture->loop) / 1000000;
    ask->status = strcmp(ask->method, "POST") == 0 ? 201 : 200;
    json_text(doc, &ask->text);
    tell(fixture, fixture->writes > 1 ? "MODIFIED" : "ADDED");
}

/* Lists or watches the one Lease. */
static void serve_collection(const struct candidate *candidate, struct scripted_exchange *ask)
{
    const struct fixture *fixture = candidate->fixture;
    scoped(json) json_t *list =
        json_pack("{s:{s:s}, s:[]}", "metadata", "resourceVersion", "1", "items");

    check("of one name", strstr(ask->target, "fieldSelector=metadata.name%3Djobflow") != NULL);
    if (candidate->unwatched) {
        status(ask, 403, "Forbidden");
        return;
    }
    ask->status = 200;
    ask->stays_open = strstr(ask->target, "watch=true") != NULL;
    if (fixture->lease)
        json_array_append(json_object_get(list, "items"), fixture->lease);
    if (!ask->stays_open)
        json_text(list, &ask->text);
}

static void serve(void *ctx, struct scripted_exchange *ask)
{
    struct candidate *candidate = ctx;
    struct fixture *fixture = candidate->fixture;
    scoped(json) json_t *doc = json_loads(ask->body, 0, NULL);

    ask->silent = candidate->silent || candidate->unheard;
    if (candidate->cut_off || candidate->silent)
        return;
    if (strstr(ask->target, "/leases?")) {
        serve_collection(candidate, ask);
    } else if (strcmp(ask->method, "GET") == 0) {
        if (!fixture->lease) {
            status(ask, 404, "NotFound");
            return;
        }
        ask->status = 200;
        json_text(fixture->lease, &ask->text);
    } else if (strcmp(ask->method, "POST") == 0 && fixture->lease) {
        status(ask, 409, "AlreadyExists");
    } else if (strcmp(ask->method, "PUT") == 0 &&
               strcmp(member(doc, "metadata", "resourceVersion"),
                      member(fixture->lease, "metadata", "resourceVersion")) != 0) {
        status(ask, 409, "Conflict");
    } else {
        store(fixture, ask, doc);
    }
}

static int64_t now_ms(const struct fixture *fixture)
{
    return loop_mono_ns(fixture->loop) / 1000000;
}

static void on_leads(struct elector *elector)
{
    struct candidate *candidate = container_of(elector, struct candidate, elector);

    candidate->leads = true;
    candidate->led++;
    for (int i = 0; i < CANDIDATES; i++)
        if (&candidate->fixture->candidates[i] != candidate)
            check("one leader", !elector_leads(&candidate->fixture->candidates[i].elector));
}

static void on_lost(struct elector *elector, const char *why)
{
    struct candidate *candidate = container_of(elector, struct candidate, elector);

    check("a reason", *why);
    candidate->leads = false;
    candidate->lost_at_ms = now_ms(candidate->fixture);
}

static void on_released(struct elector *elector)
{
    container_of(elector, struct candidate, elector)->released++;
}

static struct fixture *fixture_new(void)
{
    static const char *const names[CANDIDATES] = {"host_1", "host_2"};
    struct fixture *fixture = mem_alloc(sizeof *fixture);

    fixture->clock = clock_virtual_new(1767225600000, 7);
    fixture->loop = loop_new(fixture->clock);
    for (int i = 0; i < CANDIDATES; i++) {
        struct candidate *candidate = &fixture->candidates[i];

        candidate->fixture = fixture;
        candidate->scripted = scripted_new(fixture->loop, serve, candidate);
        candidate->remote =
            remote_new(fixture->loop, scripted_transport(candidate->scripted), NULL);
        candidate->elector = (struct elector){.remote = candidate->remote,
                                              .ns = "kube-system",
                                              .name = "jobflow",
                                              .identity = names[i],
                                              .leads = on_leads,
                                              .lost = on_lost,
                                              .released = on_released};
    }
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    for (int i = 0; i < CANDIDATES; i++) {
        elector_stop(&fixture->candidates[i].elector);
        remote_free(fixture->candidates[i].remote);
        scripted_free(fixture->candidates[i].scripted);
    }
    json_decref(fixture->lease);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
    mem_free(fixture);
}

/* Starts both candidates; the first becomes leader. `watched`: both can watch the Lease. */
static struct fixture *fixture_with_leader_of(bool watched)
{
    struct fixture *fixture = fixture_new();

    for (int i = 0; i < CANDIDATES; i++)
        fixture->candidates[i].unwatched = !watched;
    elector_start(&fixture->candidates[0].elector);
    loop_settle(fixture->loop);
    elector_start(&fixture->candidates[1].elector);
    loop_advance(fixture->loop, 60000);
    check("the first", fixture->candidates[0].leads && !fixture->candidates[1].leads);
    return fixture;
}

static struct fixture *fixture_with_leader(void)
{
    return fixture_with_leader_of(true);
}

static int64_t transitions(const struct fixture *fixture)
{
    return json_integer_value(
        json_object_get(json_object_get(fixture->lease, "spec"), "leaseTransitions"));
}

static void of_two_that_come_together_one_leads(void **state)
{
    struct fixture *fixture = fixture_new();

    elector_start(&fixture->candidates[0].elector);
    elector_start(&fixture->candidates[1].elector);
    loop_advance(fixture->loop, 600000);
    check_int("one", fixture->candidates[0].led + fixture->candidates[1].led, 1);
    check_int("the lease was made", transitions(fixture), 0);
    check_int("renewed every two seconds", fixture->writes, 301);
    fixture_free(fixture);
}

/* Lets the leader die. Returns after how many milliseconds the other one leads. */
static int64_t takeover_ms(struct fixture *fixture)
{
    int64_t died_ms = now_ms(fixture);

    elector_stop(&fixture->candidates[0].elector);
    while (!fixture->candidates[1].leads && now_ms(fixture) < died_ms + 60000)
        loop_advance(fixture->loop, 10);
    return now_ms(fixture) - died_ms;
}

/* A candidate that sees each renewal knows when the lease expires, and tries then. */
static void a_dead_leader_is_replaced_when_its_lease_expires(void **state)
{
    for (int i = 0; i < 20; i++) {
        struct fixture *fixture = fixture_with_leader();
        int64_t took_ms;

        loop_advance(fixture->loop, 100 * i);
        took_ms = takeover_ms(fixture);
        check("not before the lease has run out", took_ms >= 13000);
        check("at once afterwards", took_ms <= 15000 + 200 + 10);
        check_int("a transition", transitions(fixture), 1);
        fixture_free(fixture);
    }
}

static void when_the_leader_dies_the_other_takes_over_in_time(void **state)
{
    struct fixture *fixture = fixture_with_leader_of(false);
    int64_t died_ms = now_ms(fixture);
    scoped_str before = mem_strdup(member(fixture->lease, "spec", "acquireTime"));

    elector_stop(&fixture->candidates[0].elector);
    while (!fixture->candidates[1].leads && now_ms(fixture) < died_ms + 60000)
        loop_advance(fixture->loop, 10);
    /* The second candidate counts from the last renewal that it saw, and reads the lease every 2 to
     * 4.4 s. */
    check("not before the lease has run out", now_ms(fixture) - died_ms >= 13000);
    check("soon afterwards", now_ms(fixture) - died_ms <= 15000 + 4400 + 4400);
    check_int("a transition", transitions(fixture), 1);
    check("acquired anew", strcmp(before, member(fixture->lease, "spec", "acquireTime")) != 0);
    check_str("holder", member(fixture->lease, "spec", "holderIdentity"), "host_2");
    fixture_free(fixture);
}

/* covers: cluster.md CLU-163 */
static void a_leader_whose_writes_fail_stops_before_another_begins(void **state)
{
    static const struct {
        const char *name;
        bool cut_off, silent;
    } ways[] = {{"refused", true, false}, {"no answer", false, true}};

    for (size_t i = 0; i < countof(ways); i++) {
        struct fixture *fixture = fixture_with_leader();
        int64_t renewed_ms = fixture->written_ms;

        fixture->candidates[0].cut_off = ways[i].cut_off;
        fixture->candidates[0].silent = ways[i].silent;
        loop_advance(fixture->loop, 7000);
        check(ways[i].name, fixture->candidates[0].leads); /* a short failure does not end
                                                            * leadership */
        loop_advance(fixture->loop, 60000);
        check(ways[i].name, !fixture->candidates[0].leads && fixture->candidates[1].leads);
        check(ways[i].name, fixture->candidates[0].lost_at_ms - renewed_ms <= 10000);
        fixture->candidates[0].cut_off = fixture->candidates[0].silent = false;
        loop_advance(fixture->loop, 60000);
        check(ways[i].name, !fixture->candidates[0].leads && fixture->candidates[1].leads);
        fixture_free(fixture);
    }
}

static void change_troubles(struct fixture *fixture, struct candidate *candidate)
{
    unsigned trouble = (unsigned)(clock_random(fixture->clock) % 6);

    candidate->cut_off = trouble == 1;
    candidate->silent = trouble == 2;
    candidate->unheard = trouble == 3;
}

/* Requests and answers are lost at random, also those of writes that were stored. */
static void there_are_never_two_leaders_at_one_time(void **state)
{
    int led = 0;

    for (int schedule = 0; schedule < 1000; schedule++) {
        struct fixture *fixture = fixture_new();

        loop_advance(fixture->loop, schedule);
        for (int i = 0; i < CANDIDATES; i++) {
            fixture->candidates[i].unwatched = (schedule >> i) & 1;
            elector_start(&fixture->candidates[i].elector);
        }
        for (int step = 0; step < 400; step++) {
            for (int i = 0; step % 40 == 0 && i < CANDIDATES; i++)
                change_troubles(fixture, &fixture->candidates[i]);
            loop_advance(fixture->loop, 200);
            check("at most one", !elector_leads(&fixture->candidates[0].elector) ||
                                     !elector_leads(&fixture->candidates[1].elector));
        }
        led += fixture->candidates[0].led + fixture->candidates[1].led;
        fixture_free(fixture);
    }
    check("leaders change", led > 2000);
}

static void a_short_trouble_does_not_end_leadership(void **state)
{
    struct fixture *fixture = fixture_with_leader();

    for (int i = 0; i < 5; i++) {
        fixture->candidates[0].cut_off = true;
        loop_advance(fixture->loop, 6000);
        fixture->candidates[0].cut_off = false;
        loop_advance(fixture->loop, 6000);
    }
    check_int("never lost", fixture->candidates[0].led, 1);
    check_int("the other waits", fixture->candidates[1].led, 0);
    check_int("no transition", transitions(fixture), 0);
    fixture_free(fixture);
}

static void a_released_lease_is_taken_at_once(void **state)
{
    struct fixture *fixture = fixture_with_leader();

    elector_release(&fixture->candidates[0].elector);
    check("no more", !elector_leads(&fixture->candidates[0].elector));
    loop_settle(fixture->loop);
    check_int("told", fixture->candidates[0].released, 1);
    check_str("no holder", member(fixture->lease, "spec", "holderIdentity"), "");
    loop_advance(fixture->loop, 101);
    check("the other", fixture->candidates[1].leads);
    elector_release(&fixture->candidates[0].elector);
    loop_settle(fixture->loop);
    check_int("who holds none is told, too", fixture->candidates[0].released, 2);
    fixture_free(fixture);
}

/* The renewal was stored, and the process does not wait for its answer. */
static void a_lease_is_released_although_a_renewal_is_under_way(void **state)
{
    struct fixture *fixture = fixture_with_leader();
    int writes = fixture->writes;

    fixture->candidates[0].unheard = true;
    while (fixture->writes == writes)
        loop_advance(fixture->loop, 100);
    fixture->candidates[0].unheard = false;
    elector_release(&fixture->candidates[0].elector);
    loop_settle(fixture->loop);
    check_int("told once", fixture->candidates[0].released, 1);
    check_str("no holder", member(fixture->lease, "spec", "holderIdentity"), "");
    loop_advance(fixture->loop, 101);
    check("the other", fixture->candidates[1].leads);
    fixture_free(fixture);
}

static void without_a_watch_a_released_lease_is_found_soon(void **state)
{
    struct fixture *fixture = fixture_with_leader_of(false);

    elector_release(&fixture->candidates[0].elector);
    loop_advance(fixture->loop, 4401);
    check("the other", fixture->candidates[1].leads);
    fixture_free(fixture);
}

/* covers: cluster.md CLU-168; see also cluster_leaders.py */
static void a_lease_that_is_deleted_is_made_again_by_one(void **state)
{
    struct fixture *fixture = fixture_with_leader();

    tell(fixture, "DELETED");
    json_decref(take(fixture->lease));
    loop_advance(fixture->loop, 10000);
    check("there is a lease", fixture->lease != NULL);
    check("one leads", fixture->candidates[0].leads != fixture->candidates[1].leads);
    fixture_free(fixture);
}

/* see cluster.md CLU-179: 40 requests a minute are allowed to a standby */
static void a_standby_asks_little(void **state)
{
    struct fixture *fixture = fixture_with_leader();
    const char *log = scripted_requests(fixture->candidates[1].scripted);
    size_t before = strlen(log);
    int requests = 0;

    loop_advance(fixture->loop, 60000);
    log = scripted_requests(fixture->candidates[1].scripted) + before;
    for (; *log; log++)
        requests += *log == '\n';
    check("few", requests <= 2);
    fixture_free(fixture);
}

static void the_lease_names_the_mode_of_its_holder(void **state)
{
    struct fixture *fixture = fixture_new();

    fixture->candidates[0].elector.mode = "jobs";
    elector_start(&fixture->candidates[0].elector);
    loop_settle(fixture->loop);
    check_str("mode",
              json_string_value(json_object_get(
                  json_object_get(json_object_get(fixture->lease, "metadata"), "annotations"),
                  "jobflow.dev/mode")),
              "jobs");
    fixture_free(fixture);
}

/* The clock of the other process is an hour behind; its lease still counts as held. */
static void clocks_of_others_do_not_count(void **state)
{
    struct fixture *fixture = fixture_new();

    fixture->lease =
        json_pack("{s:s,s:s,s:{s:s,s:s,s:s},s:{s:s,s:i,s:s,s:s,s:i}}", "apiVersion",
                  "coordination.k8s.io/v1", "kind", "Lease", "metadata", "name", "jobflow",
                  "namespace", "kube-system", "resourceVersion", "1", "spec", "holderIdentity",
                  "other", "leaseDurationSeconds", 15, "acquireTime", "2025-12-31T23:00:00.000000Z",
                  "renewTime", "2025-12-31T23:00:00.000000Z", "leaseTransitions", 4);
    fixture->revision = 1;
    elector_start(&fixture->candidates[0].elector);
    loop_advance(fixture->loop, 14999);
    check("it has just been seen", !fixture->candidates[0].leads);
    loop_advance(fixture->loop, 5000);
    check("it has not been renewed", fixture->candidates[0].leads);
    check_int("counted", transitions(fixture), 5);
    fixture_free(fixture);
}

static void a_lease_taken_away_ends_leadership(void **state)
{
    struct fixture *fixture = fixture_with_leader();
    json_t *spec = json_object_get(fixture->lease, "spec");

    json_object_set_new(spec, "holderIdentity", json_string("another"));
    json_object_set_new(json_object_get(fixture->lease, "metadata"), "resourceVersion",
                        json_string("999"));
    fixture->revision = 999;
    loop_advance(fixture->loop, 4100); /* time for a conflict and then a read */
    check("stopped", !fixture->candidates[0].leads);
    fixture_free(fixture);
}

static void a_lease_made_by_hand_is_taken(void **state)
{
    struct fixture *fixture = fixture_new();

    fixture->lease =
        json_pack("{s:s,s:s,s:{s:s,s:s,s:s,s:{s:s}}}", "apiVersion", "coordination.k8s.io/v1",
                  "kind", "Lease", "metadata", "name", "jobflow", "namespace", "kube-system",
                  "resourceVersion", "1", "labels", "kept", "yes");
    fixture->revision = 1;
    elector_start(&fixture->candidates[0].elector);
    loop_settle(fixture->loop);
    check("leads", fixture->candidates[0].leads);
    check_str("what others wrote stays",
              json_string_value(json_object_get(
                  json_object_get(json_object_get(fixture->lease, "metadata"), "labels"), "kept")),
              "yes");
    fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_two_that_come_together_one_leads),
        cmocka_unit_test(a_dead_leader_is_replaced_when_its_lease_expires),
        cmocka_unit_test(when_the_leader_dies_the_other_takes_over_in_time),
        cmocka_unit_test(a_leader_whose_writes_fail_stops_before_another_begins),
        cmocka_unit_test(there_are_never_two_leaders_at_one_time),
        cmocka_unit_test(a_short_trouble_does_not_end_leadership),
        cmocka_unit_test(a_released_lease_is_taken_at_once),
        cmocka_unit_test(a_lease_is_released_although_a_renewal_is_under_way),
        cmocka_unit_test(without_a_watch_a_released_lease_is_found_soon),
        cmocka_unit_test(a_lease_that_is_deleted_is_made_again_by_one),
        cmocka_unit_test(a_standby_asks_little),
        cmocka_unit_test(the_lease_names_the_mode_of_its_holder),
        cmocka_unit_test(clocks_of_others_do_not_count),
        cmocka_unit_test(a_lease_taken_away_ends_leadership),
        cmocka_unit_test(a_lease_made_by_hand_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
