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
struct daemon {
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
    struct daemon *daemon = container_of(watcher, struct daemon, pods);

    if (daemon->name && strcmp(object_name(pod), daemon->name) == 0 &&
        (daemon->phase == POD_UNKNOWN ? change == CHANGE_DELETED
                                      : pod_status_of(pod)->phase == daemon->phase))
        loop_stop(daemon->loop);
}

static void too_late(struct timer *timer)
{
    struct daemon *daemon = container_of(timer, struct daemon, limit);

    daemon->late = true;
    loop_stop(daemon->loop);
}

static struct daemon *start_daemon(const char *dir, int max_pods)
{
    struct daemon *daemon = mem_alloc(sizeof *daemon);
    const struct node_options options = {
        .name = "here",
        .data_dir = dir,
        .max_pods = max_pods,
        .host_paths = {.any = true},
        .host = {.directory = dir, .isolation = "auto", .network = "shared"},
    };
    struct error err;

    daemon->loop = loop_new(clock_real());
    daemon->store = store_open(daemon->loop, &(struct store_options){.directory = dir}, &err);
    check_ok("store", daemon->store != NULL, err);
    daemon->registry = registry_new(daemon->loop, daemon->store, &(struct registry_options){0});
    daemon->cluster = cluster_embedded_new(daemon->loop, daemon->registry);
    daemon->node = node_start(daemon->cluster, &options, &err);
    check_ok("node", daemon->node != NULL, err);
    daemon->limit.fire = too_late;
    daemon->pods.kind = &kind_pod;
    daemon->pods.changed = pod_changed;
    cluster_watch(daemon->cluster, &daemon->pods);
    return daemon;
}

static void stop_daemon(struct daemon *daemon)
{
    cluster_unwatch(daemon->cluster, &daemon->pods);
    node_stop(daemon->node);
    loop_settle(daemon->loop);
    cluster_embedded_free(daemon->cluster);
    registry_free(daemon->registry);
    store_close(daemon->store);
    loop_settle(daemon->loop);
    loop_free(daemon->loop);
    mem_free(daemon);
}

static const struct pod_status *status_of(struct daemon *daemon, const char *name)
{
    const struct object *pod = cluster_get(daemon->cluster, &kind_pod, "default", name);

    return pod ? pod_status_of(pod) : NULL;
}

/* Waits until the pod has the phase, or with POD_UNKNOWN until it is gone. */
static const struct pod_status *wait_for(struct daemon *daemon, const char *name,
                                         enum pod_phase phase)
{
    const struct pod_status *status = status_of(daemon, name);

    if (status ? status->phase == phase : phase == POD_UNKNOWN)
        return status;
    daemon->name = name;
    daemon->phase = phase;
    timer_start(daemon->loop, &daemon->limit, LIMIT_MS);
    loop_run(daemon->loop);
    timer_stop(daemon->loop, &daemon->limit);
    if (daemon->late)
        check_fail("%s did not become %s; it is %s", name, pod_phase_text(phase),
                   status_of(daemon, name) ? pod_phase_text(status_of(daemon, name)->phase)
                                           : "gone");
    return status_of(daemon, name);
}

static void create(struct daemon *daemon, const char *text)
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
    if (!registry_create(daemon->registry, doc, &(struct registry_write){0}, &out, &errors)) {
        error_list_ok(&errors, &err);
        check_fail("refused: %s: %s", err.field, err.message);
    }
    error_list_release(&errors);
}

/* Creates a pod. `script` must not contain quotes; `more` are further members of the container,
 * `spec` of the pod. */
static void create_pod(struct daemon *daemon, const char *name, const char *script,
                       const char *more, const char *spec)
{
    scoped_str text = mem_printf(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default'},'spec':{"
        "'restartPolicy':'Never','terminationGracePeriodSeconds':2,'containers':[{'name':'c',"
        "'image':'i','command':['sh','-c','%s']%s}]%s}}",
        name, script, more ? more : "", spec ? spec : "");

    create(daemon, text);
}

static char *log_of(struct daemon *daemon, const char *name)
{
    const struct object *pod = cluster_get(daemon->cluster, &kind_pod, "default", name);
    struct runtime *rt = node_runtime(daemon->node);
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

static void remove_pod(struct daemon *daemon, const char *name)
{
    struct error_list errors = {0};
    const struct object *out;

    check(name,
          registry_delete(daemon->registry, (struct registry_target){&kind_pod, "default", name},
                          &(struct registry_delete){.grace_s = -1}, &out, &errors));
    error_list_release(&errors);
}

static void programs_run_and_their_exit_is_reported(void **state)
{
    scoped_str dir = test_path("ends");
    struct daemon *daemon = start_daemon(dir, 2);
    const struct pod_status *status;

    create_pod(daemon, "good", "echo hello", NULL, NULL);
    create_pod(daemon, "bad", "exit 3", NULL, NULL);
    create_pod(daemon, "killed", "kill -9 $$$$", NULL, NULL);
    status = wait_for(daemon, "good", POD_SUCCEEDED);
    check_int("good", status->containers.items[0].exit_code, 0);
    status = wait_for(daemon, "bad", POD_FAILED);
    check_int("bad", status->containers.items[0].exit_code, 3);
    status = wait_for(daemon, "killed", POD_FAILED);
    check_int("killed", status->containers.items[0].exit_code, 137);
    scoped_str log = log_of(daemon, "good");
    check_str("log", log, "hello\n");
    stop_daemon(daemon);
}

static void environment_and_volumes_reach_the_program(void **state)
{
    scoped_str dir = test_path("volumes");
    struct daemon *daemon = start_daemon(dir, 2);

    create(daemon, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                   "'default'},'data':{'greeting':'hello','file':'from a file'}}");
    create_pod(daemon, "p", "echo $WORD; cat /etc/given/file",
               ",'env':[{'name':'WORD','valueFrom':{'configMapKeyRef':{'name':'m','key':"
               "'greeting'}}}],'volumeMounts':[{'name':'v','mountPath':'/etc/given'}]",
               ",'volumes':[{'name':'v','configMap':{'name':'m'}}]");
    wait_for(daemon, "p", POD_SUCCEEDED);
    scoped_str log = log_of(daemon, "p");
    check_str("log", log, "hello\nfrom a file");
    stop_daemon(daemon);
}

static void a_claim_outlives_its_pods(void **state)
{
    scoped_str dir = test_path("claims");
    struct daemon *daemon = start_daemon(dir, 2);
    static const char mount[] = ",'volumeMounts':[{'name':'v','mountPath':'/data'}]";
    static const char volume[] =
        ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]";

    create(daemon, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
                   "'namespace':'default'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
                   "'requests':{'storage':'1Gi'}}}}");
    create_pod(daemon, "w", "echo kept > /data/x", mount, volume);
    wait_for(daemon, "w", POD_SUCCEEDED);
    create_pod(daemon, "r", "cat /data/x", mount, volume);
    wait_for(daemon, "r", POD_SUCCEEDED);
    scoped_str log = log_of(daemon, "r");
    check_str("log", log, "kept\n");
    stop_daemon(daemon);
}

static void deleted_pod_is_stopped_and_removed(void **state)
{
    scoped_str dir = test_path("deleted");
    struct daemon *daemon = start_daemon(dir, 2);

    create_pod(daemon, "p", "sleep 1000", NULL, NULL);
    wait_for(daemon, "p", POD_RUNNING);
    remove_pod(daemon, "p");
    wait_for(daemon, "p", POD_UNKNOWN);
    check("gone", !status_of(daemon, "p"));
    stop_daemon(daemon);
}

/* covers: reliability.md P-08 FT-08 INV-N1 INV-N2 */
static void restarted_daemon_adopts_running_pods(void **state)
{
    scoped_str dir = test_path("lives");
    struct daemon *daemon = start_daemon(dir, 3);
    const struct pod_status *status;

    create_pod(daemon, "short", "echo once; exit 5", NULL, NULL);
    create_pod(daemon, "long", "sleep 1000", NULL, NULL);
    stop_daemon(daemon);

    daemon = start_daemon(dir, 3);
    create_pod(daemon, "waits", "exec sleep 0.2", NULL, NULL);
    wait_for(daemon, "waits", POD_SUCCEEDED);
    status = wait_for(daemon, "short", POD_FAILED);
    check_int("short", status->containers.items[0].exit_code, 5);
    scoped_str log = log_of(daemon, "short");
    check_str("ran once", log, "once\n");
    wait_for(daemon, "long", POD_RUNNING);
    remove_pod(daemon, "long");
    wait_for(daemon, "long", POD_UNKNOWN);
    stop_daemon(daemon);
}

/* The program of a pod that serves HTTP on `port`: status 200 while the file exists, else 500. */
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

static bool is_ready(struct daemon *daemon, const char *name)
{
    return status_of(daemon, name)->ready;
}

static void wait_ready(struct daemon *daemon, const char *name, bool ready)
{
    for (int i = 0; i < LIMIT_MS / 20 && is_ready(daemon, name) != ready; i++) {
        daemon->late = false;
        timer_start(daemon->loop, &daemon->limit, 20);
        loop_run(daemon->loop);
    }
    daemon->late = false;
    check_int(name, is_ready(daemon, name), ready);
}

static void server_is_ready_when_its_probe_succeeds(void **state)
{
    scoped_str dir = test_path("ready");
    struct daemon *daemon = start_daemon(dir, 3);
    static const char more[] =
        ",'ports':[{'name':'web','containerPort':18080}],'volumeMounts':[{'name':'t','mountPath':"
        "'/t'}],'readinessProbe':{'httpGet':{'port':'web','path':'/x?y=1','httpHeaders':[{'name':"
        "'X-A','value':'1'},{'name':'X-B','value':''}]},'periodSeconds':1,'failureThreshold':1}";
    scoped_str path = test_path("flag");
    scoped_str first = mem_printf("exec %s serve 18080 %s", own_path, path);
    scoped_str second = mem_printf("exec %s serve 18080 /nothing/there", own_path);

    create_pod(daemon, "good", first, more, ",'volumes':[{'name':'t','emptyDir':{}}]");
    create_pod(daemon, "bad", second, more, ",'volumes':[{'name':'t','emptyDir':{}}]");
    wait_for(daemon, "good", POD_RUNNING);
    wait_for(daemon, "bad", POD_RUNNING);
    check("not ready yet", !is_ready(daemon, "good"));
    check("flag", file_write_atomic(path, "", 0, 0600, NULL));
    wait_ready(daemon, "good", true);
    check("each at its own address", !is_ready(daemon, "bad"));
    unlink(path);
    wait_ready(daemon, "good", false);
    remove_pod(daemon, "good");
    remove_pod(daemon, "bad");
    wait_for(daemon, "good", POD_UNKNOWN);
    wait_for(daemon, "bad", POD_UNKNOWN);
    stop_daemon(daemon);
}

static void container_that_fails_its_liveness_probe_is_restarted(void **state)
{
    scoped_str dir = test_path("alive");
    struct daemon *daemon = start_daemon(dir, 2);
    const struct pod_status *status;

    /* The first probe succeeds when the file exists, the second always. The process ends by
     * itself. */
    create(daemon,
           "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'default'},'spec':{"
           "'restartPolicy':'OnFailure','terminationGracePeriodSeconds':60,'volumes':[{'name':'v',"
           "'emptyDir':{}}],'containers':[{'name':'c','command':['sh','-c','test -e /v/again && "
           "exit 0; trap \\\"rm /v/dead; exit 143\\\" TERM; touch /v/again /v/dead; "
           "sleep 300 & wait'],'volumeMounts':[{'name':'v','mountPath':'/v'}],'livenessProbe':{"
           "'exec':{'command':['test','!','-e','/v/dead']},'timeoutSeconds':30,'periodSeconds':1,"
           "'failureThreshold':1}}]}}");
    status = wait_for(daemon, "p", POD_SUCCEEDED);
    check_int("restarts", status->containers.items[0].restart_count, 1);
    check_int("by TERM", status->containers.items[0].last_exit_code, 143);
    stop_daemon(daemon);
}

static void many_short_pods_all_succeed(void **state)
{
    scoped_str dir = test_path("many");
    struct daemon *daemon = start_daemon(dir, 4);

    for (int i = 0; i < 200; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        create_pod(daemon, name, i % 2 ? "exit 1" : ":", NULL, NULL);
    }
    for (int i = 0; i < 200; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        wait_for(daemon, name, i % 2 ? POD_FAILED : POD_SUCCEEDED);
    }
    stop_daemon(daemon);
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
