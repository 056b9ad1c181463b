// What a program with client-go's typed clients does, whose bodies are protobuf; run by tests/system/clients.py.
//
//	go build -o /somewhere/typed . && JOBFLOW_TYPED_CLIENT=/somewhere/typed ctest -R clients
//	/somewhere/typed golden > tests/api/server/message/protobuf_golden.inc
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const protobufType = "application/vnd.kubernetes.protobuf"

func must(err error, what string) {
	if err != nil {
		log.Fatalf("%s: %v", what, err)
	}
}

func equal[T comparable](what string, got, wanted T) {
	if got != wanted {
		log.Fatalf("%s: got %v, wanted %v", what, got, wanted)
	}
}

// Counts requests with bodies that are not patches, and those of them that are protobuf. With `only`, answers are protobuf, too.
type counter struct {
	http.RoundTripper
	bodies, protobuf atomic.Int32
	only             bool
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Method != http.MethodPatch {
		c.bodies.Add(1)
		if strings.HasPrefix(r.Header.Get("Content-Type"), protobufType) {
			c.protobuf.Add(1)
		}
	}
	answer, err := c.RoundTripper.RoundTrip(r)
	if err == nil && c.only && !strings.HasPrefix(answer.Header.Get("Content-Type"), protobufType) {
		log.Fatalf("%s %s: the answer is %s", r.Method, r.URL, answer.Header.Get("Content-Type"))
	}
	return answer, err
}

// The calls that every typed client of a kind has.
type client[T any] interface {
	Create(context.Context, *T, metav1.CreateOptions) (*T, error)
	Get(context.Context, string, metav1.GetOptions) (*T, error)
	Update(context.Context, *T, metav1.UpdateOptions) (*T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
}

type object interface {
	metav1.Object
	runtime.Object
}

// Creates an object, updates it, and deletes it. `seen` checks what the server made of it.
func lifeOf[T any, P interface {
	*T
	object
}](c client[T], made P, seen func(P)) {
	what := fmt.Sprintf("%T", made)
	ctx := context.Background()
	created, err := c.Create(ctx, made, metav1.CreateOptions{})
	must(err, "create "+what)
	seen(created)
	for try := 0; ; try++ {
		got, err := c.Get(ctx, P(created).GetName(), metav1.GetOptions{})
		must(err, "get "+what)
		seen(got)
		P(got).SetLabels(map[string]string{"updated": "yes"})
		got, err = c.Update(ctx, got, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) && try < 100 { // a controller wrote meanwhile
			continue
		}
		must(err, "update "+what)
		seen(got)
		equal(what+" label", P(got).GetLabels()["updated"], "yes")
		break
	}
	zero := int64(0)
	must(c.Delete(ctx, P(created).GetName(), metav1.DeleteOptions{GracePeriodSeconds: &zero}), "delete "+what)
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Annotations: map[string]string{"note": "ä"}}
}

func pod(name string) *corev1.Pod {
	seconds := int64(7)
	return &corev1.Pod{ObjectMeta: named(name), Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
		TerminationGracePeriodSeconds: &seconds, NodeSelector: map[string]string{"kubernetes.io/hostname": "nowhere"},
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		Containers: []corev1.Container{{Name: "c", Image: "x", Command: []string{"true"},
			Env: []corev1.EnvVar{{Name: "A", Value: "b"}, {Name: "N", ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
			EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}}},
			Resources:    corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
			VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v"}},
			LivenessProbe: &corev1.Probe{PeriodSeconds: 3, ProbeHandler: corev1.ProbeHandler{
				TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}}}}}}
}

func seenPod(p *corev1.Pod) {
	c := p.Spec.Containers[0]
	equal("grace", *p.Spec.TerminationGracePeriodSeconds, 7)
	equal("command", c.Command[0], "true")
	equal("environment", c.Env[1].ValueFrom.FieldRef.FieldPath, "metadata.name")
	equal("configuration", c.EnvFrom[0].ConfigMapRef.Name, "cm")
	equal("request", c.Resources.Requests.Cpu().String(), "100m")
	equal("volume", p.Spec.Volumes[0].EmptyDir != nil, true)
	equal("probe", c.LivenessProbe.TCPSocket.Port.IntValue(), 80)
}

func kinds(c *kubernetes.Clientset) {
	core, className, port, yes, name := c.CoreV1(), "", int32(80), true, "me"
	lifeOf(core.Namespaces(), &corev1.Namespace{ObjectMeta: named("typed")}, func(*corev1.Namespace) {})
	lifeOf(core.ConfigMaps("default"), &corev1.ConfigMap{ObjectMeta: named("cm"), Data: map[string]string{"a": "b"}, BinaryData: map[string][]byte{"x": {0, 255}}},
		func(m *corev1.ConfigMap) { equal("binary", m.BinaryData["x"][1], 255) })
	lifeOf(core.Secrets("default"), &corev1.Secret{ObjectMeta: named("s"), StringData: map[string]string{"k": "v"}},
		func(s *corev1.Secret) { equal("secret", string(s.Data["k"]), "v") })
	lifeOf(core.ServiceAccounts("default"), &corev1.ServiceAccount{ObjectMeta: named("sa"), AutomountServiceAccountToken: &yes},
		func(a *corev1.ServiceAccount) { equal("automount", *a.AutomountServiceAccountToken, true) })
	lifeOf(core.Services("default"), &corev1.Service{ObjectMeta: named("svc"), Spec: corev1.ServiceSpec{ClusterIP: "None", Selector: map[string]string{"a": "b"},
		Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("web")}}}},
		func(s *corev1.Service) { equal("target", s.Spec.Ports[0].TargetPort.StrVal, "web") })
	lifeOf(core.Nodes(), &corev1.Node{ObjectMeta: named("n2"), Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "k", Effect: "NoSchedule"}}}},
		func(n *corev1.Node) { equal("taint", n.Spec.Taints[0].Key, "k") })
	lifeOf(core.PersistentVolumeClaims("default"), &corev1.PersistentVolumeClaim{ObjectMeta: named("claim"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"}, StorageClassName: &className,
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}}}},
		func(p *corev1.PersistentVolumeClaim) {
			equal("size", p.Spec.Resources.Requests.Storage().String(), "1Gi")
			equal("an empty class is a class", *p.Spec.StorageClassName, "")
		})
	lifeOf(core.Endpoints("default"), &corev1.Endpoints{ObjectMeta: named("ep"), Subsets: []corev1.EndpointSubset{{
		Addresses: []corev1.EndpointAddress{{IP: "10.1.2.3"}}, Ports: []corev1.EndpointPort{{Name: "web", Port: 80}}}}},
		func(e *corev1.Endpoints) { equal("address", e.Subsets[0].Addresses[0].IP, "10.1.2.3") })
	lifeOf(c.DiscoveryV1().EndpointSlices("default"), &discoveryv1.EndpointSlice{ObjectMeta: named("slice"), AddressType: "IPv4",
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.1.2.3"}}}, Ports: []discoveryv1.EndpointPort{{Port: &port}}},
		func(s *discoveryv1.EndpointSlice) { equal("port", *s.Ports[0].Port, 80) })
	lifeOf(c.NetworkingV1().NetworkPolicies("default"), &networkingv1.NetworkPolicy{ObjectMeta: named("np"), Spec: networkingv1.NetworkPolicySpec{
		PodSelector: metav1.LabelSelector{}, Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{
			PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}}}}}},
		func(p *networkingv1.NetworkPolicy) {
			equal("peer", p.Spec.Ingress[0].From[0].PodSelector.MatchLabels["a"], "b")
		})
	lifeOf(c.SchedulingV1().PriorityClasses(), &schedulingv1.PriorityClass{ObjectMeta: named("zero"), Value: 0, Description: "none"},
		func(p *schedulingv1.PriorityClass) { equal("value", p.Value, 0) })
	now := metav1.NewMicroTime(time.Unix(1767225600, 123456000))
	lifeOf(c.CoordinationV1().Leases("default"), &coordinationv1.Lease{ObjectMeta: named("lease"), Spec: coordinationv1.LeaseSpec{HolderIdentity: &name, RenewTime: &now}},
		func(l *coordinationv1.Lease) { equal("renewed", l.Spec.RenewTime.UnixMicro(), now.UnixMicro()) })
	lifeOf(core.Events("default"), &corev1.Event{ObjectMeta: named("e1"), Message: "core", InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "p", Namespace: "default"}, Count: 3},
		func(e *corev1.Event) { equal("count", e.Count, 3) })
	lifeOf(c.EventsV1().Events("default"), &eventsv1.Event{ObjectMeta: named("e2"), Note: "new", EventTime: now, Reason: "R", Action: "A", Type: "Normal",
		ReportingController: "x.io/c", ReportingInstance: "i", Regarding: corev1.ObjectReference{Kind: "Pod", Name: "p", Namespace: "default"}},
		func(e *eventsv1.Event) { equal("note", e.Note, "new") })
	lifeOf(core.Pods("default"), pod("p"), seenPod)
}

// What belongs to no kind of its own: a binding, an eviction, a status, a review.
func subresources(c *kubernetes.Clientset) {
	ctx := context.Background()
	pods := c.CoreV1().Pods("default")
	made, err := pods.Create(ctx, pod("bound"), metav1.CreateOptions{})
	must(err, "pod")
	must(pods.Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "bound"}, Target: corev1.ObjectReference{Kind: "Node", Name: "other"}}, metav1.CreateOptions{}), "bind")
	made, err = pods.Get(ctx, "bound", metav1.GetOptions{})
	must(err, "get")
	equal("node", made.Spec.NodeName, "other")
	made.Status.Phase, made.Status.Message = corev1.PodRunning, "from outside"
	made.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Unix(1767225600, 0)}}}}
	made, err = pods.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	must(err, "status")
	equal("status", made.Status.ContainerStatuses[0].State.Running.StartedAt.Unix(), 1767225600)
	zero := int64(0)
	must(pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "bound"}, DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: &zero}}), "evict")
	_, err = pods.Get(ctx, "bound", metav1.GetOptions{})
	equal("evicted", apierrors.IsNotFound(err), true)
	review, err := c.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods"}}}, metav1.CreateOptions{})
	must(err, "review")
	equal("allowed", review.Status.Allowed, true)
	_, err = pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "Bad_Name"}}, metav1.CreateOptions{})
	equal("a refusal is understood", apierrors.IsInvalid(err), true)
}

func informs(c *kubernetes.Clientset) {
	factory := informers.NewSharedInformerFactory(c, 0)
	informer := factory.Core().V1().Pods().Informer()
	seen := make(chan string, 10)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o any) { seenPod(o.(*corev1.Pod)); seen <- "added" },
		DeleteFunc: func(any) { seen <- "deleted" }})
	must(err, "handler")
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	if !cache.WaitForCacheSync(stop, informer.HasSynced) {
		log.Fatal("the informer did not sync")
	}
	lifeOf(c.CoreV1().Pods("default"), pod("watched"), func(*corev1.Pod) {})
	for _, wanted := range []string{"added", "deleted"} {
		select {
		case said := <-seen:
			equal("told", said, wanted)
		case <-time.After(20 * time.Second):
			log.Fatalf("waited in vain for %q", wanted)
		}
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "golden" {
		golden()
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err, "kubeconfig")
	count := &counter{only: len(os.Args) > 1 && os.Args[1] == "only"}
	if count.only {
		config.AcceptContentTypes = protobufType
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		count.RoundTripper = next
		return count
	})
	clients, err := kubernetes.NewForConfig(config)
	must(err, "client")
	kinds(clients)
	if !count.only { // otherwise client-go sends JSON
		equal("bodies that are protobuf", count.protobuf.Load(), count.bodies.Load())
	}
	subresources(clients) // client-go sends bindings and evictions as JSON
	informs(clients)
	fmt.Println("ok")
}
