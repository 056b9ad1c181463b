#include "tests/unit.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/loop/loop.h"

static const int64_t NOON_MS = 1767355200000;

/* A record of what happened: one letter per event, in order. */
struct trace {
    char text[256];
    size_t len;
};

static void note(struct trace *trace, char letter)
{
    if (trace->len + 1 < sizeof trace->text)
        trace->text[trace->len++] = letter;
}

struct setup {
    struct clock *clock;
    struct loop *loop;
    struct trace trace;
};

static struct setup virtual_setup(void)
{
    struct clock *clock = clock_virtual_new(NOON_MS, 1);

    return (struct setup){.clock = clock, .loop = loop_new(clock)};
}

static struct setup real_setup(void)
{
    return (struct setup){.clock = clock_real(), .loop = loop_new(clock_real())};
}

static void tear_down(struct setup *setup)
{
    loop_free(setup->loop);
    clock_free(setup->clock);
}

/* A task and a timer that record their letter and may post, cancel or start another one. */
struct actor {
    struct task task;
    struct timer timer;
    struct turn_hook hook;
    struct setup *setup;
    struct actor *post, *start, *cancel, *stop;
    int64_t delay_ms;
    int times; /* maximum number of posts or starts */
    char letter;
    bool stop_loop;
    int64_t ran_at_ms;
};

static void act(struct actor *actor)
{
    struct loop *loop = actor->setup->loop;

    note(&actor->setup->trace, actor->letter);
    actor->ran_at_ms = loop_wall_ms(loop);
    if (actor->times > 0) {
        actor->times--;
        if (actor->post)
            loop_post(loop, &actor->post->task);
        if (actor->start)
            timer_start(loop, &actor->start->timer, actor->delay_ms);
    }
    if (actor->cancel)
        loop_cancel(loop, &actor->cancel->task);
    if (actor->stop)
        timer_stop(loop, &actor->stop->timer);
    if (actor->stop_loop)
        loop_stop(loop);
}

static void actor_run(struct task *task)
{
    act(container_of(task, struct actor, task));
}

static void actor_fire(struct timer *timer)
{
    act(container_of(timer, struct actor, timer));
}

static void actor_end(struct turn_hook *hook)
{
    act(container_of(hook, struct actor, hook));
}

static struct actor actor(struct setup *setup, char letter)
{
    return (struct actor){.task.run = actor_run,
                          .timer.fire = actor_fire,
                          .hook.end = actor_end,
                          .setup = setup,
                          .letter = letter};
}

static void tasks_run_in_the_order_posted(void **state)
{
    struct setup s = virtual_setup();
    struct actor a = actor(&s, 'a'), b = actor(&s, 'b'), c = actor(&s, 'c');

    loop_post(s.loop, &b.task);
    loop_post(s.loop, &a.task);
    loop_post(s.loop, &b.task); /* has no effect, because the task is posted already */
    loop_post(s.loop, &c.task);
    assert_true(a.task.posted);
    loop_settle(s.loop);
    assert_string_equal(s.trace.text, "bac");
    assert_false(a.task.posted);
    tear_down(&s);
}

static void a_task_may_post_itself_and_others(void **state)
{
    struct setup s = virtual_setup();
    struct actor a = actor(&s, 'a'), b = actor(&s, 'b');

    a.post = &a;
    a.times = 2;
    b.post = &a;
    b.times = 1;
    loop_post(s.loop, &a.task);
    loop_post(s.loop, &b.task);
    loop_settle(s.loop);
    assert_string_equal(s.trace.text, "abaa");
    tear_down(&s);
}

static void a_cancelled_task_does_not_run(void **state)
{
    struct setup s = virtual_setup();
    struct actor a = actor(&s, 'a'), b = actor(&s, 'b'), c = actor(&s, 'c'), d = actor(&s, 'd');

    loop_post(s.loop, &a.task);
    loop_post(s.loop, &b.task);
    loop_post(s.loop, &c.task);
    a.cancel = &b;
    loop_cancel(s.loop, &c.task); /* c is the last of the list; tasks posted later must still be
                                   * appended to it */
    loop_cancel(s.loop, &c.task);
    loop_post(s.loop, &d.task);
    loop_settle(s.loop);
    assert_string_equal(s.trace.text, "ad");
    tear_down(&s);
}

static void hooks_run_after_the_tasks_of_each_turn(void **state)
{
    struct setup s = virtual_setup();
    struct actor a = actor(&s, 'a'), b = actor(&s, 'b'), h = actor(&s, 'h'), i = actor(&s, 'i');

    loop_on_turn_end(s.loop, &h.hook);
    loop_on_turn_end(s.loop, &i.hook);
    a.post = &b;
    a.times = 1;
    h.post = &a; /* a task posted by a hook runs in the next turn */
    h.times = 1;
    loop_post(s.loop, &a.task);
    loop_settle(s.loop);
    assert_memory_equal(s.trace.text, "abhiahi", 7);
    loop_off_turn_end(s.loop, &h.hook);
    loop_off_turn_end(s.loop, &i.hook);
    loop_off_turn_end(s.loop, &i.hook);
    tear_down(&s);
}

struct leaving_hook {
    struct turn_hook hook;
    struct setup *setup;
    struct turn_hook *leaves[3];
    char letter;
};

static void leave(struct turn_hook *hook)
{
    struct leaving_hook *mine = container_of(hook, struct leaving_hook, hook);

    note(&mine->setup->trace, mine->letter);
    for (size_t i = 0; i < countof(mine->leaves); i++) {
        if (mine->leaves[i])
            loop_off_turn_end(mine->setup->loop, mine->leaves[i]);
    }
}

static void a_hook_may_take_itself_and_the_next_away(void **state)
{
    struct setup s = virtual_setup();
    struct leaving_hook a = {{leave}, &s, .letter = 'a'}, b = {{leave}, &s, .letter = 'b'},
                        c = {{leave}, &s, .letter = 'c'};

    a.leaves[0] = &a.hook;
    a.leaves[1] = &b.hook;
    c.leaves[0] = &c.hook;
    loop_on_turn_end(s.loop, &a.hook);
    loop_on_turn_end(s.loop, &b.hook);
    loop_on_turn_end(s.loop, &c.hook);
    loop_settle(s.loop);
    assert_string_equal(s.trace.text, "ac");
    tear_down(&s);
}

static void timers_fire_in_the_order_of_their_times(void **state)
{
    struct setup s = virtual_setup();
    struct actor a = actor(&s, 'a'), b = actor(&s, 'b'), c = actor(&s, 'c'), d = actor(&s, 'd');

    timer_start(s.loop, &c.timer, 3000);
    timer_start(s.loop, &a.timer, 1000);
    timer_start(s.loop, &d.timer, 1000); /* timers of the same instant fire in the order started */
    /* Due at once, but the timer does not fire inside this call. */
    timer_start(s.loop, &b.timer, -5);
    assert_string_equal(s.trace.text, "");
    assert_true(loop_drain(s.loop, INT64_C(3600) * 1000));
    assert_string_equal(s.trace.text, "badc");
    assert_int_equal(b.ran_at_ms, NOON_MS);
    assert_int_equal(a.ran_at_ms, NOON_MS + 1000);
    assert_int_equal(c.ran_at_ms, NOON_MS + 3000);
    assert_int_equal(loop_wall_ms(s.loop), NOON_MS + 3000);
    tear_down(&s);
}

static void many_timers_fire_in_order(void **state)
{
    enum { N = 5000 };
    struct setup s = virtual_setup();
    struct actor *actors = mem_array(N, sizeof *actors);
    int64_t last = 0;

    for (size_t i = 0; i < N; i++) {
        actors[i] = actor(&s, '.');
        timer_start(s.loop, &actors[i].timer, (int64_t)(clock_random(s.clock) % 100000));
    }
    for (size_t i = 0; i < N; i += 3)
        timer_start(s.loop, &actors[i].timer, (int64_t)(clock_random(s.clock) % 100000));
    for (size_t i = 1; i < N; i += 3)
        timer_stop(s.loop, &actors[i].timer);

    int fired = 0;

    for (int64_t at = 0; at <= 100000; at += 1000) {
        loop_advance(s.loop, 1000);
        for (size_t i = 0; i < N; i++) {
            if (!actors[i].ran_at_ms || timer_armed(&actors[i].timer))
                continue;
            assert_int_equal(actors[i].ran_at_ms * 1000000,
                             NOON_MS * 1000000 + actors[i].timer.due_ns - 1000000000);
            assert_true(actors[i].ran_at_ms > last);
            fired++;
            actors[i].ran_at_ms = 0;
        }
        last = loop_wall_ms(s.loop);
    }
    assert_int_equal(fired, N - (N + 1) / 3);
    assert_true(loop_drain(s.loop, 0));
    mem_free(actors);
    tear_down(&s);
}

static void a_timer_can_be_moved_and_stopped(void **state)
{
    struct setup s = virtual_setup();
    struct actor a = actor(&s, 'a'), b = actor(&s, 'b'), c = actor(&s, 'c');

    timer_start(s.loop, &a.timer, 1000);
    timer_start(s.loop, &b.timer, 2000);
    timer_start(s.loop, &c.timer, 2000);
    timer_start(s.loop, &a.timer, 3000);
    b.stop = &c; /* c is due at the same instant, but a stopped timer does not fire */
    assert_true(timer_armed(&a.timer));
    loop_advance(s.loop, 2500);
    assert_string_equal(s.trace.text, "b");
    timer_stop(s.loop, &a.timer);
    timer_stop(s.loop, &a.timer);
    assert_false(timer_armed(&a.timer));
    assert_true(loop_drain(s.loop, 10000));
    assert_string_equal(s.trace.text, "b");
    assert_int_equal(loop_wall_ms(s.loop), NOON_MS + 2500);
    tear_down(&s);
}

static void a_timer_without_delay_lets_the_turn_end(void **state)
{
    struct setup s = virtual_setup();
    struct actor a = actor(&s, 'a'), h = actor(&s, 'h');

    a.start = &a;
    a.times = 2;
    loop_on_turn_end(s.loop, &h.hook);
    timer_start(s.loop, &a.timer, 0);
    loop_settle(s.loop);
    assert_memory_equal(s.trace.text, "ahahah", 6);
    assert_int_equal(loop_wall_ms(s.loop), NOON_MS);
    loop_off_turn_end(s.loop, &h.hook);
    tear_down(&s);
}

static void settling_moves_no_time(void **state)
{
    struct setup s = virtual_setup();
    struct actor a = actor(&s, 'a');

    timer_start(s.loop, &a.timer, 1);
    loop_settle(s.loop);
    assert_string_equal(s.trace.text, "");
    assert_int_equal(loop_wall_ms(s.loop), NOON_MS);
    loop_advance(s.loop, 1);
    assert_string_equal(s.trace.text, "a");
    tear_down(&s);
}

static void advancing_stops_at_each_timer(void **state)
{
    struct setup s = virtual_setup();
    struct actor tick = actor(&s, 't'), task = actor(&s, 'x');

    tick.start = &tick;
    tick.post = &task;
    tick.delay_ms = 100;
    tick.times = 1000;
    timer_start(s.loop, &tick.timer, 100);
    loop_advance(s.loop, 350);
    assert_string_equal(s.trace.text, "txtxtx");
    assert_int_equal(task.ran_at_ms, NOON_MS + 300);
    assert_int_equal(loop_wall_ms(s.loop), NOON_MS + 350);
    timer_stop(s.loop, &tick.timer);
    tear_down(&s);
}

static void draining_stops_at_its_limit(void **state)
{
    struct setup s = virtual_setup();
    struct actor tick = actor(&s, 't');

    tick.start = &tick;
    tick.delay_ms = 60000;
    tick.times = INT32_MAX;
    timer_start(s.loop, &tick.timer, 60000);
    assert_false(loop_drain(s.loop, INT64_C(3600) * 1000));
    assert_int_equal(s.trace.len, 60);
    timer_stop(s.loop, &tick.timer);
    assert_true(loop_drain(s.loop, 1000));
    tear_down(&s);
}

static void virtual_hours_pass_in_no_time(void **state)
{
    struct setup s = virtual_setup();
    struct actor tick = actor(&s, 't'), end = actor(&s, 'e');
    int64_t began = clock_mono_ns(clock_real());

    tick.start = &tick;
    tick.delay_ms = 1000;
    tick.times = INT32_MAX;
    end.stop_loop = true;
    end.stop = &tick;
    timer_start(s.loop, &end.timer, INT64_C(10) * 3600 * 1000);
    timer_start(s.loop, &tick.timer, 1000);
    loop_run(s.loop);
    assert_int_equal(loop_wall_ms(s.loop), NOON_MS + INT64_C(10) * 3600 * 1000);
    assert_true(clock_mono_ns(clock_real()) - began < 60 * (int64_t)1000000000);
    tear_down(&s);
}

/* Work that runs on the thread pool. */

struct slow_work {
    struct pool_work work;
    struct setup *setup;
    atomic_int ran;
    int64_t done_at_ms;
};

static void slow_run(struct pool_work *work)
{
    struct slow_work *mine = container_of(work, struct slow_work, work);

    usleep(20000);
    mine->ran++;
}

static void slow_done(struct pool_work *work)
{
    struct slow_work *mine = container_of(work, struct slow_work, work);

    note(&mine->setup->trace, 'w');
    mine->done_at_ms = loop_wall_ms(mine->setup->loop);
}

struct idler {
    struct task task;
    struct setup *setup;
    int64_t at_ms;
};

static void on_idle(struct task *task)
{
    struct idler *idler = container_of(task, struct idler, task);

    idler->at_ms = loop_wall_ms(idler->setup->loop);
    note(&idler->setup->trace, '!');
    loop_stop(idler->setup->loop);
}

static void a_virtual_loop_tells_when_nothing_can_happen(void **state)
{
    struct setup setup = virtual_setup();
    struct idler idler = {.task.run = on_idle, .setup = &setup};
    struct actor later = actor(&setup, 'a');

    timer_start(setup.loop, &later.timer, 5000);
    loop_on_idle(setup.loop, &idler.task);
    loop_run(setup.loop);
    check_str("after the last timer", setup.trace.text, "a!");
    check_int("at its time", idler.at_ms, NOON_MS + 5000);
    loop_on_idle(setup.loop, NULL);
    tear_down(&setup);
}

static void virtual_time_waits_for_work_on_the_pool(void **state)
{
    struct setup s = virtual_setup();
    struct slow_work work = {{slow_run, slow_done}, &s};
    struct actor a = actor(&s, 'a');

    timer_start(s.loop, &a.timer, 1);
    loop_work(s.loop, &work.work);
    assert_int_equal(work.done_at_ms, 0);
    assert_true(loop_drain(s.loop, 1000));
    assert_int_equal(work.ran, 1);
    assert_string_equal(s.trace.text, "wa");
    assert_int_equal(work.done_at_ms, NOON_MS);
    tear_down(&s);
}

static void many_works_are_each_done_once(void **state)
{
    enum { N = 64 };
    struct setup s = virtual_setup();
    struct slow_work works[N];

    for (size_t i = 0; i < N; i++) {
        works[i] = (struct slow_work){{slow_run, slow_done}, &s};
        loop_work(s.loop, &works[i].work);
    }
    loop_settle(s.loop);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(works[i].ran, 1);
    assert_int_equal(s.trace.len, N);
    tear_down(&s);
}

static void freeing_the_loop_waits_for_work_in_flight(void **state)
{
    struct setup s = virtual_setup();
    struct slow_work work = {{slow_run, slow_done}, &s};

    loop_work(s.loop, &work.work);
    tear_down(&s);
    assert_int_equal(work.ran, 1);
    assert_string_equal(s.trace.text, "w");
}

/* A thread that sends messages to the loop. */

struct mail_sender {
    struct setup *setup;
    struct task task;
    struct loop_mail *mail;
    uv_thread_t thread;
    atomic_int sent;
    int seen, last;
    bool released;
};

enum { MESSAGES = 1000 };

static void send_messages(void *arg)
{
    struct mail_sender *mail_sender = arg;

    for (int i = 0; i < MESSAGES; i++) {
        mail_sender->sent++;
        loop_mail_send(mail_sender->mail);
    }
}

static void message_received(struct task *task)
{
    struct mail_sender *mail_sender = container_of(task, struct mail_sender, task);

    mail_sender->seen++;
    mail_sender->last = mail_sender->sent;
    if (mail_sender->last == MESSAGES &&
        !mail_sender->released) { /* the counter was increased before the
                                                           * message was sent */
        mail_sender->released = true;
        loop_unhold(mail_sender->setup->loop);
    }
}

static void mail_from_a_thread_wakes_the_loop(void **state)
{
    struct setup s = virtual_setup();
    struct mail_sender mail_sender = {.setup = &s};
    struct actor a = actor(&s, 'a');

    loop_hold(s.loop);
    timer_start(s.loop, &a.timer, 1000);
    mail_sender.mail = loop_mail_new(s.loop, message_received, &mail_sender.task);
    assert_int_equal(uv_thread_create(&mail_sender.thread, send_messages, &mail_sender), 0);
    assert_true(loop_drain(s.loop, 10000));
    assert_int_equal(mail_sender.last, MESSAGES);
    assert_in_range(mail_sender.seen, 1, MESSAGES);
    assert_string_equal(s.trace.text, "a");
    uv_thread_join(&mail_sender.thread);
    loop_mail_close(mail_sender.mail);
    loop_mail_close(NULL);
    tear_down(&s);
}

static void closed_mail_delivers_nothing(void **state)
{
    struct setup s = virtual_setup();
    struct mail_sender mail_sender = {.setup = &s};

    mail_sender.mail = loop_mail_new(s.loop, message_received, &mail_sender.task);
    loop_mail_send(mail_sender.mail);
    loop_mail_close(mail_sender.mail);
    loop_settle(s.loop);
    assert_int_equal(mail_sender.seen, 0);
    tear_down(&s);
}

/* With the real clock, timers do not fire before their time. */

static void real_timers_never_fire_early(void **state)
{
    struct setup s = real_setup();
    struct actor actors[20], end = actor(&s, 'e');
    int64_t began_ms = loop_mono_ns(s.loop);

    for (size_t i = 0; i < countof(actors); i++) {
        actors[i] = actor(&s, (char)('a' + i));
        timer_start_ns(s.loop, &actors[i].timer, (int64_t)i * 1300000);
    }
    end.stop_loop = true;
    timer_start(s.loop, &end.timer, 30);
    loop_run(s.loop);
    assert_string_equal(s.trace.text, "abcdefghijklmnopqrste");
    assert_true(loop_mono_ns(s.loop) - began_ms >= INT64_C(30) * 1000000);
    for (size_t i = 0; i < countof(actors); i++)
        assert_false(timer_armed(&actors[i].timer));
    tear_down(&s);
}

static void a_real_timer_that_comes_sooner_is_not_slept_over(void **state)
{
    struct setup s = real_setup();
    struct actor late = actor(&s, 'l'), a = actor(&s, 'a'), soon = actor(&s, 's');
    int64_t began = loop_mono_ns(s.loop);

    timer_start(s.loop, &late.timer, 60000);
    timer_start(s.loop, &a.timer, 5);
    a.start = &soon;
    a.delay_ms = 5;
    a.times = 1;
    soon.stop = &late;
    soon.stop_loop = true;
    loop_run(s.loop);
    assert_string_equal(s.trace.text, "as");
    assert_true(loop_mono_ns(s.loop) - began < 30 * (int64_t)1000000000);
    tear_down(&s);
}

static void a_busy_loop_still_looks_at_its_timers(void **state)
{
    struct setup s = real_setup();
    struct actor spin = actor(&s, '.'), end = actor(&s, 'e'), h = actor(&s, '|');

    spin.post = &spin;
    spin.times = INT32_MAX;
    end.stop_loop = true;
    timer_start(s.loop, &end.timer, 30);
    loop_on_turn_end(s.loop, &h.hook);
    loop_post(s.loop, &spin.task);
    loop_run(s.loop); /* loop_run returns although a task is always posted */
    assert_true(spin.task.posted);
    loop_cancel(s.loop, &spin.task);
    loop_off_turn_end(s.loop, &h.hook);
    tear_down(&s);
}

static void stop_before_the_run_ends_it_after_one_turn(void **state)
{
    struct setup s = real_setup();
    struct actor a = actor(&s, 'a'), h = actor(&s, 'h');

    loop_on_turn_end(s.loop, &h.hook);
    loop_post(s.loop, &a.task);
    loop_stop(s.loop);
    loop_run(s.loop);
    assert_string_equal(s.trace.text, "ah");
    loop_off_turn_end(s.loop, &h.hook);
    tear_down(&s);
}

/* A pipe whose callbacks come from libuv. They belong to the turn that follows. */

struct piped {
    uv_poll_t poll;
    struct setup *setup;
    struct actor *then;
    int fd;
};

static void piped_readable(uv_poll_t *poll, int status, int events)
{
    struct piped *piped = container_of(poll, struct piped, poll);
    char c;

    if (read(piped->fd, &c, 1) == 1)
        note(&piped->setup->trace, c);
    loop_post(piped->setup->loop, &piped->then->task);
}

static void settling_sees_what_is_readable(void **state)
{
    struct setup s = virtual_setup();
    struct actor after = actor(&s, '!'), timer = actor(&s, 't');
    struct piped piped = {.setup = &s, .then = &after};
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    piped.fd = fds[0];
    uv_poll_init(loop_uv(s.loop), &piped.poll, fds[0]);
    uv_poll_start(&piped.poll, UV_READABLE, piped_readable);
    timer_start(s.loop, &timer.timer, 1);
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_true(loop_drain(s.loop, 10)); /* bytes are read before the virtual time advances */
    assert_string_equal(s.trace.text, "x!t");
    assert_int_equal(write(fds[1], "yz", 2), 2);
    loop_settle(s.loop);
    assert_string_equal(s.trace.text, "x!ty!z!");
    uv_close((uv_handle_t *)&piped.poll, NULL);
    close(fds[0]);
    close(fds[1]);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_run_in_the_order_posted),
        cmocka_unit_test(a_task_may_post_itself_and_others),
        cmocka_unit_test(a_cancelled_task_does_not_run),
        cmocka_unit_test(hooks_run_after_the_tasks_of_each_turn),
        cmocka_unit_test(a_hook_may_take_itself_and_the_next_away),
        cmocka_unit_test(timers_fire_in_the_order_of_their_times),
        cmocka_unit_test(many_timers_fire_in_order),
        cmocka_unit_test(a_timer_can_be_moved_and_stopped),
        cmocka_unit_test(a_timer_without_delay_lets_the_turn_end),
        cmocka_unit_test(settling_moves_no_time),
        cmocka_unit_test(advancing_stops_at_each_timer),
        cmocka_unit_test(draining_stops_at_its_limit),
        cmocka_unit_test(virtual_hours_pass_in_no_time),
        cmocka_unit_test(a_virtual_loop_tells_when_nothing_can_happen),
        cmocka_unit_test(virtual_time_waits_for_work_on_the_pool),
        cmocka_unit_test(many_works_are_each_done_once),
        cmocka_unit_test(freeing_the_loop_waits_for_work_in_flight),
        cmocka_unit_test(mail_from_a_thread_wakes_the_loop),
        cmocka_unit_test(closed_mail_delivers_nothing),
        cmocka_unit_test(real_timers_never_fire_early),
        cmocka_unit_test(a_real_timer_that_comes_sooner_is_not_slept_over),
        cmocka_unit_test(a_busy_loop_still_looks_at_its_timers),
        cmocka_unit_test(stop_before_the_run_ends_it_after_one_turn),
        cmocka_unit_test(settling_sees_what_is_readable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
