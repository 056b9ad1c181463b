/*
 * Tests the whole node with real processes and a store on disk: output, exit status, mounts, and
 * adoption of running pods after a restart of the daemon.
 */
#include "tests/unit.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/cluster_embedded.h"
#include "base/file.h"
#include "node/node.h"
#include "node/shim/entry.h"

enum { LIMIT_MS = 60000 };

static char own_path[4096];

/* One run of the daemon. */
struct life {
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct cluster *cluster;
    struct node *node;
    struct cluster_watcher pods;
    struct timer limit;
    const char *name; /* pod whose phase is awaited */
    enum pod_phase phase;
    bool late;
};

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *pod)
{
    struct life *life = container_of(watcher, struct life, pods);

    if (life->name && strcmp(object_name(pod), life->name) == 0 &&
        (life->phase == POD_UNKNOWN ? change == CHANGE_DELETED
                                    : pod_status_of(pod)->phase == life->phase))
        loop_stop(life->loop);
}

static void too_late(struct timer *timer)
{
    struct life *life = container_of(timer, struct life, limit);

    life->late = true;
    loop_stop(life->loop);
}

static struct life *begin(const char *dir, int max_pods)
{
    struct life *life = mem_alloc(sizeof *life);
    const struct node_options options = {
        .name = "here",
        .data_dir = dir,
        .max_pods = max_pods,
        .host_paths = {.any = true},
        .host = {.directory = dir, .isolation = "auto", .network = "shared"},
    };
    struct error err;

    life->loop = loop_new(clock_real());
    life->store = store_open(life->loop, &(struct store_options){.directory = dir}, &err);
    check_ok("store", life->store != NULL, err);
    life->registry = registry_new(life->loop, life->store, &(struct registry_options){0});
    life->cluster = cluster_embedded_new(life->loop, life->registry);
    life->node = node_start(life->cluster, &options, &err);
    check_ok("node", life->node != NULL, err);
    life->limit.fire = too_late;
    life->pods.kind = &kind_pod;
    life->pods.changed = pod_changed;
    cluster_watch(life->cluster, &life->pods);
    return life;
}

static void end(struct life *life)
{
    cluster_unwatch(life->cluster, &life->pods);
    node_stop(life->node);
    loop_settle(life->loop);
    cluster_embedded_free(life->cluster);
    registry_free(life->registry);
    store_close(life->store);
    loop_settle(life->loop);
    loop_free(life->loop);
    mem_free(life);
}

static const struct pod_status *status_of(struct life *life, const char *name)
{
    const struct object *pod = cluster_get(life->cluster, &kind_pod, "default", name);

    return pod ? pod_status_of(pod) : NULL;
}

/* Waits until the pod has the phase, or with POD_UNKNOWN until it is gone. */
static const struct pod_status *wait_for(struct life *life, const char *name, enum pod_phase phase)
{
    const struct pod_status *status = status_of(life, name);

    if (status ? status->phase == phase : phase == POD_UNKNOWN)
        return status;
    life->name = name;
    life->phase = phase;
    timer_start(life->loop, &life->limit, LIMIT_MS);
    loop_run(life->loop);
    timer_stop(life->loop, &life->limit);
    if (life->late)
        check_fail("%s did not become %s; it is %s", name, pod_phase_text(phase),
                   status_of(life, name) ? pod_phase_text(status_of(life, name)->phase) : "gone");
    return status_of(life, name);
}

static void create(struct life *life, const char *text)
{
    scoped_str json = mem_strdup(text);
    struct error_list errors = {0};
    const struct object *out;
    struct error err;

    for (char *at = json; *at; at++)
        if (*at == '\'')
            *at = '"';
    scoped(json) json_t *doc = json_loads(json, 0, NULL);
    check(text, doc != NULL);
    if (!registry_create(life->registry, doc, &(struct registry_write){0}, &out, &errors)) {
        error_list_ok(&errors, &err);
        check_fail("refused: %s: %s", err.field, err.message);
    }
    error_list_release(&errors);
}

/* Creates a pod. `script` must not contain quotes; `more` are further members of the container,
 * `spec` of the pod. */
static void create_pod(struct life *life, const char *name, const char *script, const char *more,
                       const char *spec)
{
    scoped_str text = mem_printf(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default'},'spec':{"
        "'restartPolicy':'Never','terminationGracePeriodSeconds':2,'containers':[{'name':'c',"
        "'image':'i','command':['sh','-c','%s']%s}]%s}}",
        name, script, more ? more : "", spec ? spec : "");

    create(life, text);
}

static char *log_of(struct life *life, const char *name)
{
    const struct object *pod = cluster_get(life->cluster, &kind_pod, "default", name);
    struct runtime *rt = node_runtime(life->node);
    struct buf out = {0};
    int64_t offset = 0;
    struct error err;

    check_ok(name,
             rt->ops->read_log(
                 rt, object_uid(pod),
                 &(struct log_query){.container = "c", .tail_lines = -1, .limit_bytes = -1},
                 &offset, &out, &err),
             err);
    return buf_take(&out);
}

static void remove_pod(struct life *life, const char *name)
{
    struct error_list errors = {0};
    const struct object *out;

    check(name, registry_delete(life->registry, &kind_pod, "default", name,
                                &(struct registry_delete){.grace_s = -1}, &out, &errors));
    error_list_release(&errors);
}

static void programs_run_and_their_exit_is_reported(void **state)
{
    scoped_str dir = test_path("ends");
    struct life *life = begin(dir, 2);
    const struct pod_status *status;

    create_pod(life, "good", "echo hello", NULL, NULL);
    create_pod(life, "bad", "exit 3", NULL, NULL);
    create_pod(life, "killed", "kill -9 $$$$", NULL, NULL);
    status = wait_for(life, "good", POD_SUCCEEDED);
    check_int("good", status->containers.items[0].exit_code, 0);
    status = wait_for(life, "bad", POD_FAILED);
    check_int("bad", status->containers.items[0].exit_code, 3);
    status = wait_for(life, "killed", POD_FAILED);
    check_int("killed", status->containers.items[0].exit_code, 137);
    scoped_str log = log_of(life, "good");
    check_str("log", log, "hello\n");
    end(life);
}

static void environment_and_volumes_reach_the_program(void **state)
{
    scoped_str dir = test_path("volumes");
    struct life *life = begin(dir, 2);

    create(life, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                 "'default'},'data':{'greeting':'hello','file':'from a file'}}");
    create_pod(life, "p", "echo $WORD; cat /etc/given/file",
               ",'env':[{'name':'WORD','valueFrom':{'configMapKeyRef':{'name':'m','key':"
               "'greeting'}}}],'volumeMounts':[{'name':'v','mountPath':'/etc/given'}]",
               ",'volumes':[{'name':'v','configMap':{'name':'m'}}]");
    wait_for(life, "p", POD_SUCCEEDED);
    scoped_str log = log_of(life, "p");
    check_str("log", log, "hello\nfrom a file");
    end(life);
}

static void a_claim_outlives_its_pods(void **state)
{
    scoped_str dir = test_path("claims");
    struct life *life = begin(dir, 2);
    static const char mount[] = ",'volumeMounts':[{'name':'v','mountPath':'/data'}]";
    static const char volume[] =
        ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]";

    create(life, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
                 "'namespace':'default'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
                 "'requests':{'storage':'1Gi'}}}}");
    create_pod(life, "w", "echo kept > /data/x", mount, volume);
    wait_for(life, "w", POD_SUCCEEDED);
    create_pod(life, "r", "cat /data/x", mount, volume);
    wait_for(life, "r", POD_SUCCEEDED);
    scoped_str log = log_of(life, "r");
    check_str("log", log, "kept\n");
    end(life);
}

static void deleted_pod_is_stopped_and_removed(void **state)
{
    scoped_str dir = test_path("deleted");
    struct life *life = begin(dir, 2);

    create_pod(life, "p", "sleep 1000", NULL, NULL);
    wait_for(life, "p", POD_RUNNING);
    remove_pod(life, "p");
    wait_for(life, "p", POD_UNKNOWN);
    check("gone", !status_of(life, "p"));
    end(life);
}

/* covers: reliability.md P-08 FT-08 INV-N1 INV-N2 */
static void restarted_daemon_adopts_running_pods(void **state)
{
    scoped_str dir = test_path("lives");
    struct life *life = begin(dir, 3);
    const struct pod_status *status;

    create_pod(life, "short", "echo once; exit 5", NULL, NULL);
    create_pod(life, "long", "sleep 1000", NULL, NULL);
    end(life);

    life = begin(dir, 3);
    create_pod(life, "waits", "exec sleep 0.2", NULL, NULL);
    wait_for(life, "waits", POD_SUCCEEDED);
    status = wait_for(life, "short", POD_FAILED);
    check_int("short", status->containers.items[0].exit_code, 5);
    scoped_str log = log_of(life, "short");
    check_str("ran once", log, "once\n");
    wait_for(life, "long", POD_RUNNING);
    remove_pod(life, "long");
    wait_for(life, "long", POD_UNKNOWN);
    end(life);
}

/* Serves HTTP on `port`: status 200 while the file exists, else 500. */
static int serve_mode(const char *port, const char *file)
{
    struct sockaddr_in any = {.sin_family = AF_INET,
                              .sin_port = htons((uint16_t)strtol(port, NULL, 10))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&any, sizeof any) || listen(fd, 8))
        return 1;
    for (;;) {
        int peer = accept(fd, NULL, NULL);
        char request[1024];

        if (read(peer, request, sizeof request) > 0)
            dprintf(peer, "HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                    access(file, F_OK) ? "500 No" : "200 OK");
        close(peer);
    }
}

static bool is_ready(struct life *life, const char *name)
{
    return status_of(life, name)->ready;
}

static void wait_ready(struct life *life, const char *name, bool ready)
{
    for (int i = 0; i < LIMIT_MS / 20 && is_ready(life, name) != ready; i++) {
        life->late = false;
        timer_start(life->loop, &life->limit, 20);
        loop_run(life->loop);
    }
    life->late = false;
    check_int(name, is_ready(life, name), ready);
}

static void server_is_ready_when_its_probe_succeeds(void **state)
{
    scoped_str dir = test_path("ready");
    struct life *life = begin(dir, 3);
    static const char more[] =
        ",'ports':[{'name':'web','containerPort':18080}],'volumeMounts':[{'name':'t','mountPath':"
        "'/t'}],'readinessProbe':{'httpGet':{'port':'web','path':'/x?y=1','httpHeaders':[{'name':"
        "'X-A','value':'1'},{'name':'X-B','value':''}]},'periodSeconds':1,'failureThreshold':1}";
    scoped_str path = test_path("flag");
    scoped_str first = mem_printf("exec %s serve 18080 %s", own_path, path);
    scoped_str second = mem_printf("exec %s serve 18080 /nothing/there", own_path);

    create_pod(life, "good", first, more, ",'volumes':[{'name':'t','emptyDir':{}}]");
    create_pod(life, "bad", second, more, ",'volumes':[{'name':'t','emptyDir':{}}]");
    wait_for(life, "good", POD_RUNNING);
    wait_for(life, "bad", POD_RUNNING);
    check("not ready yet", !is_ready(life, "good"));
    check("flag", file_write_atomic(path, "", 0, 0600, NULL));
    wait_ready(life, "good", true);
    check("each at its own address", !is_ready(life, "bad"));
    unlink(path);
    wait_ready(life, "good", false);
    remove_pod(life, "good");
    remove_pod(life, "bad");
    wait_for(life, "good", POD_UNKNOWN);
    wait_for(life, "bad", POD_UNKNOWN);
    end(life);
}

static void container_that_fails_its_liveness_probe_is_restarted(void **state)
{
    scoped_str dir = test_path("alive");
    struct life *life = begin(dir, 2);
    const struct pod_status *status;

    /* the first probe succeeds until the file exists, the second always; the process ends by itself */
    create(life,
           "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'default'},'spec':{"
           "'restartPolicy':'OnFailure','terminationGracePeriodSeconds':60,'volumes':[{'name':'v',"
           "'emptyDir':{}}],'containers':[{'name':'c','command':['sh','-c','test -e /v/again && "
           "exit 0; trap \\\"rm /v/dead; exit 143\\\" TERM; touch /v/again /v/dead; "
           "sleep 300 & wait'],'volumeMounts':[{'name':'v','mountPath':'/v'}],'livenessProbe':{"
           "'exec':{'command':['test','!','-e','/v/dead']},'timeoutSeconds':30,'periodSeconds':1,"
           "'failureThreshold':1}}]}}");
    status = wait_for(life, "p", POD_SUCCEEDED);
    check_int("restarts", status->containers.items[0].restart_count, 1);
    check_int("by TERM", status->containers.items[0].last_exit_code, 143);
    end(life);
}

static void many_short_pods_all_succeed(void **state)
{
    scoped_str dir = test_path("many");
    struct life *life = begin(dir, 4);

    for (int i = 0; i < 200; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        create_pod(life, name, i % 2 ? "exit 1" : ":", NULL, NULL);
    }
    for (int i = 0; i < 200; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        wait_for(life, name, i % 2 ? POD_FAILED : POD_SUCCEEDED);
    }
    end(life);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_run_and_their_exit_is_reported),
        cmocka_unit_test(environment_and_volumes_reach_the_program),
        cmocka_unit_test(a_claim_outlives_its_pods),
        cmocka_unit_test(deleted_pod_is_stopped_and_removed),
        cmocka_unit_test(restarted_daemon_adopts_running_pods),
        cmocka_unit_test(server_is_ready_when_its_probe_succeeds),
        cmocka_unit_test(container_that_fails_its_liveness_probe_is_restarted),
        cmocka_unit_test(many_short_pods_all_succeed),
    };
    int code = shim_main(argc, argv);

    if (code >= 0)
        return code;
    if (argc == 4 && strcmp(argv[1], "serve") == 0)
        return serve_mode(argv[2], argv[3]);
    own_path[readlink("/proc/self/exe", own_path, sizeof own_path - 1)] = 0;
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
