"""What pages of other origins try at the page: a name, the body of a script, and what the browser did in vain.

Each script runs in a page of the attacker, in the browser that is signed in. It has `base` (the origin of the page), `flow` (the path of a flow
below /ui/api) and `id` (that of the gateway, which is no secret), and returns what it has got. Nothing is an empty value. What it changes is
looked for afterwards.
"""

# Helpers that every script has. An element that is loaded tells whether it was.
HELPERS = """
const later = (ms, value) => new Promise(done => setTimeout(() => done(value), ms));
const loads = (tag, set, more = () => 1) => new Promise(done => {
    const e = document.createElement(tag);
    e.onload = () => done(more(e)); e.onerror = () => done('');
    set(e); document.body.append(e);
});
const form = (path, fields, type) => {
    const frame = document.createElement('iframe');
    frame.name = 'f' + Math.random(); document.body.append(frame);
    const f = document.createElement('form');
    f.action = base + path; f.method = 'POST'; f.enctype = type; f.target = frame.name;
    for (const [name, value] of Object.entries(fields)) { const i = document.createElement('input'); i.name = name; i.value = value; f.append(i); }
    document.body.append(f);
    return new Promise(done => { frame.onload = () => { try { done(frame.contentDocument.body.innerText); } catch { done(''); } }; f.submit(); });
};
const text = answer => answer.text();
const none = () => '';
const made = JSON.stringify({apiVersion: 'flow.volcano.sh/v1alpha1', kind: 'JobFlow', metadata: {name: 'forged'}, spec: {flows: []}});
const flows = flow.replace(/[^/]*$/, '');
"""

ATTACKS = [
    ("read data by fetch", "fetch(base + '/ui/v1/me', {credentials: 'include'}).then(text, none)"),
    ("read data by fetch without CORS", "fetch(base + '/ui/v1/me', {credentials: 'include', mode: 'no-cors'}).then(text, none)"),
    ("read with a guessed key", "fetch(base + '/ui/v1/me', {credentials: 'include', headers: {'Jobflow-Key': 'A'.repeat(43)}}).then(text, none)"),
    ("read with a key in the query", "fetch(base + '/ui/v1/me?Jobflow-Key=' + 'A'.repeat(43), {credentials: 'include'}).then(text, none)"),
    ("read a flow", "fetch(base + flow, {credentials: 'include'}).then(text, none)"),
    ("read the shell", "fetch(base + '/ui/', {credentials: 'include'}).then(text, none)"),
    ("run data as a script", "loads('script', e => { e.src = base + '/ui/v1/me'; })"),
    ("run the page's script", "fetch(base + '/ui/').catch(none).then(() => loads('script', e => { e.src = asset; }))"),
    ("use its style", "loads('link', e => { e.rel = 'stylesheet'; e.href = asset.replace('app.js', 'app.css'); })"),
    ("show its icon as an image", "loads('img', e => { e.src = asset.replace('app.js', 'favicon-0.svg'); })"),
    ("show data as an image", "loads('img', e => { e.src = base + flow; })"),
    ("preload data", "loads('link', e => { e.rel = 'preload'; e.as = 'fetch'; e.crossOrigin = 'use-credentials'; e.href = base + '/ui/v1/me'; })"),
    ("frame the page", "loads('iframe', e => { e.src = base + '/ui/'; }, e => { try { return e.contentDocument ? e.contentDocument.body.innerText : ''; } catch { return ''; } })"),
    ("frame a view as an object", "loads('object', e => { e.data = base + '/ui/flows'; }, e => { try { return e.contentDocument ? e.contentDocument.body.innerText : ''; } catch { return ''; } })"),
    ("reach its window", "Promise.resolve(window.open(base + '/ui/')).then(w => later(500, w)).then(w => { try { return w ? w.document.body.innerText + (w.length ? 'frames' : '') : ''; } catch { return ''; } })"),
    ("make a flow with a form", "form(flows, {a: made}, 'application/x-www-form-urlencoded')"),
    ("make a flow with a form of text", "form(flows, {[made.slice(0, -1) + ',\"x\":\"']: '\"}'}, 'text/plain')"),
    ("make a flow with a form of parts", "form(flows, {a: made}, 'multipart/form-data')"),
    ("make a flow by fetch of text", "fetch(base + flows, {method: 'POST', credentials: 'include', mode: 'no-cors', body: made}).then(text, none)"),
    ("make a flow by fetch of JSON", "fetch(base + flows, {method: 'POST', credentials: 'include', headers: {'Content-Type': 'application/json'}, body: made}).then(text, none)"),
    ("make a flow by a beacon", "Promise.resolve(navigator.sendBeacon(base + flows, new Blob([made], {type: 'text/plain'}))).then(() => later(300, ''))"),
    ("delete a flow", "fetch(base + flow, {method: 'DELETE', credentials: 'include'}).then(text, none)"),
    ("sign in with a guessed ticket", "form('/ui/signin', {ticket: 'A'.repeat(43)}, 'text/plain')"),
    ("sign the user out", "form('/ui/signout', {}, 'application/x-www-form-urlencoded')"),
    ("ask for a link", "fetch(base + '/ui/ticket', {method: 'POST', credentials: 'include', mode: 'no-cors', body: '{}'}).then(text, none)"),
    ("listen to the stream", "new Promise(done => { const s = new EventSource(base + '/ui/v1/stream?tab=x', {withCredentials: true}); s.onmessage = e => done(e.data); s.onerror = () => done(''); })"),
    ("open a web socket", "new Promise(done => { const s = new WebSocket(base.replace('http', 'ws') + '/ui/v1/stream?tab=x'); s.onopen = () => done('open'); s.onerror = () => done(''); })"),
    ("find a key in storage", "Promise.resolve(Object.keys(localStorage).filter(key => key.startsWith('jf-')).join())"),
    ("read the cookie", "Promise.resolve(document.cookie.includes('jf-') ? document.cookie : '')"),
]
