/*
 * Tickets and sign-ins under a clock that the test moves.
 *
 * covers: web.md WEB-025 WEB-026 WEB-028 WEB-029 WEB-031 WEB-032 WEB-033 WEB-034
 */
#include "tests/unit.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "web/signin/signin.h"

struct fixture {
    struct clock *clock;
    struct loop *loop;
    struct signins *signins;
    int ended, misused;
    uint64_t last_ended;
};

static void on_ended(void *ctx, uint64_t signin, const char *credential, const char *why)
{
    struct fixture *f = ctx;

    f->ended++;
    f->last_ended = signin;
    check("has a reason", why && *why);
}

static void on_misused(void *ctx)
{
    ((struct fixture *)ctx)->misused++;
}

static void start(struct fixture *f)
{
    *f = (struct fixture){.clock = clock_virtual_new(1000, 1)};
    f->loop = loop_new(f->clock);
    f->signins = signins_new(&(const struct signins_options){
        .loop = f->loop, .cookie_prefix = "", .ended = on_ended, .misused = on_misused, .ctx = f});
}

static void stop(struct fixture *f)
{
    signins_free(f->signins);
    loop_free(f->loop);
    clock_free(f->clock);
}

static struct header_value value_of(const char *text)
{
    return (struct header_value){text, text ? strlen(text) : 0};
}

static char *cookie_of(const struct fixture *f, const struct signin_keys *keys)
{
    return mem_printf("jf-%s=%s", signins_id(f->signins), keys->cookie);
}

static uint64_t find(struct fixture *f, const char *cookie, const char *key)
{
    return signins_find(f->signins, value_of(cookie), value_of(key));
}

static bool redeem(struct fixture *f, const char *ticket, const char *cookie,
                   struct signin_keys *out)
{
    struct error err = {0};
    const struct signin_try attempt = {
        .ticket = ticket, .len = strlen(ticket), .cookie = value_of(cookie)};
    bool ok = signins_redeem(f->signins, &attempt, out, &err);

    if (!ok)
        check_int("refused", err.code, ERR_UNAUTHORIZED);
    clock_advance_ms(f->clock, 1000); /* so that tries are not too many */
    return ok;
}

static void sign_in(struct fixture *f, struct signin_keys *out)
{
    char ticket[SIGNIN_SECRET_TEXT + 1];

    signins_ticket(f->signins, "", 60000, ticket);
    check("signed in", redeem(f, ticket, NULL, out));
}

static void a_ticket_works_once(void **state)
{
    char ticket[SIGNIN_SECRET_TEXT + 1];
    struct signin_keys keys, other;
    struct fixture f;

    start(&f);
    signins_ticket(f.signins, "", 60000, ticket);
    check_int("length", strlen(ticket), SIGNIN_SECRET_TEXT);
    check("first", redeem(&f, ticket, NULL, &keys));
    scoped_str cookie = cookie_of(&f, &keys);
    check("both halves", find(&f, cookie, keys.key) != SIGNIN_NONE);
    check("again with the cookie", !redeem(&f, ticket, cookie, &other));
    check("still signed in", find(&f, cookie, keys.key) != SIGNIN_NONE);
    check_int("misused", f.misused, 0);
    check("again from elsewhere", !redeem(&f, ticket, "jf-00000000=x", &other));
    check_int("misused", f.misused, 1);
    check_int("ended", f.ended, 1);
    check("signed out", find(&f, cookie, keys.key) == SIGNIN_NONE);
    stop(&f);
}

static void a_late_second_use_ends_nothing(void **state)
{
    char ticket[SIGNIN_SECRET_TEXT + 1];
    struct signin_keys keys, other;
    struct fixture f;

    start(&f);
    signins_ticket(f.signins, "", 60000, ticket);
    check("first", redeem(&f, ticket, NULL, &keys));
    clock_advance_ms(f.clock, 10000);
    check("late", !redeem(&f, ticket, NULL, &other));
    check_int("ended", f.ended, 0);
    stop(&f);
}

static void a_ticket_ends_with_its_time(void **state)
{
    char ticket[SIGNIN_SECRET_TEXT + 1];
    struct signin_keys keys;
    struct fixture f;

    start(&f);
    signins_ticket(f.signins, "", 60000, ticket);
    clock_advance_ms(f.clock, 60000);
    check("too late", !redeem(&f, ticket, NULL, &keys));
    check("unknown", !redeem(&f, "", NULL, &keys));
    check("of another gateway",
          !redeem(&f, "0123456789012345678901234567890123456789012", NULL, &keys));
    stop(&f);
}

static void each_half_alone_opens_nothing(void **state)
{
    struct signin_keys one, two;
    struct fixture f;

    start(&f);
    sign_in(&f, &one);
    sign_in(&f, &two);
    scoped_str cookie = cookie_of(&f, &one);
    scoped_str second = cookie_of(&f, &two);
    scoped_str foreign = mem_printf("jf-deadbeef=%s", one.cookie);
    scoped_str among = mem_printf("a=b; jf-%s=planted; %s; c=d", signins_id(f.signins), cookie);
    scoped_str overwritten = mem_printf("jf-%s=planted", signins_id(f.signins));
    const struct {
        const char *name, *cookie, *key;
        bool good;
    } cases[] = {
        {"both", cookie, one.key, true},
        {"both of the second", second, two.key, true},
        {"among others", among, one.key, true},
        {"cookie alone", cookie, NULL, false},
        {"key alone", NULL, one.key, false},
        {"neither", NULL, NULL, false},
        {"halves of two sign-ins", cookie, two.key, false},
        {"halves swapped", second, one.key, false},
        {"the cookie as key", cookie, one.cookie, false},
        {"cookie of another gateway", foreign, one.key, false},
        {"overwritten cookie", overwritten, one.key, false},
        {"empty key", cookie, "", false},
    };

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].name, find(&f, cases[i].cookie, cases[i].key) != SIGNIN_NONE,
                  cases[i].good);
    stop(&f);
}

static void a_sign_in_ends_unused_or_after_a_week(void **state)
{
    int64_t idle_ms, whole_ms;
    struct signin_keys keys;
    struct fixture f;

    start(&f);
    sign_in(&f, &keys);
    scoped_str cookie = cookie_of(&f, &keys);
    clock_advance_ms(f.clock, SIGNIN_IDLE_MS - 2000);
    check("used", find(&f, cookie, keys.key) != SIGNIN_NONE);
    check("tells", signins_ends(f.signins, find(&f, cookie, keys.key), &idle_ms, &whole_ms));
    check_int("idle", idle_ms, SIGNIN_IDLE_MS);
    clock_advance_ms(f.clock, SIGNIN_IDLE_MS);
    check("unused", find(&f, cookie, keys.key) == SIGNIN_NONE);
    check_int("ended", f.ended, 1);

    sign_in(&f, &keys);
    scoped_str next = cookie_of(&f, &keys);
    for (int64_t at = 0; at < SIGNIN_WHOLE_MS - 3600000; at += 3600000) {
        clock_advance_ms(f.clock, 3600000);
        check("within the week", find(&f, next, keys.key) != SIGNIN_NONE);
    }
    clock_advance_ms(f.clock, 3600000);
    check("after the week", find(&f, next, keys.key) == SIGNIN_NONE);
    stop(&f);
}

static void a_sign_in_ends_in_time_without_a_request(void **state)
{
    struct signin_keys keys;
    struct fixture f;
    uint64_t number;

    start(&f);
    number = signins_make(f.signins, "", &keys);
    scoped_str cookie = cookie_of(&f, &keys);
    loop_advance(f.loop, SIGNIN_IDLE_MS / 2);
    check_int("found", (int)find(&f, cookie, keys.key), (int)number);
    loop_advance(f.loop, SIGNIN_IDLE_MS - 1);
    check_int("the request has put it off", f.ended, 0);
    loop_advance(f.loop, 1);
    check_int("ended", f.ended, 1);
    check("this one", f.last_ended == number);
    stop(&f);
}

static void of_too_many_the_longest_unused_ends(void **state)
{
    struct signin_keys keys[SIGNINS_MAX + 1];
    struct fixture f;

    start(&f);
    for (size_t i = 0; i < SIGNINS_MAX; i++)
        sign_in(&f, &keys[i]);
    scoped_str first = cookie_of(&f, &keys[0]);
    scoped_str second = cookie_of(&f, &keys[1]);
    check("first is used", find(&f, first, keys[0].key) != SIGNIN_NONE);
    sign_in(&f, &keys[SIGNINS_MAX]);
    check_int("ended", f.ended, 1);
    check("first stays", find(&f, first, keys[0].key) != SIGNIN_NONE);
    check("second is gone", find(&f, second, keys[1].key) == SIGNIN_NONE);
    check_int("count", signins_count(f.signins), SIGNINS_MAX);
    stop(&f);
}

static void a_user_with_many_sign_ins_ends_its_own(void **state)
{
    struct signin_keys keys, owner;
    struct fixture f;

    start(&f);
    signins_make(f.signins, "uid 1", &owner);
    for (size_t i = 0; i < 2 * SIGNINS_MAX; i++) {
        clock_advance_ms(f.clock, 1000);
        signins_make(f.signins, "token a", &keys);
    }
    scoped_str cookie = cookie_of(&f, &owner);
    scoped_str newest = cookie_of(&f, &keys);
    check("that of another user stays", find(&f, cookie, owner.key) != SIGNIN_NONE);
    check("the newest, too", find(&f, newest, keys.key) != SIGNIN_NONE);
    check_int("count", signins_count(f.signins), SIGNINS_MAX);
    stop(&f);
}

static void tries_are_bounded(void **state)
{
    char ticket[SIGNIN_SECRET_TEXT + 1];
    const struct signin_try wrong = {.ticket = "x", .len = 1, .peer = "192.0.2.1"};
    struct signin_try good = {.ticket = ticket, .len = SIGNIN_SECRET_TEXT};
    struct signin_keys keys;
    struct error err = {0};
    struct fixture f;

    start(&f);
    signins_ticket(f.signins, "", 60000, ticket);
    for (int i = 0; i < SIGNIN_TRIES_PER_S; i++)
        check_error("wrong", signins_redeem(f.signins, &wrong, &keys, &err), err, ERR_UNAUTHORIZED);
    good.peer = wrong.peer;
    check_error("too many", signins_redeem(f.signins, &good, &keys, &err), err, ERR_TOO_MANY);
    good.peer = "192.0.2.2";
    check_ok("another peer", signins_redeem(f.signins, &good, &keys, &err), err);
    signins_ticket(f.signins, "", 60000, ticket);
    clock_advance_ms(f.clock, 1000);
    check("a second later", redeem(&f, ticket, NULL, &keys));
    stop(&f);
}

static void signing_out_ends_it(void **state)
{
    struct signin_keys keys;
    struct fixture f;
    uint64_t number;

    start(&f);
    sign_in(&f, &keys);
    scoped_str cookie = cookie_of(&f, &keys);
    number = find(&f, cookie, keys.key);
    signins_end(f.signins, number, "signed out");
    check_int("ended", f.last_ended, number);
    check("gone", find(&f, cookie, keys.key) == SIGNIN_NONE);
    signins_end(f.signins, number, "signed out");
    check_int("once", f.ended, 1);
    stop(&f);
}

static void the_cookie_stays_with_the_page(void **state)
{
    scoped(buf) struct buf line = {0}, removed = {0};
    struct fixture f;

    start(&f);
    signins_write_cookie(f.signins, "K", &line);
    signins_write_cookie(f.signins, NULL, &removed);
    scoped_str wanted = mem_printf("Set-Cookie: jf-%s=K; HttpOnly; SameSite=Strict; Path=/ui/",
                                   signins_id(f.signins));
    check_str("set", line.data, wanted);
    check_has("removed", removed.data, "; Max-Age=0");
    stop(&f);
}

/* Whether the credential "gone" was revoked. */
static bool is_good(void *ctx, const char *credential)
{
    return strcmp(credential, "gone") != 0;
}

static void sign_ins_outlive_the_process(void **state)
{
    scoped_str path = mem_printf("%s/signins.json", getenv("TMPDIR"));
    struct signins_options options = {.cookie_prefix = "", .path = path, .good = is_good};
    struct signin_keys kept, over;
    scoped_str cookie = NULL;
    scoped_str other = NULL;
    struct fixture f;
    struct stat info;

    start(&f);
    options.loop = f.loop;
    signins_free(f.signins);
    f.signins = signins_new(&options);
    signins_make(f.signins, "token a", &kept);
    signins_make(f.signins, "gone", &over);
    cookie = cookie_of(&f, &kept);
    other = cookie_of(&f, &over);
    check_int("mode", stat(path, &info) == 0 ? info.st_mode & 0777 : 0, 0600);
    signins_free(f.signins);
    clock_advance_ms(f.clock, SIGNIN_IDLE_MS - 1000);
    f.signins = signins_new(&options);
    check("it is known again", find(&f, cookie, kept.key) != SIGNIN_NONE);
    check_str("credential", signins_credential(f.signins, find(&f, cookie, kept.key)), "token a");
    check_int("revoked meanwhile", find(&f, other, over.key), SIGNIN_NONE);
    check("none has it", !signins_has(f.signins, "gone"));
    signins_free(f.signins);
    clock_advance_ms(f.clock, SIGNIN_IDLE_MS);
    f.signins = signins_new(&options);
    check_int("unused for long", find(&f, cookie, kept.key), SIGNIN_NONE);
    stop(&f);
}

static void a_damaged_file_has_no_sign_ins(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"id\":\"01234567\"}",
        "{\"id\":\"../../..\",\"signins\":[]}",
        "{\"id\":\"01234567\",\"signins\":[1,{},{\"cookie\":\"zz\"},{\"credential\":1}]}",
    };
    scoped_str path = mem_printf("%s/signins.json", getenv("TMPDIR"));
    struct signins_options options = {.cookie_prefix = "", .path = path};
    struct fixture f;

    start(&f);
    options.loop = f.loop;
    for (size_t i = 0; i < countof(texts); i++) {
        signins_free(f.signins);
        check("written", file_write_atomic(path, texts[i], strlen(texts[i]), 0600, NULL));
        f.signins = signins_new(&options);
        check_int(texts[i], signins_count(f.signins), 0);
        check_int("id", strspn(signins_id(f.signins), "0123456789abcdef"), SIGNIN_ID_TEXT);
    }
    stop(&f);
}

static void a_credential_that_is_over_ends_its_sign_ins(void **state)
{
    struct signins_options mine = {
        .cookie_prefix = "", .good = is_good, .another_link = "", .ended = on_ended};
    struct signin_keys keys;
    char ticket[SIGNIN_SECRET_TEXT + 1];
    const struct signin_try attempt = {.ticket = ticket, .len = SIGNIN_SECRET_TEXT};
    struct error err = {0};
    struct fixture f;

    start(&f);
    signins_free(f.signins);
    mine.loop = f.loop;
    mine.ctx = &f;
    f.signins = signins_new(&mine);
    signins_make(f.signins, "gone", &keys);
    signins_make(f.signins, "kept", &keys);
    signins_check(f.signins);
    check_int("ended", f.ended, 1);
    check_int("left", signins_count(f.signins), 1);
    signins_ticket(f.signins, "gone", 60000, ticket);
    check_error("its ticket", signins_redeem(f.signins, &attempt, &keys, &err), err,
                ERR_UNAUTHORIZED);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sign_ins_outlive_the_process),
        cmocka_unit_test(a_damaged_file_has_no_sign_ins),
        cmocka_unit_test(a_credential_that_is_over_ends_its_sign_ins),
        cmocka_unit_test(a_ticket_works_once),
        cmocka_unit_test(a_late_second_use_ends_nothing),
        cmocka_unit_test(a_ticket_ends_with_its_time),
        cmocka_unit_test(each_half_alone_opens_nothing),
        cmocka_unit_test(a_sign_in_ends_unused_or_after_a_week),
        cmocka_unit_test(a_sign_in_ends_in_time_without_a_request),
        cmocka_unit_test(of_too_many_the_longest_unused_ends),
        cmocka_unit_test(a_user_with_many_sign_ins_ends_its_own),
        cmocka_unit_test(tries_are_bounded),
        cmocka_unit_test(signing_out_ends_it),
        cmocka_unit_test(the_cookie_stays_with_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
