/*
 * Measures the loop time of a create: the API in one process on a store in memory, without sockets,
 * controllers and disk.
 *
 *   bench_api TARGET BODY-FILE [requests [in-flight]]       prints one JSON line
 *
 * In the body "@N@" is replaced with the number of the request. Requests that are in flight
 * together share a turn of the loop, like requests of many clients. Run it under `perf record` or
 * callgrind to see where the time of a create goes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/server/api.h"
#include "base/file.h"
#include "base/mem.h"
#include "job/plugins/plugin.h"

struct asked {
    struct api_response answer;
    int status;
    bool ended;
};

struct bench {
    struct loop *loop;
    struct registry *registry;
    struct api *api;
    const char *target;
    struct buf body;
    struct asked *asked; /* requests in flight, [in_flight] */
    size_t in_flight;
    long number;
};

static struct asked *of(const struct api_response *answer)
{
    return container_of((struct api_response *)(size_t)answer, struct asked, answer);
}

static void on_head(struct api_response *answer, int status, const char *content_type,
                    const char *const *headers, size_t n_headers)
{
    of(answer)->status = status;
}

static void on_data(struct api_response *answer, const void *bytes, size_t len)
{
}

static void on_end(struct api_response *answer)
{
    of(answer)->ended = true;
}

static size_t on_backlog(const struct api_response *answer)
{
    return 0;
}

static void add_numbered(const struct bench *bench, struct buf *out)
{
    const char *text = bench->body.data, *mark;

    for (; (mark = strstr(text, "@N@")); text = mark + 3) {
        buf_add(out, text, (size_t)(mark - text));
        buf_int(out, bench->number);
    }
    buf_str(out, text);
}

static void ask(struct bench *bench, struct asked *asked)
{
    scoped(buf) struct buf body = {0};
    struct api_request request = {
        .method = API_POST, .target = bench->target, .user_agent = "bench/1"};

    bench->number++;
    add_numbered(bench, &body);
    request.body = body.data;
    request.body_len = body.len;
    *asked = (struct asked){
        .answer = {.head = on_head, .data = on_data, .end = on_end, .backlog = on_backlog}};
    api_handle(bench->api, &request, &asked->answer);
}

static double cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void run(struct bench *bench, long requests)
{
    double began = cpu_us();

    while (bench->number < requests) {
        for (size_t i = 0; i < bench->in_flight; i++)
            ask(bench, &bench->asked[i]);
        loop_settle(bench->loop);
        for (size_t i = 0; i < bench->in_flight; i++)
            if (bench->asked[i].status != 201 || !bench->asked[i].ended)
                mem_fatal("a create was refused");
    }
    printf("{\"requests\":%ld,\"cpuUsEach\":%.2f}\n", bench->number,
           (cpu_us() - began) / (double)bench->number);
}

int main(int argc, char **argv)
{
    const struct store_options store_options = {0};
    const struct registry_options options = {.plugins = &job_plugin_rules};
    struct clock *clock = clock_virtual_new(1767225600000, 7);
    struct bench bench = {.target = argv[1],
                          .in_flight = argc > 4 ? strtoul(argv[4], NULL, 10) : 16};
    struct error err = {0};
    struct store *store;

    if (argc < 3 || !file_read(argv[2], 1 << 20, &bench.body, &err)) {
        fprintf(stderr, "usage: bench_api TARGET BODY-FILE [requests [in-flight]] %s\n",
                err.message);
        return 2;
    }
    bench.loop = loop_new(clock);
    bench.asked = mem_array(bench.in_flight, sizeof *bench.asked);
    store = store_open(bench.loop, &store_options, &err);
    bench.registry = registry_new(bench.loop, store, &options);
    bench.api = api_new(bench.loop, bench.registry, NULL);
    loop_settle(bench.loop);
    run(&bench, argc > 3 ? strtol(argv[3], NULL, 10) : 20000);
    api_free(bench.api);
    registry_free(bench.registry);
    store_close(store);
    loop_free(bench.loop);
    clock_free(clock);
    mem_free(bench.asked);
    buf_release(&bench.body);
    return 0;
}
