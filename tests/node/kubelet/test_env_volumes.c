/*
 * Tests what the kubelet resolves for a pod before and while it runs: variables, files and volumes,
 * host paths, ports, hosts files. The runtime is scripted.
 */
#include "tests/unit.h"

#include "tests/support/kubelet_fixture.h"

static void host_paths_can_be_forbidden(void **state)
{
    struct node_fixture *fixture = node_fixture_new();
    struct kubelet_options options = kubelet_fixture_options(1);

    node_fixture_start_kubelet(fixture, &options);
    kubelet_fixture_pod(fixture, "p", NULL, ",'volumes':[{'name':'v','hostPath':{'path':'/etc'}}]");
    check_int("refused", node_fixture_pod_phase(fixture, "p"), POD_FAILED);
    check_has("why", node_fixture_status(fixture, &kind_pod, "p"), "HostPathForbidden");
    node_fixture_free(fixture);
}

/* covers: local-runtime.md LRT-14 */
static const struct {
    const char *name, *container, *spec, *message, *object;
} missing[] = {
    {"envFrom", "," KUBELET_FIXTURE_COMMAND ",'envFrom':[{'configMapRef':{'name':'m'}}]", NULL,
     "configmap \\\"m\\\" not found",
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':'default'}}"},
    {"secretKeyRef",
     "," KUBELET_FIXTURE_COMMAND
     ",'env':[{'name':'A','valueFrom':{'secretKeyRef':{'name':'s','key':'k'}}}]",
     NULL, "secret \\\"s\\\" not found",
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

static void a_pod_waits_for_a_missing_object(void **state)
{
    for (size_t i = 0; i < countof(missing); i++) {
        struct node_fixture *fixture = node_fixture_new();
        struct kubelet_options options = kubelet_fixture_options(1);

        node_fixture_start_kubelet(fixture, &options);
        kubelet_fixture_pod(fixture, "p", missing[i].container, missing[i].spec);
        check_int(missing[i].name, fixture->n_pods, 0);
        check_int(missing[i].name, node_fixture_pod_phase(fixture, "p"), POD_PENDING);
        check_has(missing[i].name, node_fixture_status(fixture, &kind_pod, "p"),
                  "CreateContainerConfigError");
        check_has(missing[i].name, node_fixture_status(fixture, &kind_pod, "p"),
                  missing[i].message);
        kubelet_fixture_pod(fixture, "q", NULL, NULL);
        check(missing[i].name, node_fixture_started(fixture, "q") != NULL);
        node_fixture_create(fixture, "%s", missing[i].object);
        node_fixture_run_all(fixture);
        check(missing[i].name, node_fixture_started(fixture, "p") != NULL);
        check_int(missing[i].name, node_fixture_pod_phase(fixture, "p"), POD_SUCCEEDED);
        node_fixture_free(fixture);
    }
}

static void a_pod_waits_for_a_missing_key(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(1);

    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                        "'default'},'data':{'a':'1'}}");
    kubelet_fixture_pod(fixture, "p",
                        "," KUBELET_FIXTURE_COMMAND
                        ",'env':[{'name':'A','valueFrom':{'configMapKeyRef':{'name':'m','key':"
                        "'b'}}}]",
                        NULL);
    check_has("which", node_fixture_status(fixture, &kind_pod, "p"),
              "couldn't find key b in ConfigMap default/m");
    node_fixture_patch(fixture, &kind_config_map, "m", "{'data':{'b':'2'}}");
    node_fixture_settle(fixture);
    check_str("now", node_fixture_started(fixture, "p")->env, "A=2;");
    node_fixture_free(fixture);
}

/* covers: local-runtime.md LRT-12 */
static void files_of_running_pods_follow_their_objects(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(4);
    static const char volumes[] =
        ",'volumes':[{'name':'v','configMap':{'name':'m'}},{'name':'p','projected':{'sources':[{"
        "'secret':{'name':'s'}}]}},{'name':'e','emptyDir':{}}]";

    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                        "'default'},'data':{'k':'1'}}");
    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':"
                        "'default'},'data':{'K':'c2VjcmV0'}}");
    kubelet_fixture_pod(fixture, "p", NULL, volumes);
    kubelet_fixture_pod(fixture, "other", NULL, NULL);
    node_fixture_report_running(fixture, "p");
    check_str("at first", node_fixture_started(fixture, "p")->files, "v:k=1,644;p:K=secret,644;");
    node_fixture_patch(fixture, &kind_config_map, "m", "{'data':{'k':'2','l':'3'}}");
    node_fixture_settle(fixture);
    check_has("told", node_fixture_started(fixture, "p")->volumes, "v:");
    check_str("the last of its volumes of files", node_fixture_started(fixture, "p")->files,
              "p:K=secret,644;");
    node_fixture_patch(fixture, &kind_secret, "s", "{'data':{'K':'bmV3'}}");
    node_fixture_settle(fixture);
    check_str("a secret in a projection", node_fixture_started(fixture, "p")->files,
              "p:K=new,644;");
    node_fixture_delete(fixture, &kind_secret, "s", -1);
    node_fixture_settle(fixture);
    check_str("what went stays as it was", node_fixture_started(fixture, "p")->files,
              "p:K=new,644;");
    node_fixture_report_ended(fixture, "p", 0);
    node_fixture_patch(fixture, &kind_config_map, "m", "{'data':{'k':'4'}}");
    node_fixture_settle(
        fixture); /* the scripted runtime fails the test if it gets files of a pod that does not run */
    node_fixture_free(fixture);
}

/* covers: see 4.4 of local-runtime.md */
static void files_of_running_pods_follow_their_labels_and_annotations(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(4);
    static const char volumes[] =
        ",'volumes':[{'name':'v','downwardAPI':{'items':[{'path':'l','fieldRef':{'fieldPath':"
        "'metadata.labels'}}]}},{'name':'p','projected':{'sources':[{'downwardAPI':{'items':[{"
        "'path':'a','fieldRef':{'fieldPath':'metadata.annotations'}}]}}]}}]";

    kubelet_fixture_pod(fixture, "p", NULL, volumes);
    kubelet_fixture_pod(fixture, "other", NULL, NULL);
    node_fixture_report_running(fixture, "p");
    node_fixture_report_running(fixture, "other");
    check_has("at first", node_fixture_started(fixture, "p")->files, "p:a=,644;");
    node_fixture_patch(fixture, &kind_pod, "p", "{'metadata':{'annotations':{'note':'one'}}}");
    node_fixture_settle(fixture);
    check_str("an annotation in a projection", node_fixture_started(fixture, "p")->files,
              "p:a=note=\"one\",644;");
    node_fixture_patch(fixture, &kind_pod, "p", "{'metadata':{'labels':{'tier':'front'}}}");
    node_fixture_settle(fixture);
    check_str("told of all of them", node_fixture_started(fixture, "p")->files,
              "p:a=note=\"one\",644;");
    node_fixture_patch(fixture, &kind_pod, "other", "{'metadata':{'labels':{'tier':'front'}}}");
    node_fixture_settle(fixture);
    check_str("one that has no such files", node_fixture_started(fixture, "other")->files, "");
    node_fixture_free(fixture);
}

static void a_running_pod_gets_a_changed_deadline(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(4);

    kubelet_fixture_pod(fixture, "p", NULL, NULL);
    node_fixture_patch(fixture, &kind_pod, "p", "{'metadata':{'labels':{'tier':'front'}}}");
    node_fixture_settle(fixture);
    check_int("nothing to hear", node_fixture_started(fixture, "p")->deadline_ms, 0);
    node_fixture_patch(fixture, &kind_pod, "p", "{'spec':{'activeDeadlineSeconds':90}}");
    node_fixture_settle(fixture);
    check_int("a deadline", node_fixture_started(fixture, "p")->deadline_ms, 90000);
    node_fixture_patch(fixture, &kind_pod, "p", "{'spec':{'activeDeadlineSeconds':5}}");
    node_fixture_settle(fixture);
    check_int("a nearer one", node_fixture_started(fixture, "p")->deadline_ms, 5000);
    node_fixture_report_ended(fixture, "p", 0);
    node_fixture_patch(fixture, &kind_pod, "p", "{'spec':{'activeDeadlineSeconds':1}}");
    node_fixture_settle(
        fixture); /* the scripted runtime fails the test if it gets files of a pod that does not run */
    node_fixture_free(fixture);
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
        struct node_fixture *fixture = kubelet_fixture_new(4);

        node_fixture_create(
            fixture, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                     "'default'},'data':{'k':'1'}}");
        node_fixture_create(fixture,
                            "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':"
                            "'default'},'data':{'B':'c2VjcmV0'}}");
        node_fixture_create(
            fixture,
            "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'default'},"
            "'spec':{'nodeName':'here'%s,'containers':[{'name':'c','image':'i','command':["
            "'run','$(A)'],'env':[{'name':'A','valueFrom':{'configMapKeyRef':{'name':'m',"
            "'key':'k'}}}],'envFrom':[{'secretRef':{'name':'s'}}]}]}}",
            rows[i].policy);
        node_fixture_settle(fixture);
        node_fixture_report_running(fixture, "p");
        check_str(rows[i].name, node_fixture_started(fixture, "p")->renewed, "");
        node_fixture_patch(fixture, &kind_config_map, "m", "{'data':{'k':'2'}}");
        node_fixture_settle(fixture);
        check_str(rows[i].name, node_fixture_started(fixture, "p")->renewed, rows[i].renewed);
        node_fixture_started(fixture, "p")->renewed[0] = 0;
        node_fixture_delete(fixture, &kind_config_map, "m", -1);
        node_fixture_settle(fixture);
        check_str("what went stays as it was", node_fixture_started(fixture, "p")->renewed, "");
        node_fixture_free(fixture);
    }
}

/* covers: local-runtime.md LRT-05 */
static void a_pod_waits_for_a_port_it_shares_with_another(void **state)
{
    static const struct {
        const char *name, *spec;
        bool own_addresses;
    } rows[] = {{"no rewriting", NULL, false}, {"the host's network", ",'hostNetwork':true", true}};
    static const char ports[] = "," KUBELET_FIXTURE_COMMAND ",'ports':[{'containerPort':8080}]";

    for (size_t i = 0; i < countof(rows); i++) {
        struct node_fixture *fixture = node_fixture_new();
        struct kubelet_options options = kubelet_fixture_options(4);

        options.volumes.sim = false;
        fixture->capabilities.own_addresses = rows[i].own_addresses;
        node_fixture_start_kubelet(fixture, &options);
        kubelet_fixture_pod(fixture, "first", ports, rows[i].spec);
        kubelet_fixture_pod(fixture, "second", ports, rows[i].spec);
        kubelet_fixture_pod(fixture, "other",
                            "," KUBELET_FIXTURE_COMMAND ",'ports':[{'containerPort':8081}]",
                            rows[i].spec);
        check(rows[i].name,
              node_fixture_started(fixture, "first") && node_fixture_started(fixture, "other"));
        check(rows[i].name, !node_fixture_started(fixture, "second"));
        check_int(rows[i].name, node_fixture_pod_phase(fixture, "second"), POD_PENDING);
        check_has(rows[i].name, node_fixture_status(fixture, &kind_pod, "second"),
                  "\"PortConflict\"");
        check_has(rows[i].name, node_fixture_status(fixture, &kind_pod, "second"),
                  "port 8080 is in use by pod default/first");
        node_fixture_report_ended(fixture, "first", 0);
        check(rows[i].name, node_fixture_started(fixture, "second") != NULL);
        node_fixture_free(fixture);
    }
}

static void pods_with_their_own_addresses_share_no_ports(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(4);
    static const char ports[] = "," KUBELET_FIXTURE_COMMAND ",'ports':[{'containerPort':8080}]";

    kubelet_fixture_pod(fixture, "first", ports, NULL);
    kubelet_fixture_pod(fixture, "second", ports, NULL);
    check("both run",
          node_fixture_started(fixture, "first") && node_fixture_started(fixture, "second"));
    node_fixture_free(fixture);
}

static void service(struct node_fixture *fixture, const char *name)
{
    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Service','metadata':{'name':'%s','namespace':'default'},"
        "'spec':{'clusterIP':'None','selector':{'app':'%s'},'ports':[{'port':80}]}}",
        name, name);
    node_fixture_settle(fixture);
}

static void a_plain_pod_gets_a_hosts_file_while_its_namespace_has_services(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(8);

    kubelet_fixture_pod(fixture, "before", NULL, NULL);
    check_str("nothing to look up", node_fixture_started(fixture, "before")->hosts, "");
    node_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'s','namespace':'default',"
                 "'labels':{'app':'web'}},'spec':{'nodeName':'here','containers':[{'name':'c',"
                 "'command':['serve'],'ports':[{'containerPort':80}]}],'hostname':'s'}}");
    service(fixture, "web");
    node_fixture_report_running(fixture, "s");
    kubelet_fixture_pod(fixture, "client", NULL, NULL);
    check_has("the name", node_fixture_started(fixture, "client")->hosts,
              " web.default.svc web.default web\n");
    check_str("and no address of its own", node_fixture_started(fixture, "client")->ip, "");
    kubelet_fixture_pod(fixture, "aloof", NULL, ",'dnsPolicy':'Default'");
    check_str("unless it wants the host's", node_fixture_started(fixture, "aloof")->hosts, "");
    node_fixture_delete(fixture, &kind_service, "web", -1);
    node_fixture_advance(fixture, 1000);
    check("told when it goes", !strstr(node_fixture_started(fixture, "client")->hosts, "web"));
    kubelet_fixture_pod(fixture, "after", NULL, NULL);
    check_str("nothing any more", node_fixture_started(fixture, "after")->hosts, "");
    node_fixture_free(fixture);
}

static void host_aliases_are_lines_of_the_hosts_file(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(2);

    kubelet_fixture_pod(
        fixture, "p", NULL,
        ",'hostAliases':[{'ip':'10.1.2.3','hostnames':['db','db.local']},{'ip':'10.1.2.4',"
        "'hostnames':['cache']}]");
    check_has("aliases", node_fixture_started(fixture, "p")->hosts,
              "127.0.0.1 localhost\n127.10.4.0 p\n10.1.2.3 db db.local\n10.1.2.4 cache\n");
    node_fixture_free(fixture);
}

static void environment_is_resolved_in_order(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(1);

    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                        "'default'},'data':{'A':'map','B':'map'},'binaryData':{'BIN':'AAE='}}");
    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':"
                        "'default'},'data':{'K':'c2VjcmV0IQ=='}}");
    kubelet_fixture_pod(
        fixture, "p",
        ",'command':['run','$(A)','$$(A)','$(nobody)','$x'],'args':['$(IP)'],"
        "'resources':{'limits':{'cpu':'1500m','memory':'64Mi'}},"
        "'envFrom':[{'configMapRef':{'name':'m'}},{'prefix':'S_','secretRef':{'name':'s'}},"
        "{'configMapRef':{'name':'none','optional':true}}],'env':["
        "{'name':'A','value':'$(A)+$(B)'},{'name':'N','valueFrom':{'fieldRef':{'fieldPath':"
        "'metadata.name'}}},{'name':'IP','valueFrom':{'fieldRef':{'fieldPath':'status.podIP'"
        "}}},{'name':'CPU','valueFrom':{'resourceFieldRef':{'resource':'limits.cpu'}}},"
        "{'name':'BIN','valueFrom':{'configMapKeyRef':{'name':'m','key':'BIN','optional':true}}},"
        "{'name':'MB','valueFrom':{'resourceFieldRef':{'resource':'limits.memory','divisor':"
        "'1Mi'}}},{'name':'OPT','valueFrom':{'secretKeyRef':{'name':'s','key':'no','optional'"
        ":true}}},{'name':'NODE','valueFrom':{'fieldRef':{'fieldPath':'spec.nodeName'}}}]",
        NULL);
    check_str("env", node_fixture_started(fixture, "p")->env,
              "A=map+map;B=map;S_K=secret!;N=p;IP=127.10.4.0;CPU=2;MB=64;NODE=here;");
    check_str("argv", node_fixture_started(fixture, "p")->argv,
              "run map+map $(A) $(nobody) $x 127.10.4.0");
    check_has("its address is told", node_fixture_status(fixture, &kind_pod, "p"),
              "\"podIP\":\"127.10.4.0\"");
    node_fixture_free(fixture);
}

/* A container without a limit is told that of its pod. */
static void limits_of_the_pod_reach_the_environment(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(1);

    kubelet_fixture_pod(
        fixture, "p",
        ",'command':['run'],'resources':{'limits':{'memory':'32Mi'}},'env':["
        "{'name':'CPU','valueFrom':{'resourceFieldRef':{'resource':'limits.cpu','divisor':'1m'}}},"
        "{'name':'MB','valueFrom':{'resourceFieldRef':{'resource':'limits.memory','divisor':"
        "'1Mi'}}},{'name':'ASKED','valueFrom':{'resourceFieldRef':{'resource':'requests.cpu'}}}]",
        ",'resources':{'limits':{'cpu':'1500m','memory':'64Mi'}}");
    check_str("env", node_fixture_started(fixture, "p")->env, "CPU=1500;MB=32;ASKED=0;");
    node_fixture_free(fixture);
}

/* covers: see 4.4 */
static void volumes_become_files_and_directories(void **state)
{
    struct node_fixture *fixture = node_fixture_new();
    struct kubelet_options options = kubelet_fixture_options(1);
    const char *uid;

    options.volumes.host_paths.any = true;
    node_fixture_start_kubelet(fixture, &options);
    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','namespace':"
                        "'default'},'data':{'a':'1','b':'2'},'binaryData':{'c':'AAE='}}");
    node_fixture_create(fixture,
                        "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':"
                        "'default'},'data':{'k':'a2V5'}}");
    node_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'claim',"
                 "'namespace':'default'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
                 "'requests':{'storage':'1Gi'}}}}");
    uid = object_uid(node_fixture_get(fixture, &kind_pvc, "claim"));
    kubelet_fixture_pod(
        fixture, "p", NULL,
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
    check_str("volumes", node_fixture_started(fixture, "p")->volumes, want);
    check_str("files", node_fixture_started(fixture, "p")->files,
              "m:x/a=1,400;s:k=key,600;d:n=default,644;p:b=2,644;p:k=key,644;");
    node_fixture_free(fixture);
}

/* Creates a pod of a job with the host names that the svc plugin gives it. */
static void create_named(struct node_fixture *fixture, const char *name, const char *job)
{
    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default',"
        "'labels':{'volcano.sh/job-name':'%s'}},'spec':{'nodeName':'here','hostname':"
        "'%s','subdomain':'%s','restartPolicy':'Never','containers':[{'name':'c','image':"
        "'i'," KUBELET_FIXTURE_COMMAND "}]}}",
        name, job, name, job);
    node_fixture_settle(fixture);
}

static void create_service(struct node_fixture *fixture, const char *job)
{
    node_fixture_create(
        fixture,
        "{'apiVersion':'v1','kind':'Service','metadata':{'name':'%s','namespace':"
        "'default'},'spec':{'clusterIP':'None','selector':{'volcano.sh/job-name':'%s'}}}",
        job, job);
    node_fixture_settle(fixture);
}

static void names_of_a_job_are_known_to_all_its_pods(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(4);

    create_named(fixture, "j-w-0", "j");
    create_named(fixture, "j-w-1", "j");
    check_str("the first was told of the second", node_fixture_started(fixture, "j-w-0")->hosts,
              "127.0.0.1 localhost\n"
              "127.10.4.0 j-w-0.j.default.svc.cluster.local j-w-0.j.default.svc j-w-0.j.default "
              "j-w-0.j j-w-0\n"
              "127.10.4.1 j-w-1.j.default.svc.cluster.local j-w-1.j.default.svc j-w-1.j.default "
              "j-w-1.j j-w-1\n");
    check_str("as the second itself", node_fixture_started(fixture, "j-w-1")->hosts,
              node_fixture_started(fixture, "j-w-0")->hosts);
    create_service(fixture, "j");
    check_has("a service's name", node_fixture_started(fixture, "j-w-0")->hosts,
              "127.10.4.1 j.default.svc.cluster.local j.default.svc j.default j\n");
    node_fixture_delete(fixture, &kind_pod, "j-w-1", 0);
    node_fixture_report_ended(fixture, "j-w-1", 0);
    check("who is gone has no name",
          !strstr(node_fixture_started(fixture, "j-w-0")->hosts, "j-w-1"));
    node_fixture_free(fixture);
}

static void services_are_known_to_pods_of_other_jobs(void **state)
{
    struct node_fixture *fixture = kubelet_fixture_new(4);

    create_named(fixture, "before-m-0", "before");
    create_named(fixture, "server-m-0", "server");
    check("no service, no name",
          !strstr(node_fixture_started(fixture, "before-m-0")->hosts, "server"));
    create_service(fixture, "server");
    create_named(fixture, "after-m-0", "after");
    check_has(
        "who starts knows the pod by its full names",
        node_fixture_started(fixture, "after-m-0")->hosts,
        "127.10.4.1 server-m-0.server.default.svc.cluster.local server-m-0.server.default.svc "
        "server-m-0.server.default server-m-0.server\n");
    check_has("and the service", node_fixture_started(fixture, "after-m-0")->hosts,
              "127.10.4.1 server.default.svc.cluster.local server.default.svc server.default "
              "server\n");
    check("jobs without a service stay unknown",
          !strstr(node_fixture_started(fixture, "after-m-0")->hosts, "before"));
    node_fixture_advance(fixture, 1000);
    check_has("who runs is told", node_fixture_started(fixture, "before-m-0")->hosts,
              " server-m-0.server\n");
    node_fixture_report_ended(fixture, "server-m-0", 0);
    node_fixture_advance(fixture, 1000);
    check("an ended pod serves no clients",
          !strstr(node_fixture_started(fixture, "before-m-0")->hosts, "server"));
    node_fixture_free(fixture);
}

/* Creates a pod with a chain of variables: the first has `start` bytes, each of `levels` others
 * refers to the previous one `names` times, and the arguments refer to the last one `args`
 * times. */
static void with_growing_variables(struct node_fixture *fixture, int start, int names, int levels,
                                   int args)
{
    scoped(buf) struct buf container = {0};

    buf_printf(&container, ",'command':['true'],'args':['-'");
    for (int i = 0; i < args; i++)
        buf_printf(&container, ",'$(V%d)'", levels);
    buf_printf(&container, "],'env':[{'name':'V0','value':'%0*d'}", start, 0);
    for (int level = 1; level <= levels; level++) {
        buf_printf(&container, ",{'name':'V%d','value':'", level);
        for (int i = 0; i < names; i++)
            buf_printf(&container, "$(V%d)", level - 1);
        buf_str(&container, "'}");
    }
    buf_str(&container, "]");
    kubelet_fixture_pod(fixture, "p", container.data, NULL);
}

/* covers: reliability.md L-35 */
static void texts_larger_than_linux_passes_to_a_program_are_refused(void **state)
{
    static const struct {
        const char *name;
        int start, names, levels, args;
        const char *says; /* part of the reported message; NULL: the pod starts */
    } cases[] = {
        {"as long as one may be", 1 << 13, 15, 1, 1, NULL},
        {"longer by its references", 1 << 13, 16, 1, 1, "container c: V1 has more than 131071"},
        {"growing without end", 100, 1000, 30, 1, "V2 has more than 131071 bytes"},
        {"large together", 1 << 13, 15, 1, 20, "more than 1835008 bytes in all"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct node_fixture *fixture = kubelet_fixture_new(1);

        with_growing_variables(fixture, cases[i].start, cases[i].names, cases[i].levels,
                               cases[i].args);
        check_int(cases[i].name, node_fixture_pod_phase(fixture, "p"),
                  cases[i].says ? POD_FAILED : POD_PENDING);
        if (cases[i].says) {
            check_has(cases[i].name, node_fixture_status(fixture, &kind_pod, "p"),
                      "ArgumentsTooLong");
            check_has(cases[i].name, node_fixture_status(fixture, &kind_pod, "p"), cases[i].says);
        }
        check_int(cases[i].name, fixture->n_pods, cases[i].says ? 0 : 1);
        node_fixture_free(fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_paths_can_be_forbidden),
        cmocka_unit_test(a_pod_waits_for_a_missing_object),
        cmocka_unit_test(a_pod_waits_for_a_missing_key),
        cmocka_unit_test(files_of_running_pods_follow_their_objects),
        cmocka_unit_test(files_of_running_pods_follow_their_labels_and_annotations),
        cmocka_unit_test(a_running_pod_gets_a_changed_deadline),
        cmocka_unit_test(variables_of_containers_that_may_run_again_follow_their_objects),
        cmocka_unit_test(a_pod_waits_for_a_port_it_shares_with_another),
        cmocka_unit_test(pods_with_their_own_addresses_share_no_ports),
        cmocka_unit_test(a_plain_pod_gets_a_hosts_file_while_its_namespace_has_services),
        cmocka_unit_test(host_aliases_are_lines_of_the_hosts_file),
        cmocka_unit_test(environment_is_resolved_in_order),
        cmocka_unit_test(texts_larger_than_linux_passes_to_a_program_are_refused),
        cmocka_unit_test(limits_of_the_pod_reach_the_environment),
        cmocka_unit_test(volumes_become_files_and_directories),
        cmocka_unit_test(names_of_a_job_are_known_to_all_its_pods),
        cmocka_unit_test(services_are_known_to_pods_of_other_jobs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
