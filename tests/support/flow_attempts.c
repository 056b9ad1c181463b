/*
 * Fake probe attempts without sockets: each ends after some virtual time; failures and successes
 * alternate. The linker directs the calls here in tests that list them in "wraps:".
 */
#include "tests/support/flow_attempts.h"

#include "base/mem.h"
#include "probes/attempt.h"

enum { ANSWER_MS = 200 };

struct try_operation {
    struct timer timer;
    struct loop *loop;
    struct probe_attempt *attempt;
};

static unsigned tries;

static void end(struct try_operation *operation)
{
    operation->attempt->operation = NULL;
    timer_stop(operation->loop, &operation->timer);
    mem_free(operation);
}

static void answer(struct timer *timer)
{
    struct try_operation *operation = container_of(timer, struct try_operation, timer);
    struct probe_attempt *attempt = operation->attempt;

    end(operation);
    attempt->done(attempt, tries++ % 2);
}

static bool begin(struct loop *loop, struct probe_attempt *attempt)
{
    struct try_operation *operation = mem_alloc(sizeof *operation);

    *operation = (struct try_operation){.loop = loop, .attempt = attempt};
    operation->timer.fire = answer;
    attempt->operation = operation;
    timer_start(loop, &operation->timer, ANSWER_MS);
    return true;
}

static void cancel(struct probe_attempt *attempt)
{
    if (attempt->operation)
        end(attempt->operation);
}

void flow_tries_begin(void)
{
    tries = 0;
}

bool __wrap_probe_tcp_start(struct loop *loop, struct probe_attempt *attempt,
                            const struct probe_tcp *entry, const struct probe_address *address);
bool __wrap_probe_tcp_start(struct loop *loop, struct probe_attempt *attempt,
                            const struct probe_tcp *entry, const struct probe_address *address)
{
    return begin(loop, attempt);
}

void __wrap_probe_tcp_cancel(struct probe_attempt *attempt);
void __wrap_probe_tcp_cancel(struct probe_attempt *attempt)
{
    cancel(attempt);
}

/* The fake client has no state, so its pointer is the loop. */
struct probe_http_client *__wrap_probe_http_client_new(struct loop *loop);
struct probe_http_client *__wrap_probe_http_client_new(struct loop *loop)
{
    return (struct probe_http_client *)loop;
}

void __wrap_probe_http_client_free(struct probe_http_client *client);
void __wrap_probe_http_client_free(struct probe_http_client *client)
{
}

bool __wrap_probe_http_start(struct probe_http_client *client, struct probe_attempt *attempt,
                             const struct probe_http *entry, const struct probe_address *address);
bool __wrap_probe_http_start(struct probe_http_client *client, struct probe_attempt *attempt,
                             const struct probe_http *entry, const struct probe_address *address)
{
    return begin((struct loop *)client, attempt);
}

void __wrap_probe_http_cancel(struct probe_attempt *attempt);
void __wrap_probe_http_cancel(struct probe_attempt *attempt)
{
    cancel(attempt);
}
