package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

// Sources of volumes that jobflow has no table for.
var unsupported = strings.Fields(`GCEPersistentDisk AWSElasticBlockStore GitRepo NFS ISCSI Glusterfs RBD FlexVolume Cinder CephFS
	Flocker FC AzureFile VsphereVolume Quobyte AzureDisk PhotonPersistentDisk PortworxVolume ScaleIO StorageOS CSI Ephemeral Image`)

type filler struct {
	n    int64
	zero bool // pointers to zero values, and nothing else
}

func (f *filler) next() int64 {
	f.n++
	return f.n
}

// Types that know their own encoding.
func (f *filler) special(v reflect.Value) bool {
	var value any
	switch v.Interface().(type) {
	case resource.Quantity:
		value = resource.MustParse(strconv.FormatInt(f.next(), 10) + "m")
	case metav1.Time:
		value = metav1.Unix(1767225600+f.next(), 0)
	case metav1.MicroTime:
		value = metav1.NewMicroTime(time.Unix(1767225600+f.next(), 123456000))
	case metav1.FieldsV1:
		value = metav1.FieldsV1{Raw: []byte(`{"f:spec":{}}`)}
	case intstr.IntOrString:
		value = intstr.FromString("name" + strconv.FormatInt(f.next(), 10))
		if f.n%2 == 0 {
			value = intstr.FromInt32(int32(f.n))
		}
	default:
		return false
	}
	if !f.zero {
		v.Set(reflect.ValueOf(value))
	}
	return true
}

func (f *filler) fill(v reflect.Value) {
	if f.special(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() == reflect.TypeFor[metav1.TypeMeta]() {
				return
			}
			if name := v.Type().Field(i).Name; v.Type() == reflect.TypeFor[corev1.VolumeSource]() && contains(unsupported, name) {
				continue
			}
			f.fill(v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte("v\x00w"))
			return
		}
		n := 2
		if v.Type().Elem().Kind() == reflect.Struct {
			n = 1
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(v.Index(i))
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		key.SetString("k" + strconv.FormatInt(f.next(), 10))
		f.fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		if !f.zero {
			v.SetString("s" + strconv.FormatInt(f.next(), 10))
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if !f.zero {
			v.SetInt(f.next() - 2*(f.n%2)*f.n) // every other one is negative
		}
	case reflect.Bool:
		v.SetBool(!f.zero)
	}
}

func contains(list []string, word string) bool {
	for _, other := range list {
		if other == word {
			return true
		}
	}
	return false
}

// Prints C source: objects of every kind with each of their fields set, as protobuf and as JSON.
func golden() {
	objects := []runtime.Object{&corev1.Namespace{}, &corev1.Node{}, &corev1.Pod{}, &corev1.ConfigMap{}, &corev1.Secret{},
		&corev1.Service{}, &corev1.Endpoints{}, &discoveryv1.EndpointSlice{}, &corev1.PersistentVolumeClaim{},
		&corev1.ServiceAccount{}, &networkingv1.NetworkPolicy{}, &schedulingv1.PriorityClass{}, &coordinationv1.Lease{},
		&corev1.Event{}, &eventsv1.Event{}, &metav1.DeleteOptions{}, &policyv1.Eviction{}, &corev1.Binding{},
		&autoscalingv1.Scale{}, &authorizationv1.SelfSubjectAccessReview{}, &authorizationv1.SelfSubjectRulesReview{}}
	binary := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	text := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{})
	fmt.Println("/* Written by `typed golden` of tests/system/clients/typed; do not edit. */")
	fmt.Println("static const struct golden {\n    const char *name, *protobuf, *json; /* protobuf in base64 */\n} goldens[] = {")
	for _, zero := range []bool{false, true} {
		for _, object := range objects {
			object = object.DeepCopyObject()
			kinds, _, err := scheme.Scheme.ObjectKinds(object)
			must(err, "kind")
			kind := kinds[0]
			if kind.Kind == "DeleteOptions" {
				kind.Group, kind.Version = "", "v1"
			}
			f := filler{zero: zero}
			f.fill(reflect.ValueOf(object).Elem())
			object.GetObjectKind().SetGroupVersionKind(kind)
			var proto, doc bytes.Buffer
			must(binary.Encode(object, &proto), "protobuf")
			must(text.Encode(object, &doc), "JSON")
			name := kind.Kind + " of " + kind.GroupVersion().String()
			if zero {
				name += ", empty"
			}
			fmt.Printf("    {%q,\n     %q,\n     %q},\n", name, base64.StdEncoding.EncodeToString(proto.Bytes()), strings.TrimSpace(doc.String()))
		}
	}
	fmt.Println("};")
	os.Exit(0)
}
