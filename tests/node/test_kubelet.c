/*
 * The lives of pods, with a runtime that does what the test says, on the embedded cluster.
 */
#include "tests/unit.h"

#include "tests/support/node_bed.h"

static struct kubelet_options options_for(int64_t max_pods)
{
    return (struct kubelet_options){
        .node_name = "here",
        .capacity = {.cpu_milli = 4000, .memory_bytes = 1 << 30, .pods = max_pods},
        .ahead = scheduler_ahead(max_pods),
        .volumes = {.sim = true, .data_dir = "/data"},
    };
}

static struct rig *set_up(int64_t max_pods)
{
    struct rig *rig = rig_new();
    struct kubelet_options options = options_for(max_pods);

    options.volumes.sim = false;
    options.volumes.host_paths.any = true;
    rig_start_kubelet(rig, &options);
    return rig;
}

#define COMMAND "'command':['true']"

/* A pod that is bound already; `container` and `spec` are further members. */
static void bound_pod(struct rig *rig, const char *name, const char *container, const char *spec)
{
    rig_create(rig,
               "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default'},"
               "'spec':{'nodeName':'here','restartPolicy':'Never','containers':[{'name':'c',"
               "'image':'i'%s}]%s}}",
               name, container ? container : "," COMMAND, spec ? spec : "");
    rig_settle(rig);
}

static int64_t start_ms(struct rig *rig, const char *name)
{
    return pod_status_of(rig_get(rig, &kind_pod, name))->start_ms;
}

static void a_pod_goes_from_bound_to_succeeded(void **state)
{
    struct rig *rig = set_up(2);
    struct rig_pod *pod;

    bound_pod(rig, "p", NULL, NULL);
    pod = rig_started(rig, "p");
    assert_non_null(pod);
    check("its intent is in the status", start_ms(rig, "p") != 0);
    check_has("placed", rig_status(rig, &kind_pod, "p"),
              "\"type\":\"PodScheduled\",\"status\":\"True\"");
    check_str("needs no address", pod->ip, "");
    check_str("nor a hosts file", pod->hosts, "");
    rig_tell_running(rig, "p");
    check_int("running", rig_pod_phase(rig, "p"), POD_RUNNING);
    check_has("ready", rig_status(rig, &kind_pod, "p"), "\"type\":\"Ready\",\"status\":\"True\"");
    check_has("its image", rig_status(rig, &kind_pod, "p"), "\"image\":\"i\"");
    rig_tell_ended(rig, "p", 0);
    check_int("succeeded", rig_pod_phase(rig, "p"), POD_SUCCEEDED);
    check("released", pod->released);
    check("logs stay", !pod->purged);
    rig_delete(rig, &kind_pod, "p", -1);
    rig_settle(rig);
    check("purged with its object", pod->purged);
    rig_free(rig);
}

static void a_pod_of_an_earlier_life_is_purged_with_its_object(void **state)
{
    struct rig *rig = set_up(2);
    struct kubelet_options options = options_for(2);

    bound_pod(rig, "p", NULL, NULL);
    rig_tell_ended(rig, "p", 0);
    rig_stop(rig);
    rig_start_kubelet(rig, &options);
    check("its logs are still there", !rig_started(rig, "p")->purged);
    rig_delete(rig, &kind_pod, "p", -1);
    rig_settle(rig);
    check("purged", rig_started(rig, "p")->purged);
    rig_free(rig);
}

/* covers: reliability.md L-37 */
static void no_more_than_max_pods_run_and_all_have_their_turn(void **state)
{
    struct rig *rig = set_up(3);

    for (int i = 0; i < 20; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        bound_pod(rig, name, NULL, NULL);
    }
    check_int("three", rig->running, 3);
    rig_run_all(rig);
    check_int("all", rig->n_pods, 20);
    check_int("never more than three", rig->peak, 3);
    for (size_t i = 0; i < rig->n_pods; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", (int)(i % 100));
        check_str("in order", rig->pods[i].name, name);
    }
    rig_free(rig);
}

/* covers: reliability.md D-09; see DC-18 */
static void intents_are_written_ahead_of_free_slots(void **state)
{
    struct rig *rig = set_up(1);
    int with_intent = 0;

    for (int i = 0; i < 20; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        bound_pod(rig, name, NULL, NULL);
    }
    for (int i = 0; i < 20; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        with_intent += start_ms(rig, name) != 0;
    }
    check_int("the running one and 2 * 1 + 8", with_intent, 11);
    rig_free(rig);
}

static void processors_are_not_promised_twice(void **state)
{
    struct rig *rig = set_up(8);

    for (int i = 0; i < 4; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        bound_pod(rig, name, "," COMMAND ",'resources':{'requests':{'cpu':'1500m'}}", NULL);
    }
    check_int("two times 1.5 of 4", rig->running, 2);
    rig_tell_ended(rig, "p0", 0);
    check("the next one", rig_started(rig, "p2") != NULL);
    rig_free(rig);
}

/* covers: reliability.md INV-N2 INV-N5 P-09 */
static void phases_only_move_forward(void **state)
{
    struct rig *rig = set_up(1);

    bound_pod(rig, "p", NULL, NULL);
    rig_tell_ended(rig, "p", 3);
    check_int("failed", rig_pod_phase(rig, "p"), POD_FAILED);
    check_has("real code", rig_status(rig, &kind_pod, "p"), "\"exitCode\":3");
    rig_tell_running(rig, "p");
    check_int("stays failed", rig_pod_phase(rig, "p"), POD_FAILED);
    rig_free(rig);
}

static void reports_of_one_turn_are_written_once(void **state)
{
    struct rig *rig = set_up(1);
    struct runtime_report report = {.uid = NULL};
    int64_t before;

    bound_pod(rig, "p", NULL, NULL);
    before = rig_get(rig, &kind_pod, "p")->revision;
    report.uid = rig_started(rig, "p")->uid;
    report.status.phase = POD_RUNNING;
    rig->runtime->report(rig->runtime->ctx, &report);
    report.status.phase = POD_SUCCEEDED;
    report.final = true;
    rig->runtime->report(rig->runtime->ctx, &report);
    rig_settle(rig);
    check_int("one write", rig_get(rig, &kind_pod, "p")->revision, before + 1);
    check_int("the last", rig_pod_phase(rig, "p"), POD_SUCCEEDED);
    rig_free(rig);
}

/* DC-10 */
static const struct {
    const char *name, *container, *spec, *says;
} never[] = {
    {"no command", ",'args':[]", NULL, "\"reason\":\"NoCommand\""},
    {"what to do about it", "", NULL, "set command"},
    {"field path",
     "," COMMAND ",'env':[{'name':'A','valueFrom':{'resourceFieldRef':{'resource':'limits.cpu','"
     "containerName':'nobody'}}}]",
     NULL, "InvalidResourceField"},
    {"sub path of a variable that climbs",
     "," COMMAND
     ",'env':[{'name':'A','value':'../x'}],'volumeMounts':[{'name':'v','mountPath':'/a',"
     "'subPathExpr':'a/$(A)/$(A)'}]",
     ",'volumes':[{'name':'v','emptyDir':{}}]", "InvalidSubPath"},
    {"sub path of no variable",
     "," COMMAND ",'volumeMounts':[{'name':'v','mountPath':'/a','subPathExpr':'$(NO)'}]",
     ",'volumes':[{'name':'v','emptyDir':{}}]", "InvalidSubPath"},
};

static void a_pod_that_cannot_run_fails_with_a_reason(void **state)
{
    for (size_t i = 0; i < countof(never); i++) {
        struct rig *rig = set_up(1);

        bound_pod(rig, "p", never[i].container, never[i].spec);
        check_int(never[i].name, rig_pod_phase(rig, "p"), POD_FAILED);
        check_has(never[i].name, rig_status(rig, &kind_pod, "p"), never[i].says);
        check_int(never[i].name, rig->n_pods, 0);
        bound_pod(rig, "q", NULL, NULL);
        check(never[i].name, rig_started(rig, "q") != NULL);
        rig_free(rig);
    }
}

static void host_paths_can_be_forbidden(void **state)
{
    struct rig *rig = rig_new();
    struct kubelet_options options = options_for(1);

    rig_start_kubelet(rig, &options);
    bound_pod(rig, "p", NULL, ",'volumes':[{'name':'v','hostPath':{'path':'/etc'}}]");
    check_int("refused", rig_pod_phase(rig, "p"), POD_FAILED);
    check_has("why", rig_status(rig, &kind_pod, "p"), "HostPathForbidden");
    rig_free(rig);
}

/* covers: local-runtime.md LRT-14 */
static const struct {
    const char *name, *container, *spec, *message, *object;
} missing[] = {
    {"envFrom", "," COMMAND ",'envFrom':[{'configMapRef':{'name':'m'}}]", NULL,
     "configmap \\\"m\\\" not found",
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':'default'}}"},
    {"secretKeyRef",
     "," COMMAND ",'env':[{'name':'A','valueFrom':{'secretKeyRef':{'name':'s','key':'k'}}}]", NULL,
     "secret \\\"s\\\" not found",
     "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':'default'},'data':{'k':"
     "'djE='}}"},
    {"volume", NULL, ",'volumes':[{'name':'v','configMap':{'name':'m'}}]",
     "volume v: configmap \\\"m\\\" not found",
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':'default'}}"},
    {"projected", NULL,
     ",'volumes':[{'name':'v','projected':{'sources':[{'secret':{'name':'s'}}]}}]",
     "volume v: secret \\\"s\\\" not found",
     "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':'default'}}"},
    {"claim", NULL, ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'pvc'}}]",
     "persistentvolumeclaim \\\"pvc\\\" not found",
     "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'pvc','namespace':"
     "'default'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}"
     "}}"},
};

static void what_is_missing_holds_the_pod_until_it_appears(void **state)
{
    for (size_t i = 0; i < countof(missing); i++) {
        struct rig *rig = rig_new();
        struct kubelet_options options = options_for(1);

        rig_start_kubelet(rig, &options);
        bound_pod(rig, "p", missing[i].container, missing[i].spec);
        check_int(missing[i].name, rig->n_pods, 0);
        check_int(missing[i].name, rig_pod_phase(rig, "p"), POD_PENDING);
        check_has(missing[i].name, rig_status(rig, &kind_pod, "p"), "CreateContainerConfigError");
        check_has(missing[i].name, rig_status(rig, &kind_pod, "p"), missing[i].message);
        bound_pod(rig, "q", NULL, NULL);
        check(missing[i].name, rig_started(rig, "q") != NULL);
        rig_create(rig, "%s", missing[i].object);
        rig_run_all(rig);
        check(missing[i].name, rig_started(rig, "p") != NULL);
        check_int(missing[i].name, rig_pod_phase(rig, "p"), POD_SUCCEEDED);
        rig_free(rig);
    }
}

static void a_missing_key_is_waited_for_too(void **state)
{
    struct rig *rig = set_up(1);

    rig_create(rig, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                    "'default'},'data':{'a':'1'}}");
    bound_pod(rig, "p",
              "," COMMAND ",'env':[{'name':'A','valueFrom':{'configMapKeyRef':{'name':'m','key':"
              "'b'}}}]",
              NULL);
    check_has("which", rig_status(rig, &kind_pod, "p"),
              "couldn't find key b in ConfigMap default/m");
    rig_patch(rig, &kind_config_map, "m", "{'data':{'b':'2'}}");
    rig_settle(rig);
    check_str("now", rig_started(rig, "p")->env, "A=2;");
    rig_free(rig);
}

/* covers: local-runtime.md LRT-12 */
static void files_of_running_pods_follow_their_objects(void **state)
{
    struct rig *rig = set_up(4);
    static const char volumes[] =
        ",'volumes':[{'name':'v','configMap':{'name':'m'}},{'name':'p','projected':{'sources':[{"
        "'secret':{'name':'s'}}]}},{'name':'e','emptyDir':{}}]";

    rig_create(rig, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                    "'default'},'data':{'k':'1'}}");
    rig_create(rig, "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':"
                    "'default'},'data':{'K':'c2VjcmV0'}}");
    bound_pod(rig, "p", NULL, volumes);
    bound_pod(rig, "other", NULL, NULL);
    rig_tell_running(rig, "p");
    check_str("at first", rig_started(rig, "p")->files, "v:k=1,644;p:K=secret,644;");
    rig_patch(rig, &kind_config_map, "m", "{'data':{'k':'2','l':'3'}}");
    rig_settle(rig);
    check_has("told", rig_started(rig, "p")->volumes, "v:");
    check_str("the last of its volumes of files", rig_started(rig, "p")->files, "p:K=secret,644;");
    rig_patch(rig, &kind_secret, "s", "{'data':{'K':'bmV3'}}");
    rig_settle(rig);
    check_str("a secret in a projection", rig_started(rig, "p")->files, "p:K=new,644;");
    rig_delete(rig, &kind_secret, "s", -1);
    rig_settle(rig);
    check_str("what went stays as it was", rig_started(rig, "p")->files, "p:K=new,644;");
    rig_tell_ended(rig, "p", 0);
    rig_patch(rig, &kind_config_map, "m", "{'data':{'k':'4'}}");
    rig_settle(rig); /* the scripted runtime would complain of a pod that does not run */
    rig_free(rig);
}

/* covers: see 3.3 of job-plugins.md */
static void variables_of_containers_that_may_run_again_follow_their_objects(void **state)
{
    static const struct {
        const char *name, *policy, *renewed;
    } rows[] = {
        {"always", ",'restartPolicy':'Always'", "0 run 2 B=secret A=2;"},
        {"on failure", ",'restartPolicy':'OnFailure'", "0 run 2 B=secret A=2;"},
        {"never", ",'restartPolicy':'Never'", ""},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        struct rig *rig = set_up(4);

        rig_create(rig, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                        "'default'},'data':{'k':'1'}}");
        rig_create(rig, "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':"
                        "'default'},'data':{'B':'c2VjcmV0'}}");
        rig_create(rig,
                   "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'default'},"
                   "'spec':{'nodeName':'here'%s,'containers':[{'name':'c','image':'i','command':["
                   "'run','$(A)'],'env':[{'name':'A','valueFrom':{'configMapKeyRef':{'name':'m',"
                   "'key':'k'}}}],'envFrom':[{'secretRef':{'name':'s'}}]}]}}",
                   rows[i].policy);
        rig_settle(rig);
        rig_tell_running(rig, "p");
        check_str(rows[i].name, rig_started(rig, "p")->renewed, "");
        rig_patch(rig, &kind_config_map, "m", "{'data':{'k':'2'}}");
        rig_settle(rig);
        check_str(rows[i].name, rig_started(rig, "p")->renewed, rows[i].renewed);
        rig_started(rig, "p")->renewed[0] = 0;
        rig_delete(rig, &kind_config_map, "m", -1);
        rig_settle(rig);
        check_str("what went stays as it was", rig_started(rig, "p")->renewed, "");
        rig_free(rig);
    }
}

/* covers: local-runtime.md LRT-05 */
static void where_ports_are_shared_the_second_pod_waits(void **state)
{
    static const struct {
        const char *name, *spec;
        bool own_addresses;
    } rows[] = {{"no rewriting", NULL, false}, {"the host's network", ",'hostNetwork':true", true}};
    static const char ports[] = "," COMMAND ",'ports':[{'containerPort':8080}]";

    for (size_t i = 0; i < countof(rows); i++) {
        struct rig *rig = rig_new();
        struct kubelet_options options = options_for(4);

        options.volumes.sim = false;
        rig->abilities.own_addresses = rows[i].own_addresses;
        rig_start_kubelet(rig, &options);
        bound_pod(rig, "first", ports, rows[i].spec);
        bound_pod(rig, "second", ports, rows[i].spec);
        bound_pod(rig, "other", "," COMMAND ",'ports':[{'containerPort':8081}]", rows[i].spec);
        check(rows[i].name, rig_started(rig, "first") && rig_started(rig, "other"));
        check(rows[i].name, !rig_started(rig, "second"));
        check_int(rows[i].name, rig_pod_phase(rig, "second"), POD_PENDING);
        check_has(rows[i].name, rig_status(rig, &kind_pod, "second"), "\"PortConflict\"");
        check_has(rows[i].name, rig_status(rig, &kind_pod, "second"),
                  "port 8080 is in use by pod default/first");
        rig_tell_ended(rig, "first", 0);
        check(rows[i].name, rig_started(rig, "second") != NULL);
        rig_free(rig);
    }
}

static void pods_with_addresses_of_their_own_share_no_ports(void **state)
{
    struct rig *rig = set_up(4);
    static const char ports[] = "," COMMAND ",'ports':[{'containerPort':8080}]";

    bound_pod(rig, "first", ports, NULL);
    bound_pod(rig, "second", ports, NULL);
    check("both run", rig_started(rig, "first") && rig_started(rig, "second"));
    rig_free(rig);
}

static void service(struct rig *rig, const char *name)
{
    rig_create(rig,
               "{'apiVersion':'v1','kind':'Service','metadata':{'name':'%s','namespace':'default'},"
               "'spec':{'clusterIP':'None','selector':{'app':'%s'},'ports':[{'port':80}]}}",
               name, name);
    rig_settle(rig);
}

static void a_plain_pod_has_names_while_there_are_services_to_look_up(void **state)
{
    struct rig *rig = set_up(8);

    bound_pod(rig, "before", NULL, NULL);
    check_str("nothing to look up", rig_started(rig, "before")->hosts, "");
    rig_create(rig, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'s','namespace':'default',"
                    "'labels':{'app':'web'}},'spec':{'nodeName':'here','containers':[{'name':'c',"
                    "'command':['serve'],'ports':[{'containerPort':80}]}],'hostname':'s'}}");
    service(rig, "web");
    rig_tell_running(rig, "s");
    bound_pod(rig, "client", NULL, NULL);
    check_has("the name", rig_started(rig, "client")->hosts, " web.default.svc web.default web\n");
    check_str("and no address of its own", rig_started(rig, "client")->ip, "");
    bound_pod(rig, "aloof", NULL, ",'dnsPolicy':'Default'");
    check_str("unless it wants the host's", rig_started(rig, "aloof")->hosts, "");
    rig_delete(rig, &kind_service, "web", -1);
    rig_advance(rig, 1000);
    check("told when it goes", !strstr(rig_started(rig, "client")->hosts, "web"));
    bound_pod(rig, "after", NULL, NULL);
    check_str("nothing any more", rig_started(rig, "after")->hosts, "");
    rig_free(rig);
}

static void host_aliases_are_lines_of_the_hosts_file(void **state)
{
    struct rig *rig = set_up(2);

    bound_pod(rig, "p", NULL,
              ",'hostAliases':[{'ip':'10.1.2.3','hostnames':['db','db.local']},{'ip':'10.1.2.4',"
              "'hostnames':['cache']}]");
    check_has("aliases", rig_started(rig, "p")->hosts,
              "127.0.0.1 localhost\n127.10.4.0 p\n10.1.2.3 db db.local\n10.1.2.4 cache\n");
    rig_free(rig);
}

static void environment_is_resolved_in_order(void **state)
{
    struct rig *rig = set_up(1);

    rig_create(rig, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                    "'default'},'data':{'A':'map','B':'map'}}");
    rig_create(rig, "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':"
                    "'default'},'data':{'K':'c2VjcmV0IQ=='}}");
    bound_pod(rig, "p",
              ",'command':['run','$(A)','$$(A)','$(nobody)','$x'],'args':['$(IP)'],"
              "'resources':{'limits':{'cpu':'1500m','memory':'64Mi'}},"
              "'envFrom':[{'configMapRef':{'name':'m'}},{'prefix':'S_','secretRef':{'name':'s'}},"
              "{'configMapRef':{'name':'none','optional':true}}],'env':["
              "{'name':'A','value':'$(A)+$(B)'},{'name':'N','valueFrom':{'fieldRef':{'fieldPath':"
              "'metadata.name'}}},{'name':'IP','valueFrom':{'fieldRef':{'fieldPath':'status.podIP'"
              "}}},{'name':'CPU','valueFrom':{'resourceFieldRef':{'resource':'limits.cpu'}}},"
              "{'name':'MB','valueFrom':{'resourceFieldRef':{'resource':'limits.memory','divisor':"
              "'1Mi'}}},{'name':'OPT','valueFrom':{'secretKeyRef':{'name':'s','key':'no','optional'"
              ":true}}},{'name':'NODE','valueFrom':{'fieldRef':{'fieldPath':'spec.nodeName'}}}]",
              NULL);
    check_str("env", rig_started(rig, "p")->env,
              "A=map+map;B=map;S_K=secret!;N=p;IP=127.10.4.0;CPU=2;MB=64;NODE=here;");
    check_str("argv", rig_started(rig, "p")->argv, "run map+map $(A) $(nobody) $x 127.10.4.0");
    check_has("its address is told", rig_status(rig, &kind_pod, "p"), "\"podIP\":\"127.10.4.0\"");
    rig_free(rig);
}

/* covers: see 4.4 */
static void volumes_become_files_and_directories(void **state)
{
    struct rig *rig = rig_new();
    struct kubelet_options options = options_for(1);
    const char *uid;

    options.volumes.host_paths.any = true;
    rig_start_kubelet(rig, &options);
    rig_create(rig, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                    "'default'},'data':{'a':'1','b':'2'},'binaryData':{'c':'AAE='}}");
    rig_create(rig, "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':"
                    "'default'},'data':{'k':'a2V5'}}");
    rig_create(rig, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'claim',"
                    "'namespace':'default'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
                    "'requests':{'storage':'1Gi'}}}}");
    uid = object_uid(rig_get(rig, &kind_pvc, "claim"));
    bound_pod(rig, "p", NULL,
              ",'volumes':[{'name':'m','configMap':{'name':'m','items':[{'key':'a','path':'x/a',"
              "'mode':256}]}},{'name':'s','secret':{'secretName':'s','defaultMode':384}},{'name':"
              "'e','emptyDir':{'medium':'Memory','sizeLimit':'1Mi'}},{'name':'h','hostPath':{"
              "'path':'/etc'}},{'name':'c','persistentVolumeClaim':{'claimName':'claim'}},"
              "{'name':'d','downwardAPI':{'items':[{'path':'n','fieldRef':{'fieldPath':"
              "'metadata.namespace'}}]}},{'name':'o','secret':{'secretName':'no','optional':true}},"
              "{'name':'p','projected':{'sources':[{'configMap':{'name':'m','items':[{'key':'b',"
              "'path':'b'}]}},{'secret':{'name':'s'}}]}}]");
    scoped_str want = mem_printf("m:1:;s:1m:;e:0m:;h:2:/etc;c:3:/data/pvc/default/%s;d:1:;o:1m:;"
                                 "p:1m:;",
                                 uid);
    check_str("volumes", rig_started(rig, "p")->volumes, want);
    check_str("files", rig_started(rig, "p")->files,
              "m:x/a=1,400;s:k=key,600;d:n=default,644;p:b=2,644;p:k=key,644;");
    rig_free(rig);
}

/* A pod of that job, as the svc plugin makes it. */
static void create_named(struct rig *rig, const char *name, const char *job)
{
    rig_create(rig,
               "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default',"
               "'labels':{'volcano.sh/job-name':'%s'}},'spec':{'nodeName':'here','hostname':"
               "'%s','subdomain':'%s','restartPolicy':'Never','containers':[{'name':'c','image':"
               "'i'," COMMAND "}]}}",
               name, job, name, job);
    rig_settle(rig);
}

static void create_service(struct rig *rig, const char *job)
{
    rig_create(rig,
               "{'apiVersion':'v1','kind':'Service','metadata':{'name':'%s','namespace':"
               "'default'},'spec':{'clusterIP':'None','selector':{'volcano.sh/job-name':'%s'}}}",
               job, job);
    rig_settle(rig);
}

static void names_of_a_job_are_known_to_all_its_pods(void **state)
{
    struct rig *rig = set_up(4);

    create_named(rig, "j-w-0", "j");
    create_named(rig, "j-w-1", "j");
    check_str("the first was told of the second", rig_started(rig, "j-w-0")->hosts,
              "127.0.0.1 localhost\n"
              "127.10.4.0 j-w-0.j.default.svc.cluster.local j-w-0.j.default.svc j-w-0.j.default "
              "j-w-0.j j-w-0\n"
              "127.10.4.1 j-w-1.j.default.svc.cluster.local j-w-1.j.default.svc j-w-1.j.default "
              "j-w-1.j j-w-1\n");
    check_str("as the second itself", rig_started(rig, "j-w-1")->hosts,
              rig_started(rig, "j-w-0")->hosts);
    create_service(rig, "j");
    check_has("a service's name", rig_started(rig, "j-w-0")->hosts,
              "127.10.4.1 j.default.svc.cluster.local j.default.svc j.default j\n");
    rig_delete(rig, &kind_pod, "j-w-1", 0);
    rig_tell_ended(rig, "j-w-1", 0);
    check("who is gone has no name", !strstr(rig_started(rig, "j-w-0")->hosts, "j-w-1"));
    rig_free(rig);
}

static void services_are_known_to_pods_of_other_jobs(void **state)
{
    struct rig *rig = set_up(4);

    create_named(rig, "before-m-0", "before");
    create_named(rig, "server-m-0", "server");
    check("no service, no name", !strstr(rig_started(rig, "before-m-0")->hosts, "server"));
    create_service(rig, "server");
    create_named(rig, "after-m-0", "after");
    check_has(
        "who starts knows the pod by its full names", rig_started(rig, "after-m-0")->hosts,
        "127.10.4.1 server-m-0.server.default.svc.cluster.local server-m-0.server.default.svc "
        "server-m-0.server.default server-m-0.server\n");
    check_has("and the service", rig_started(rig, "after-m-0")->hosts,
              "127.10.4.1 server.default.svc.cluster.local server.default.svc server.default "
              "server\n");
    check("jobs without a service stay unknown",
          !strstr(rig_started(rig, "after-m-0")->hosts, "before"));
    rig_advance(rig, 1000);
    check_has("who runs is told", rig_started(rig, "before-m-0")->hosts, " server-m-0.server\n");
    rig_tell_ended(rig, "server-m-0", 0);
    rig_advance(rig, 1000);
    check("who has ended serves nobody", !strstr(rig_started(rig, "before-m-0")->hosts, "server"));
    rig_free(rig);
}

/* Deletion. */

static void a_running_pod_is_stopped_then_removed(void **state)
{
    struct rig *rig = set_up(1);
    struct rig_pod *pod;

    bound_pod(rig, "p", NULL, ",'terminationGracePeriodSeconds':7");
    rig_tell_running(rig, "p");
    rig_delete(rig, &kind_pod, "p", -1);
    rig_settle(rig);
    pod = rig_started(rig, "p");
    check_int("asked once", pod->stops, 1);
    check_int("with its own grace", pod->grace_ms, 7000);
    check("still there", rig_get(rig, &kind_pod, "p") != NULL);
    rig_delete(rig, &kind_pod, "p", 2);
    rig_settle(rig);
    check_int("asked again with less", pod->grace_ms, 2000);
    rig_tell_ended(rig, "p", 143);
    check("gone", !rig_get(rig, &kind_pod, "p"));
    check("released", pod->released);
    check("purged", pod->purged);
    rig_free(rig);
}

static void a_pod_that_was_never_started_is_removed_at_once(void **state)
{
    struct rig *rig = set_up(1);

    bound_pod(rig, "a", NULL, NULL);
    bound_pod(rig, "b", NULL, NULL);
    rig_delete(rig, &kind_pod, "b", -1);
    rig_settle(rig);
    check("gone", !rig_get(rig, &kind_pod, "b"));
    rig_run_all(rig);
    check("never started", !rig_started(rig, "b"));
    rig_free(rig);
}

static void a_pod_removed_by_force_gives_its_slot_back_only_when_it_has_ended(void **state)
{
    struct rig *rig = set_up(1);
    struct rig_pod *pod;

    bound_pod(rig, "a", NULL, NULL);
    bound_pod(rig, "b", NULL, NULL);
    rig_delete(rig, &kind_pod, "a", 0);
    rig_settle(rig);
    pod = rig_started(rig, "a");
    check("no object", !rig_get(rig, &kind_pod, "a"));
    check_int("killed", pod->grace_ms, 0);
    check("the slot is taken", !rig_started(rig, "b"));
    rig_tell_ended(rig, "a", 137);
    check("the slot is free", rig_started(rig, "b") != NULL);
    check("nothing is left", pod->released && pod->purged);
    rig_free(rig);
}

static void a_held_pod_can_be_deleted(void **state)
{
    struct rig *rig = set_up(1);

    bound_pod(rig, "p", "," COMMAND ",'envFrom':[{'configMapRef':{'name':'m'}}]", NULL);
    rig_delete(rig, &kind_pod, "p", -1);
    rig_settle(rig);
    check("gone", !rig_get(rig, &kind_pod, "p"));
    rig_create(rig, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                    "'default'}}");
    rig_settle(rig);
    check_int("never started", rig->n_pods, 0);
    rig_free(rig);
}

/* Another life. What the store says of the pod when the daemon starts, what the runtime found, and
 * what must come of it. covers: reliability.md D-09 D-10 INV-N1 P-08 P-09; local-runtime.md LRT-33
 * LRT-34 */
#define INTENT  "{'phase':'Pending','startTime':'2023-11-14T22:13:20Z'}"
#define RUNNING "{'phase':'Running','startTime':'2023-11-14T22:13:20Z'}"

static const struct {
    const char *name, *status;
    bool found, restarted;
    enum pod_phase phase;
    const char *reason;
    int starts;
} lives[] = {
    {"no intent: starts", NULL, false, false, POD_PENDING, NULL, 1},
    {"no intent, machine restarted: starts", NULL, false, true, POD_PENDING, NULL, 1},
    {"intent, not found: was never started, starts", INTENT, false, false, POD_PENDING, NULL, 1},
    {"intent, machine restarted: lost", INTENT, false, true, POD_FAILED, "NodeRestarted", 0},
    {"intent, found: goes on", INTENT, true, false, POD_PENDING, NULL, 0},
    {"intent, found after a restart: the runtime tells", INTENT, true, true, POD_PENDING, NULL, 0},
    {"running, found: goes on", RUNNING, true, false, POD_RUNNING, NULL, 0},
    {"running, not found: lost", RUNNING, false, false, POD_FAILED, "SupervisorLost", 0},
    {"running, machine restarted: lost", RUNNING, false, true, POD_FAILED, "NodeRestarted", 0},
    {"final stays final", "{'phase':'Succeeded','startTime':'2023-11-14T22:13:20Z'}", false, true,
     POD_SUCCEEDED, NULL, 0},
    {"final and found is released", "{'phase':'Succeeded','startTime':'2023-11-14T22:13:20Z'}",
     true, false, POD_SUCCEEDED, NULL, 0},
};

static void earlier_lives_are_judged(void **state)
{
    for (size_t i = 0; i < countof(lives); i++) {
        struct rig *rig = rig_new();
        struct kubelet_options options = options_for(4);
        struct rig_pod *pod = &rig->pods[0];
        bool final = lives[i].phase == POD_FAILED || lives[i].phase == POD_SUCCEEDED;

        bound_pod(rig, "p", NULL, NULL);
        if (lives[i].status)
            rig_set_status(rig, &kind_pod, "p", "%s", lives[i].status);
        if (lives[i].found) {
            snprintf(pod->uid, sizeof pod->uid, "%s", object_uid(rig_get(rig, &kind_pod, "p")));
            strcpy(pod->name, "p");
            pod->running = true;
            rig->n_pods = rig->running = 1;
            rig->found[rig->n_found++] = pod->uid;
        }
        options.machine_restarted = lives[i].restarted;
        rig_start_kubelet(rig, &options);
        check_int(lives[i].name, rig_pod_phase(rig, "p"), lives[i].phase);
        if (lives[i].reason)
            check_has(lives[i].name, rig_status(rig, &kind_pod, "p"), lives[i].reason);
        check_int(lives[i].name, rig->n_pods ? pod->starts : 0, lives[i].starts);
        if (final && lives[i].found)
            check(lives[i].name, pod->released);
        if (!final) {
            rig_tell_ended(rig, "p", 5);
            check_has(lives[i].name, rig_status(rig, &kind_pod, "p"), "\"exitCode\":5");
            check(lives[i].name, pod->released);
        }
        rig_free(rig);
    }
}

static void an_end_nobody_saw_is_no_success(void **state)
{
    struct rig *rig = rig_new();
    struct kubelet_options options = options_for(4);

    bound_pod(rig, "p", NULL, NULL);
    rig_set_status(rig, &kind_pod, "p", "%s", RUNNING);
    rig_start_kubelet(rig, &options);
    check_has("137", rig_status(rig, &kind_pod, "p"), "\"exitCode\":137");
    check_has("its reason", rig_status(rig, &kind_pod, "p"), "ContainerStatusUnknown");
    rig_free(rig);
}

static void a_process_without_an_object_is_stopped(void **state)
{
    struct rig *rig = rig_new();
    struct kubelet_options options = options_for(1);
    struct rig_pod *orphan = &rig->pods[0];

    strcpy(orphan->uid, "orphan");
    strcpy(orphan->name, "orphan");
    orphan->running = true;
    rig->n_pods = rig->running = 1;
    rig->found[rig->n_found++] = orphan->uid;
    rig_start_kubelet(rig, &options);
    check_int("stopped", orphan->stops, 1);
    bound_pod(rig, "p", NULL, NULL);
    check("it holds a slot until it ends", !rig_started(rig, "p"));
    rig_tell_ended(rig, "orphan", 137);
    check("forgotten", orphan->released && orphan->purged);
    check("the slot is free", rig_started(rig, "p") != NULL);
    rig_free(rig);
}

/* covers: reliability.md INV-N1 P-08 */
static void restarts_of_the_daemon_start_nothing_twice(void **state)
{
    struct rig *rig = rig_new();
    struct kubelet_options options = options_for(3);

    rig_start_kubelet(rig, &options);
    for (int i = 0; i < 10; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        bound_pod(rig, name, NULL, NULL);
    }
    for (int life = 0; life < 5; life++) {
        for (size_t i = 0; i < rig->n_pods; i++)
            if (rig->pods[i].running) {
                rig_tell_ended(rig, rig->pods[i].name, 0);
                break;
            }
        rig_stop(rig);
        rig->n_found = 0;
        for (size_t i = 0; i < rig->n_pods; i++)
            if (!rig->pods[i].released)
                rig->found[rig->n_found++] = rig->pods[i].uid;
        rig_start_kubelet(rig, &options);
        check_int("three run", rig->running, 3);
    }
    rig_run_all(rig);
    check_int("all ran", rig->n_pods, 10);
    check_int("never more than three", rig->peak, 3);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_goes_from_bound_to_succeeded),
        cmocka_unit_test(a_pod_of_an_earlier_life_is_purged_with_its_object),
        cmocka_unit_test(no_more_than_max_pods_run_and_all_have_their_turn),
        cmocka_unit_test(intents_are_written_ahead_of_free_slots),
        cmocka_unit_test(processors_are_not_promised_twice),
        cmocka_unit_test(phases_only_move_forward),
        cmocka_unit_test(reports_of_one_turn_are_written_once),
        cmocka_unit_test(a_pod_that_cannot_run_fails_with_a_reason),
        cmocka_unit_test(host_paths_can_be_forbidden),
        cmocka_unit_test(what_is_missing_holds_the_pod_until_it_appears),
        cmocka_unit_test(a_missing_key_is_waited_for_too),
        cmocka_unit_test(files_of_running_pods_follow_their_objects),
        cmocka_unit_test(variables_of_containers_that_may_run_again_follow_their_objects),
        cmocka_unit_test(where_ports_are_shared_the_second_pod_waits),
        cmocka_unit_test(pods_with_addresses_of_their_own_share_no_ports),
        cmocka_unit_test(a_plain_pod_has_names_while_there_are_services_to_look_up),
        cmocka_unit_test(host_aliases_are_lines_of_the_hosts_file),
        cmocka_unit_test(environment_is_resolved_in_order),
        cmocka_unit_test(volumes_become_files_and_directories),
        cmocka_unit_test(names_of_a_job_are_known_to_all_its_pods),
        cmocka_unit_test(services_are_known_to_pods_of_other_jobs),
        cmocka_unit_test(a_running_pod_is_stopped_then_removed),
        cmocka_unit_test(a_pod_that_was_never_started_is_removed_at_once),
        cmocka_unit_test(a_pod_removed_by_force_gives_its_slot_back_only_when_it_has_ended),
        cmocka_unit_test(a_held_pod_can_be_deleted),
        cmocka_unit_test(earlier_lives_are_judged),
        cmocka_unit_test(an_end_nobody_saw_is_no_success),
        cmocka_unit_test(a_process_without_an_object_is_stopped),
        cmocka_unit_test(restarts_of_the_daemon_start_nothing_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
