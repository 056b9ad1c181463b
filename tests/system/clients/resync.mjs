// An informer of @kubernetes/client-node that goes on over a restart of the daemon; run by clients.py.
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const seen = new Set();
const informer = k8s.makeInformer(config, '/api/v1/namespaces/default/configmaps',
    () => core.listNamespacedConfigMap({ namespace: 'default' }));
for (const verb of ['add', 'delete'])
    informer.on(verb, (o) => seen.add(verb + ' ' + o.metadata.name));
const again = () => informer.start().catch(() => setTimeout(again, 100));
informer.on('error', () => setTimeout(again, 100)); // what its documentation tells programs to do
await again();
console.log('synced');
for (const end = Date.now() + 60000; !(seen.has('add after') && seen.has('delete before')); ) {
    if (Date.now() > end) {
        console.log('waited in vain: ' + [...seen].join());
        process.exit(1);
    }
    await new Promise((r) => setTimeout(r, 20));
}
console.log('ok');
process.exit(0);
