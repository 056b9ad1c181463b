// What a program written with client-go does; run by tests/system/clients.py.
//
//	go build -o /somewhere/client . && JOBFLOW_GO_CLIENT=/somewhere/client ctest -R clients
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var flows = schema.GroupVersionResource{Group: "flow.volcano.sh", Version: "v1alpha1", Resource: "jobflows"}
var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func must(err error, what string) {
	if err != nil {
		log.Fatalf("%s: %v", what, err)
	}
}

func flow(name, policy string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"jobRetainPolicy": policy, "flows": []any{map[string]any{"name": "a"}}}}}
}

// Everything the informer tells, in order.
type record chan string

func (r record) expect(wanted string) {
	for deadline := time.After(20 * time.Second); ; {
		select {
		case said := <-r:
			if said == wanted {
				return
			}
		case <-deadline:
			log.Fatalf("waited in vain for %q", wanted)
		}
	}
}

// An informer goes on over a restart of the daemon.
func outliveRestart(factory dynamicinformer.DynamicSharedInformerFactory) {
	seen := make(chan string, 1000)
	informer := factory.ForResource(configMaps).Informer()
	tell := func(verb string) func(any) {
		return func(o any) {
			key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(o)
			seen <- verb + " " + key
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: tell("add"), DeleteFunc: tell("delete")})
	must(err, "handler")
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	if !cache.WaitForCacheSync(stop, informer.HasSynced) {
		log.Fatal("the informer did not sync")
	}
	fmt.Println("synced")
	wanted := map[string]bool{"add default/after": true, "delete default/before": true}
	for deadline := time.After(60 * time.Second); len(wanted) > 0; {
		select {
		case said := <-seen:
			delete(wanted, said)
		case <-deadline:
			log.Fatalf("waited in vain for %v", wanted)
		}
	}
	fmt.Println("ok")
}

// Two candidates of client-go's leader election on one Lease: one leads, and when it gives up the other does.
func elect(config *rest.Config) {
	clients := kubernetes.NewForConfigOrDie(config)
	said := make(record, 100)
	candidate := func(ctx context.Context, id string) {
		lock := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "leader", Namespace: "default"},
			Client: clients.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: id}}
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: 6 * time.Second, RenewDeadline: 4 * time.Second, RetryPeriod: time.Second / 2,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { said <- id + " leads" },
				OnStoppedLeading: func() { said <- id + " stops" }}})
	}
	first, giveUp := context.WithCancel(context.Background())
	second, end := context.WithCancel(context.Background())
	go candidate(first, "a")
	said.expect("a leads")
	go candidate(second, "b")
	leases := clients.CoordinationV1().Leases("default")
	for before, renewals := "", 0; renewals < 4; time.Sleep(10 * time.Millisecond) {
		lease, err := leases.Get(context.Background(), "leader", metav1.GetOptions{})
		must(err, "lease")
		if now := lease.Spec.RenewTime.String(); now != before {
			before, renewals = now, renewals+1
		}
	}
	if len(said) > 0 {
		log.Fatalf("two leaders: %s", <-said)
	}
	giveUp()
	said.expect("a stops")
	said.expect("b leads")
	lease, err := leases.Get(context.Background(), "leader", metav1.GetOptions{})
	must(err, "lease")
	if *lease.Spec.HolderIdentity != "b" || *lease.Spec.LeaseTransitions != 1 {
		log.Fatalf("lease: %v", lease.Spec)
	}
	end()
	said.expect("b stops")
	fmt.Println("ok")
}

func main() {
	ctx := context.Background()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err, "kubeconfig")
	config.QPS = -1
	if len(os.Args) > 1 && os.Args[1] == "elect" {
		elect(config)
		return
	}
	client := dynamic.NewForConfigOrDie(config)
	mine := client.Resource(flows).Namespace("default")

	_, lists, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerGroupsAndResources()
	must(err, "discovery")
	found := false
	for _, list := range lists {
		found = found || list.GroupVersion == "flow.volcano.sh/v1alpha1"
	}
	if !found {
		log.Fatal("discovery: no flow.volcano.sh/v1alpha1")
	}

	said := make(record, 1000)
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	informer := factory.ForResource(flows).Informer()
	name := func(o any) string {
		key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(o)
		return key
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { said <- "add " + name(o) },
		UpdateFunc: func(_, o any) { said <- "update " + name(o) },
		DeleteFunc: func(o any) { said <- "delete " + name(o) },
	})
	must(err, "handler")
	stop := make(chan struct{})
	factory.Start(stop)
	if !cache.WaitForCacheSync(stop, informer.HasSynced) {
		log.Fatal("the informer did not sync")
	}
	if len(os.Args) > 1 && os.Args[1] == "resync" {
		outliveRestart(factory)
		return
	}

	_, err = mine.Create(ctx, flow("f", "delete"), metav1.CreateOptions{})
	must(err, "create")
	said.expect("add default/f")
	_, err = mine.Patch(ctx, "f", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{})
	must(err, "patch")
	said.expect("update default/f")
	list, err := mine.List(ctx, metav1.ListOptions{LabelSelector: "x=y", Limit: 1})
	must(err, "list")
	if len(list.Items) != 1 || list.GetResourceVersion() == "" {
		log.Fatalf("list: %v", list)
	}
	_, err = mine.Create(ctx, flow("f", "delete"), metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		log.Fatalf("made twice: %v", err)
	}
	now := int64(0)
	must(mine.Delete(ctx, "f", metav1.DeleteOptions{GracePeriodSeconds: &now}), "delete")
	said.expect("delete default/f")

	maps := client.Resource(configMaps).Namespace("default")
	object := func(value string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": "c"}, "data": map[string]any{"a": value}}}
	}
	_, err = maps.Apply(ctx, "c", object("1"), metav1.ApplyOptions{FieldManager: "m1"})
	must(err, "apply")
	_, err = maps.Apply(ctx, "c", object("2"), metav1.ApplyOptions{FieldManager: "m2"})
	if !apierrors.IsConflict(err) {
		log.Fatalf("no conflict: %v", err)
	}
	applied, err := maps.Apply(ctx, "c", object("2"), metav1.ApplyOptions{FieldManager: "m2", Force: true})
	must(err, "apply with force")
	if value, _, _ := unstructured.NestedString(applied.Object, "data", "a"); value != "2" {
		log.Fatalf("applied: %v", applied)
	}
	close(stop)
	factory.Shutdown()
	fmt.Println("ok")
}
