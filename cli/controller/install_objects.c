/*
 * The texts are YAML as a person would write it. Each `${word}` stands alone in its value, is part of
 * a name, or stands for whole lines.
 */
#include "cli/controller/install_objects.h"

#define LABELS                                                                                     \
    "{app.kubernetes.io/name: \"${name}\", app.kubernetes.io/component: controller, "              \
    "app.kubernetes.io/version: \"${version}\"}"
#define SELECTED "{app.kubernetes.io/name: \"${name}\", app.kubernetes.io/component: controller}"
#define PART_OF  "{app.kubernetes.io/name: \"${name}\"}"

static const char namespace_text[] = "apiVersion: v1\n"
                                     "kind: Namespace\n"
                                     "metadata:\n"
                                     "  name: \"${namespace}\"\n"
                                     "  labels: {app.kubernetes.io/name: \"${name}\", "
                                     "pod-security.kubernetes.io/enforce: restricted}\n";

/* The API server serves requests of service accounts behind those of its own components. Renewals
 * of the lease must not wait there. */
static const char flow_schema_text[] =
    "apiVersion: flowcontrol.apiserver.k8s.io/${flowschema}\n"
    "kind: FlowSchema\n"
    "metadata: {name: ${name}-leader-election, labels: " PART_OF "}\n"
    "spec:\n"
    "  priorityLevelConfiguration: {name: leader-election}\n"
    "  matchingPrecedence: 200\n"
    "  distinguisherMethod: {type: ByUser}\n"
    "  rules:\n"
    "  - subjects:\n"
    "    - kind: ServiceAccount\n"
    "      serviceAccount: {name: ${name}-controller, namespace: \"${namespace}\"}\n"
    "    resourceRules:\n"
    "    - verbs: [get, list, watch, create, update]\n"
    "      apiGroups: [coordination.k8s.io]\n"
    "      resources: [leases]\n"
    "      namespaces: [\"${namespace}\"]\n";

static const char service_text[] =
    "apiVersion: v1\n"
    "kind: Service\n"
    "metadata:\n"
    "  name: ${name}-metrics\n"
    "  namespace: \"${namespace}\"\n"
    "  labels: " PART_OF "\n"
    "spec:\n"
    "  clusterIP: None\n"
    "  selector: " SELECTED "\n"
    "  ports:\n"
    "  - {name: metrics, port: 8080, targetPort: metrics, protocol: TCP}\n";

/* There is no limit of CPU: a leader that is throttled loses its lease. */
static const char deployment_text[] =
    "apiVersion: apps/v1\n"
    "kind: Deployment\n"
    "metadata:\n"
    "  name: ${name}-controller\n"
    "  namespace: \"${namespace}\"\n"
    "  labels: " LABELS "\n"
    "spec:\n"
    "  replicas: ${replicas}\n"
    "  strategy: {rollingUpdate: {maxUnavailable: 1, maxSurge: 1}}\n"
    "  selector: {matchLabels: " SELECTED "}\n"
    "  template:\n"
    "    metadata:\n"
    "      labels: " SELECTED "\n"
    "${annotations}"
    "    spec:\n"
    "      serviceAccountName: ${name}-controller\n"
    "${pull-secrets}"
    "      priorityClassName: ${priority-class}\n"
    "      terminationGracePeriodSeconds: 20\n"
    "      securityContext:\n"
    "        runAsNonRoot: true\n"
    "        runAsUser: 65532\n"
    "        runAsGroup: 65532\n"
    "        fsGroup: 65532\n"
    "        seccompProfile: {type: RuntimeDefault}\n"
    "${placement}"
    "      affinity:\n"
    "        podAntiAffinity:\n"
    "          preferredDuringSchedulingIgnoredDuringExecution:\n"
    "          - weight: 100\n"
    "            podAffinityTerm:\n"
    "              topologyKey: kubernetes.io/hostname\n"
    "              labelSelector: {matchLabels: " SELECTED "}\n"
    "      containers:\n"
    "      - name: controller\n"
    "        image: ${image}\n"
    "        imagePullPolicy: ${pull-policy}\n"
    "        args:\n"
    "        - controller\n"
    "        - --mode=${mode}\n"
    "        - --leader-elect-resource-name=${name}-controller${args}\n"
    "        env:\n"
    "        - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}\n"
    "        - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}\n"
    "        ports:\n"
    "        - {name: metrics, containerPort: 8080, protocol: TCP}\n"
    "        - {name: health, containerPort: 8081, protocol: TCP}\n"
    "        startupProbe: {httpGet: {path: /livez, port: health}, periodSeconds: 2, "
    "failureThreshold: 30}\n"
    "        livenessProbe: {httpGet: {path: /livez, port: health}, periodSeconds: 10, "
    "timeoutSeconds: 2}\n"
    "        readinessProbe: {httpGet: {path: /readyz, port: health}, periodSeconds: 5, "
    "timeoutSeconds: 2}\n"
    "        resources: ${resources}\n"
    "        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, "
    "capabilities: {drop: [ALL]}}\n"
    "        volumeMounts: [{name: tmp, mountPath: /tmp}]\n"
    "      volumes:\n"
    "      - {name: tmp, emptyDir: {sizeLimit: 128Mi}}\n";

static const char budget_text[] = "apiVersion: policy/v1\n"
                                  "kind: PodDisruptionBudget\n"
                                  "metadata:\n"
                                  "  name: ${name}-controller\n"
                                  "  namespace: \"${namespace}\"\n"
                                  "  labels: " PART_OF "\n"
                                  "spec:\n"
                                  "  minAvailable: 1\n"
                                  "  selector: {matchLabels: " SELECTED "}\n";

/* What the controller asks is not restricted: probes of steps go to pods. */
static const char network_policy_text[] =
    "apiVersion: networking.k8s.io/v1\n"
    "kind: NetworkPolicy\n"
    "metadata:\n"
    "  name: ${name}-controller\n"
    "  namespace: \"${namespace}\"\n"
    "  labels: " PART_OF "\n"
    "spec:\n"
    "  podSelector: {matchLabels: " SELECTED "}\n"
    "  policyTypes: [Ingress]\n"
    "  ingress:\n"
    "  - from:\n"
    "    - namespaceSelector: {matchLabels: {jobflow.dev/metrics: \"true\"}}\n"
    "    ports:\n"
    "    - {port: 8080, protocol: TCP}\n";

/* clang-format off */
const struct install_part install_parts[INSTALL_PARTS] = {
    {"namespace",     namespace_text,      0,  0},
    {"crds",          NULL,                0,  0},
    {"rbac",          NULL,                0,  0},
    {"flowschema",    flow_schema_text,    23, 0},
    {"service",       service_text,        0,  0},
    {"deployment",    deployment_text,     0,  0},
    {"pdb",           budget_text,         21, 2},
    {"networkpolicy", network_policy_text, 0,  0},
};
/* clang-format on */
