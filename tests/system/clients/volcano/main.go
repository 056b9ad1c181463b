// What a program written with Volcano's own clientset, listers and informers does; run by tests/system/clients.py.
//
//	go mod init volcano && go get volcano.sh/apis@latest && go build -o /somewhere/client . &&
//	JOBFLOW_VOLCANO_CLIENT=/somewhere/client ctest -R clients
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	bus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	flow "volcano.sh/apis/pkg/apis/flow/v1alpha1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	apply "volcano.sh/apis/pkg/client/applyconfiguration/flow/v1alpha1"
	"volcano.sh/apis/pkg/client/clientset/versioned"
	typed "volcano.sh/apis/pkg/client/clientset/versioned/typed/flow/v1alpha1"
	"volcano.sh/apis/pkg/client/informers/externalversions"
)

const ns = "default"

var ctx = context.Background()

func must(err error, what string) {
	if err != nil {
		log.Fatalf("%s: %v", what, err)
	}
}

func expect(right bool, what string, seen any) {
	if !right {
		log.Fatalf("%s: %+v", what, seen)
	}
}

func until(what string, done func() bool) {
	for end := time.Now().Add(30 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		expect(time.Now().Before(end), "waited in vain until", what)
	}
}

func spec(script string, replicas int32) batch.JobSpec {
	pod := corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "main", Image: "busybox", Command: []string{"sh", "-c", script}}}}}
	return batch.JobSpec{SchedulerName: "volcano", Queue: "default", MinAvailable: 1,
		Tasks: []batch.TaskSpec{{Name: "main", Replicas: replicas, Template: pod}}}
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name}
}

// A flow whose second step is patched by a whole JobSpec, most of it zero values.
func flowsAreMadeRunAndRead(vc versioned.Interface) {
	flows, templates := vc.FlowV1alpha1().JobFlows(ns), vc.FlowV1alpha1().JobTemplates(ns)
	strict := metav1.CreateOptions{FieldValidation: "Strict"}
	for _, name := range []string{"a", "b"} {
		_, err := templates.Create(ctx, &flow.JobTemplate{ObjectMeta: named(name), Spec: spec("true", 2)}, strict)
		must(err, "template")
	}
	patch := &flow.Patch{JobSpec: batch.JobSpec{Tasks: []batch.TaskSpec{{Name: "main", Replicas: 1}}}}
	after := &flow.DependsOn{Targets: []string{"a"},
		Probe: &flow.Probe{TaskStatusList: []flow.TaskStatus{{TaskName: "main", Phase: "Succeeded"}}}}
	_, err := flows.Create(ctx, &flow.JobFlow{ObjectMeta: named("f"), Spec: flow.JobFlowSpec{JobRetainPolicy: flow.Retain,
		Flows: []flow.Flow{{Name: "a"}, {Name: "b", DependsOn: after, Patch: patch}}}}, strict)
	must(err, "flow")
	var seen *flow.JobFlow
	until("the flow is done", func() bool {
		seen, err = flows.Get(ctx, "f", metav1.GetOptions{})
		return err == nil && seen.Status.State.Phase == flow.Succeed
	})
	expect(len(seen.Status.CompletedJobs) == 2 && len(seen.Status.JobStatusList) == 2, "status", seen.Status)
	job, err := vc.BatchV1alpha1().Jobs(ns).Get(ctx, "f-b", metav1.GetOptions{})
	must(err, "job")
	expect(job.Status.State.Phase == batch.Completed && job.Status.Succeeded == 1, "patched job", job.Status)
	same, err := vc.BatchV1alpha1().Jobs(ns).Update(ctx, job.DeepCopy(), metav1.UpdateOptions{})
	must(err, "update of nothing")
	expect(same.Generation == job.Generation && reflect.DeepEqual(same.Spec, job.Spec), "a round trip changes", same)
}

func statusConflictsAndPatches(flows typed.JobFlowInterface) {
	old, err := flows.Get(ctx, "f", metav1.GetOptions{})
	must(err, "get")
	old.Labels = map[string]string{"x": "y"}
	written, err := flows.UpdateStatus(ctx, old, metav1.UpdateOptions{})
	must(err, "status")
	expect(written.Labels["x"] == "", "labels come by the status", written.Labels)
	old.Labels["x"] = "z"
	must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := flows.Get(ctx, "f", metav1.GetOptions{})
		must(err, "get")
		now.Labels = old.Labels
		_, err = flows.Update(ctx, now, metav1.UpdateOptions{})
		return err
	}), "update")
	_, err = flows.Update(ctx, old, metav1.UpdateOptions{})
	expect(apierrors.IsConflict(err), "an old revision is taken", err)
	_, err = flows.Patch(ctx, "f", types.MergePatchType, []byte(`{"metadata":{"labels":{"p":"1"}}}`), metav1.PatchOptions{})
	must(err, "merge patch")
	_, err = flows.Patch(ctx, "f", types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/labels/p"}]`), metav1.PatchOptions{})
	must(err, "json patch")
	_, err = flows.Patch(ctx, "f", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	expect(apierrors.IsUnsupportedMediaType(err), "strategic patch", err)
}

func appliersOwnTheirFields(flows typed.JobFlowInterface) {
	label := func(value string) *apply.JobFlowApplyConfiguration {
		return apply.JobFlow("applied", ns).WithLabels(map[string]string{"a": value})
	}
	whole := label("b").WithSpec(apply.JobFlowSpec().WithFlows(apply.Flow().WithName("a"),
		apply.Flow().WithName("b").WithDependsOn(apply.DependsOn().WithTargets("a"))))
	_, err := flows.Apply(ctx, whole, metav1.ApplyOptions{FieldManager: "one"})
	must(err, "apply")
	_, err = flows.Apply(ctx, label("c"), metav1.ApplyOptions{FieldManager: "two"})
	expect(apierrors.IsConflict(err), "no conflict", err)
	forced, err := flows.Apply(ctx, label("c"), metav1.ApplyOptions{FieldManager: "two", Force: true})
	must(err, "apply with force")
	expect(forced.Labels["a"] == "c" && len(forced.Spec.Flows) == 2, "forced", forced)
	_, err = flows.ApplyStatus(ctx, apply.JobFlow("applied", ns).WithStatus(apply.JobFlowStatus().WithPendingJobs("x")),
		metav1.ApplyOptions{FieldManager: "three", Force: true})
	must(err, "apply of a status")
}

func commandsMoveJobsAndQueues(vc versioned.Interface, factory externalversions.SharedInformerFactory) {
	jobs, queues := factory.Batch().V1alpha1().Jobs().Lister().Jobs(ns), factory.Scheduling().V1beta1().Queues().Lister()
	order := func(action string, target *metav1.OwnerReference) {
		_, err := vc.BusV1alpha1().Commands(ns).Create(ctx, &bus.Command{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"},
			Action: action, TargetObject: target}, metav1.CreateOptions{})
		must(err, action)
	}
	job, err := vc.BatchV1alpha1().Jobs(ns).Create(ctx, &batch.Job{ObjectMeta: metav1.ObjectMeta{GenerateName: "long-"}, Spec: spec("sleep 1000", 1)},
		metav1.CreateOptions{})
	must(err, "job")
	phase := func(wanted batch.JobPhase) {
		until(string(wanted), func() bool {
			now, err := jobs.Get(job.Name)
			return err == nil && now.Status.State.Phase == wanted
		})
	}
	phase(batch.Running)
	target := metav1.NewControllerRef(job, batch.SchemeGroupVersion.WithKind("Job"))
	order(string(bus.AbortJobAction), target)
	phase(batch.Aborted)
	order(string(bus.ResumeJobAction), target)
	phase(batch.Running)
	foreground := metav1.DeletePropagationForeground
	must(vc.BatchV1alpha1().Jobs(ns).Delete(ctx, job.Name, metav1.DeleteOptions{PropagationPolicy: &foreground}), "delete")
	until("it is gone", func() bool {
		_, err := jobs.Get(job.Name)
		return apierrors.IsNotFound(err)
	})

	queue, err := vc.SchedulingV1beta1().Queues().Create(ctx, &scheduling.Queue{ObjectMeta: named("q"), Spec: scheduling.QueueSpec{Weight: 3}},
		metav1.CreateOptions{})
	must(err, "queue")
	order(string(bus.CloseQueueAction), metav1.NewControllerRef(queue, scheduling.SchemeGroupVersion.WithKind("Queue")))
	until("the queue is closed", func() bool {
		now, err := queues.Get("q")
		return err == nil && now.Status.State == scheduling.QueueStateClosed
	})
}

func listsComeInPages(templates typed.JobTemplateInterface, factory externalversions.SharedInformerFactory) {
	const many = 25
	chosen := labels.Set{"many": "1"}
	known := func() int {
		list, err := factory.Flow().V1alpha1().JobTemplates().Lister().List(chosen.AsSelector())
		must(err, "list")
		return len(list)
	}
	for i := 0; i < many; i++ {
		_, err := templates.Create(ctx, &flow.JobTemplate{ObjectMeta: metav1.ObjectMeta{GenerateName: "many-", Labels: chosen}, Spec: spec("true", 1)},
			metav1.CreateOptions{})
		must(err, "template")
	}
	pages, n := pager.New(func(c context.Context, o metav1.ListOptions) (runtime.Object, error) { return templates.List(c, o) }), 0
	pages.PageSize = 7
	must(pages.EachListItem(ctx, metav1.ListOptions{LabelSelector: "many=1"}, func(runtime.Object) error { n++; return nil }), "pages")
	expect(n == many, "in pages", n)
	until("the informer knows them", func() bool { return known() == many })
	must(templates.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "many=1"}), "delete all")
	until("they are gone", func() bool { return known() == 0 })
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err, "kubeconfig")
	config.QPS = -1
	vc := versioned.NewForConfigOrDie(config)
	factory := externalversions.NewSharedInformerFactory(vc, time.Second)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	resynced := make(chan bool, 1000000)
	_, err = factory.Flow().V1alpha1().JobFlows().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, now any) {
		key, _ := cache.MetaNamespaceKeyFunc(now)
		queue.Add(key)
		if old.(*flow.JobFlow).ResourceVersion == now.(*flow.JobFlow).ResourceVersion {
			resynced <- true
		}
	}})
	must(err, "handler")
	for _, informer := range []cache.SharedIndexInformer{factory.Batch().V1alpha1().Jobs().Informer(), factory.Flow().V1alpha1().JobTemplates().Informer(),
		factory.Scheduling().V1beta1().Queues().Informer(), factory.Scheduling().V1beta1().PodGroups().Informer(), factory.Bus().V1alpha1().Commands().Informer()} {
		must(informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { log.Printf("watch: %v", err) }), "handler")
	}
	stop := make(chan struct{})
	factory.Start(stop)
	for kind, synced := range factory.WaitForCacheSync(stop) {
		expect(synced, "no first list of", kind)
	}
	flowsAreMadeRunAndRead(vc)
	statusConflictsAndPatches(vc.FlowV1alpha1().JobFlows(ns))
	appliersOwnTheirFields(vc.FlowV1alpha1().JobFlows(ns))
	commandsMoveJobsAndQueues(vc, factory)
	listsComeInPages(vc.FlowV1alpha1().JobTemplates(ns), factory)
	<-resynced
	key, _ := queue.Get()
	expect(key == ns+"/f" || key == ns+"/applied", "in the work queue", key)
	close(stop)
	factory.Shutdown()
	fmt.Println("ok")
}
