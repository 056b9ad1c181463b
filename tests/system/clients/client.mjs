// What a program written with @kubernetes/client-node does; run by clients.py.
import * as k8s from '@kubernetes/client-node';
import assert from 'node:assert';

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const flows = { group: 'flow.volcano.sh', version: 'v1alpha1', namespace: 'default', plural: 'jobflows' };
const flow = (name) => ({
    apiVersion: 'flow.volcano.sh/v1alpha1', kind: 'JobFlow', metadata: { name }, spec: { flows: [{ name: 'a' }] },
});
const until = async (what, condition) => {
    for (const end = Date.now() + 20000; !(await condition()); await new Promise((r) => setTimeout(r, 10)))
        assert(Date.now() < end, 'waited in vain: ' + what);
};

// an informer: everything that happens, in order
const seen = [];
const informer = k8s.makeInformer(config, '/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows',
    () => custom.listNamespacedCustomObject(flows));
for (const verb of ['add', 'update', 'delete'])
    informer.on(verb, (o) => seen.push(verb + ' ' + o.metadata.name));
informer.on('error', (e) => seen.push('error ' + e));
await informer.start();

await custom.createNamespacedCustomObject({ ...flows, body: flow('f') });
await until('added', () => seen.includes('add f'));
await custom.patchNamespacedCustomObject({ ...flows, name: 'f', body: [{ op: 'add', path: '/metadata/labels', value: { x: 'y' } }] });
await until('updated', () => seen.includes('update f'));
const listed = await custom.listNamespacedCustomObject({ ...flows, labelSelector: 'x=y' });
assert.deepEqual(listed.items.map((o) => o.metadata.name), ['f']);
await custom.deleteNamespacedCustomObject({ ...flows, name: 'f', gracePeriodSeconds: 0 });
await until('deleted', () => seen.includes('delete f'));
assert(!seen.some((s) => s.startsWith('error')), seen.join());
await informer.stop();

// objects of any kind, found by discovery
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const map = await objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'default' }, data: { a: '1' } });
assert(map.metadata.uid);
map.data.a = '2';
assert.equal((await objects.patch(map)).data.a, '2');
await assert.rejects(objects.read({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'none', namespace: 'default' } }),
    (e) => e.code === 404);

// a pod's log, followed to its end
await core.createNamespacedPod({ namespace: 'default', body: { metadata: { name: 'p' }, spec: { restartPolicy: 'Never',
    containers: [{ name: 'c', image: 'x', command: ['sh', '-c', 'echo from the pod'] }] } } });
await until('the pod is done', async () =>
    (await core.readNamespacedPod({ name: 'p', namespace: 'default' })).status.phase === 'Succeeded');
assert.equal(await core.readNamespacedPodLog({ name: 'p', namespace: 'default' }), 'from the pod\n');

// a watch that is given up closes at the server's side, too
const ended = new Promise((resolve) => {
    new k8s.Watch(config).watch('/api/v1/namespaces/default/configmaps', {}, () => {}, resolve)
        .then((controller) => controller.abort());
});
await ended;
console.log('ok');
process.exit(0);
