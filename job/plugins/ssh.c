/*
 * Plugin ssh: one key pair for all pods of a job, and a client configuration with their host names.
 * The pair is made once, on a worker thread; later only the configuration is updated. Ref:
 * spec/job-plugins.md 4, O-P20…O-P26; spec/reliability.md SEC-29.
 */
#include "job/plugins/ssh.h"

#include <assert.h>
#include <string.h>

#include "api/types/kinds/pod/volume_path.h"
#include "base/encoding/base64.h"
#include "base/encoding/jsonw.h"
#include "base/mem.h"
#include "job/plugins/mpi.h"
#include "job/plugins/ssh_keys.h"
#include "job/plugins/sshd_port.h"

enum { PORT_DEFAULT = 22, MODE_OWNER = 0600, MODE_ALL = 0644 };

#define HOME_PATH   "/root/.ssh"
#define KEY_PRIVATE "id_rsa" /* name of a key of any type: OpenSSH reads the content (O-P26) */
#define KEY_PUBLIC  "id_rsa.pub"
#define KEY_ALLOWED "authorized_keys"
#define KEY_CONFIG  "config"

struct ssh_args {
    const char *path, *private_key, *public_key, *type;
    int64_t port; /* port of sshd; 0: not given */
};

/* clang-format off */
static const struct job_arg ssh_flags[] = {
    {"ssh-key-file-path", ARG_STR,  offsetof(struct ssh_args, path)},
    {"ssh-private-key",   ARG_STR,  offsetof(struct ssh_args, private_key)},
    {"ssh-public-key",    ARG_STR,  offsetof(struct ssh_args, public_key)},
    {"ssh-port",          ARG_PORT, offsetof(struct ssh_args, port)},
    {"ssh-key-type",      ARG_STR,  offsetof(struct ssh_args, type)},
    {0},
};
/* clang-format on */

static struct ssh_args read_words(const struct job_spec *spec, struct str_list words)
{
    struct ssh_args args = {HOME_PATH, "", "", "rsa", 0};

    job_args_read(ssh_flags, words, &args, NULL);
    if (args.port == 0)
        args.port = job_mpi_port(spec); /* the port that mpi gives (O-P25) */
    if (args.port == 0)
        args.port = PORT_DEFAULT;
    return args;
}

static struct ssh_args read_args(const struct job_plugin_job *job)
{
    return read_words(job->spec, job->args);
}

int64_t job_ssh_port(const struct job_spec *spec, struct str_list args)
{
    return read_words(spec, args).port;
}

static void write_config(struct buf *out, const struct job_plugin_job *job, int64_t port)
{
    buf_str(out, "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n");
    for (size_t t = 0; t < job->spec->tasks.count; t++) {
        const struct job_task *task = &job->spec->tasks.items[t];

        for (int32_t i = 0; i < job_host_count(task); i++) {
            buf_str(out, "Host ");
            job_host_write(out, job->name, task, i);
            buf_str(out, "\n  HostName ");
            job_fqdn_write(out, job->name, task, i);
            buf_str(out, "\n  Port ");
            buf_int(out, port);
            buf_char(out, '\n');
        }
    }
    if (port != PORT_DEFAULT) /* the line also serves replicas that are added later (O-P22) */
        buf_printf(out, "Host *.%s\n  Port %lld\n", job->name, (long long)port);
}

static void member_base64(struct jsonw *w, const char *key, const void *bytes, size_t len)
{
    struct buf text = {0};

    base64_encode(bytes, len, &text);
    jsonw_key(w, key);
    jsonw_strn(w, text.data ? text.data : "", text.len);
    secret_wipe(&text);
}

static void members_public(struct jsonw *w, const char *text, size_t len)
{
    member_base64(w, KEY_PUBLIC, text, len);
    member_base64(w, KEY_ALLOWED, text, len);
}

static struct blob *secret_body(const struct job_plugin_job *job, const struct ssh_args *args)
{
    scoped(buf) struct buf config = {0};
    struct buf body = {0};
    struct jsonw w = jsonw_to(&body);
    struct blob *blob;

    write_config(&config, job, args->port);
    jsonw_open(&w);
    jsonw_member_str(&w, "type", "Opaque");
    jsonw_member_open(&w, "data");
    member_base64(&w, KEY_CONFIG, config.data, config.len);
    if (*args->private_key)
        member_base64(&w, KEY_PRIVATE, args->private_key, strlen(args->private_key));
    if (*args->private_key && *args->public_key)
        members_public(&w, args->public_key, strlen(args->public_key));
    jsonw_close(&w);
    jsonw_close(&w);
    blob = blob_intern(body.data, body.len);
    secret_wipe(&body);
    return blob;
}

/* Copies the planned body without its end, so that jsonw appends further members of `data`. */
static struct jsonw reopen_data(const char *body, size_t len, struct buf *out)
{
    assert(len > 2 && memcmp(body + len - 2, "}}", 2) == 0);
    buf_reserve(out, len + 16384); /* the buffer must not grow later, because that would leave keys
                                    * in freed memory */
    buf_add(out, body, len - 2);
    return (struct jsonw){out, true};
}

typedef bool (*make_pair_fn)(struct secret *out_private, struct buf *out_public, struct error *err);

static bool complete_pair(make_pair_fn make, const char *body, size_t len, struct buf *out,
                          struct error *err)
{
    scoped(secret) struct secret private_key = {0};
    scoped(buf) struct buf public_key = {0};
    struct jsonw w;

    if (!make(&private_key, &public_key, err))
        return false;
    w = reopen_data(body, len, out);
    member_base64(&w, KEY_PRIVATE, private_key.bytes.data, private_key.bytes.len);
    members_public(&w, public_key.data, public_key.len);
    jsonw_close(&w);
    jsonw_close(&w);
    return true;
}

static bool complete_rsa(const char *body, size_t len, struct buf *out, struct error *err)
{
    return complete_pair(job_key_rsa, body, len, out, err);
}

static bool complete_ed25519(const char *body, size_t len, struct buf *out, struct error *err)
{
    return complete_pair(job_key_ed25519, body, len, out, err);
}

/* The body has the author's private key; the public key is derived from it (O-P24). */
static bool complete_public(const char *body, size_t len, struct buf *out, struct error *err)
{
    scoped(json) json_t *doc = json_loadb(body, len, 0, NULL);
    const json_t *given = json_object_get(json_object_get(doc, "data"), KEY_PRIVATE);
    scoped(secret) struct secret key = {0};
    scoped(buf) struct buf public_key = {0};
    struct jsonw w;

    if (!base64_decode(json_string_value(given), json_string_length(given), &key.bytes) ||
        !job_key_public(key.bytes.data, key.bytes.len, &public_key, err))
        return false;
    w = reopen_data(body, len, out);
    members_public(&w, public_key.data, public_key.len);
    jsonw_close(&w);
    jsonw_close(&w);
    return true;
}

/* Updates the configuration and keeps the keys (O-P20, O-P21). Only used on this machine:
 * Kubernetes' kubelet removes the old files of a changed Secret, also from directories mounted by
 * subPath. */
static struct blob *adapt_secret(const struct object *is, const struct blob *wanted)
{
    scoped(json) json_t *body = object_body_json(is);
    scoped(json) json_t *planned = json_loadb(wanted->text, wanted->len, 0, NULL);
    json_t *config = json_object_get(json_object_get(planned, "data"), KEY_CONFIG);
    json_t *data = json_object_get(body, "data");

    if (!data)
        json_object_set_new(body, "data", data = json_object());
    if (json_equal(json_object_get(data, KEY_CONFIG), config))
        return blob_ref(is->body);
    json_object_set(data, KEY_CONFIG, config);
    return object_body_from_json(body);
}

static job_complete_fn completion(const struct ssh_args *args)
{
    if (*args->private_key)
        return *args->public_key ? NULL : complete_public;
    return strcmp(args->type, "ed25519") == 0 ? complete_ed25519 : complete_rsa;
}

static void ssh_objects(const struct job_plugin_job *job, struct job_object_plan *plan)
{
    const struct ssh_args args = read_args(job);
    scoped_str name = mem_printf("%s-ssh", job->name);
    struct job_plan_object *secret =
        job_plan_object(plan, &kind_secret, name, secret_body(job, &args));

    if (job->local) /* elsewhere a changed Secret empties the directory in running pods */
        secret->adapt = adapt_secret;
    secret->complete = completion(&args);
}

static bool user_is_known(const struct job_task *task)
{
    const json_t *context = job_template_list(task, "securityContext");

    return json_is_integer(json_object_get(context, "runAsUser"));
}

static json_t *secret_items(void)
{
    static const char *const keys[] = {KEY_PRIVATE, KEY_PUBLIC, KEY_ALLOWED, KEY_CONFIG};
    json_t *items = json_array();

    for (size_t i = 0; i < countof(keys); i++)
        json_array_append_new(items,
                              json_pack("{s:s, s:s+}", "key", keys[i], "path", ".ssh/", keys[i]));
    return items;
}

static void ssh_pod(const struct job_plugin_job *job, const struct job_task *task, int32_t index,
                    struct job_pod_plan *plan)
{
    const struct ssh_args args = read_args(job);
    scoped_str name = mem_printf("%s-ssh", job->name);
    /* ssh refuses a key that users other than the owner can read. When the user of the container is
     * unknown, the key must be readable by all (O-P23). */
    int mode = strcmp(args.path, HOME_PATH) == 0 || job->local || user_is_known(task) ? MODE_OWNER
                                                                                      : MODE_ALL;

    job_pod_plan_volume(plan,
                        json_pack("{s:s, s:{s:s, s:o, s:i}}", "name", name, "secret", "secretName",
                                  name, "items", secret_items(), "defaultMode", mode));
    job_pod_plan_mount(plan, json_pack("{s:s, s:s, s:s}", "name", name, "mountPath", args.path,
                                       "subPath", ".ssh"));
}

static void review_keys(const struct ssh_args *args, struct job_review *review)
{
    scoped(buf) struct buf public_key = {0};
    struct error err = {0};

    if (*args->public_key && !*args->private_key)
        job_review_warn(review, REASON_ARGUMENT_IGNORED,
                        "plugin ssh: argument ignored: ssh-public-key: without ssh-private-key a "
                        "new pair is made");
    if (!*args->private_key)
        return;
    if (review->no_key_arguments)
        job_review_refuse(review, NULL,
                          "ssh-private-key: anyone who can read the job could read the key: "
                          "leave it out, and a pair is made for the job, or start the server with "
                          "--allow-ssh-key-arguments");
    job_review_warn(review, REASON_PLUGIN_WARNING,
                    "plugin ssh: anyone who can read the job can read ssh-private-key in its "
                    "arguments: leave it out, and a pair is made for the job");
    if (!*args->public_key &&
        !job_key_public(args->private_key, strlen(args->private_key), &public_key, &err))
        job_review_refuse(review, NULL, "%s: %s", err.field, err.message);
}

static bool has_sshd(const struct job_spec *spec)
{
    for (size_t t = 0; t < spec->tasks.count; t++)
        if (job_mentions_sshd(spec->tasks.items[t].template))
            return true;
    return false;
}

/* The warning of a server whose pods share the machine's network, started by an ordinary user. */
static void review_port(const struct job_spec *spec, struct job_review *review)
{
    const char *plugin;
    int64_t port = review->no_low_ports && has_sshd(spec) ? job_sshd_low_port(spec, &plugin) : 0;

    if (port)
        job_review_warn(review, REASON_PLUGIN_WARNING,
                        "plugin %s: sshd cannot listen on port %lld, for the user who runs the "
                        "pods may not listen below 1024: write --port=2222 (of ssh: "
                        "--ssh-port=2222) and start sshd on that port, or give pods a network of "
                        "their own (--network private)",
                        plugin, (long long)port);
}

static void ssh_review(const struct job_plugin_job *job, struct job_review *review)
{
    const struct ssh_args args = read_args(job);
    const char *problem = mount_path_problem(args.path);

    if (strcmp(args.type, "rsa") != 0 && strcmp(args.type, "ed25519") != 0)
        job_review_warn(review, REASON_ARGUMENT_IGNORED,
                        "plugin ssh: argument ignored: ssh-key-type: \"%s\" is not a key type; "
                        "use rsa or ed25519",
                        args.type);
    if (problem)
        job_review_refuse(review, NULL, "ssh-key-file-path: \"%s\" %s", args.path, problem);
    review_keys(&args, review);
    review_port(job->spec, review);
}

static void ssh_review_name(const struct job_plugin_job *job, struct job_review *review)
{
    scoped_str name = mem_printf("%s-ssh", job->name);

    job_review_mount(job, review, read_args(job).path, "secret", "secretName", name);
}

const struct job_plugin job_plugin_ssh = {
    .name = "ssh",
    .flags = ssh_flags,
    .flags_size = sizeof(struct ssh_args),
    .objects = ssh_objects,
    .pod = ssh_pod,
    .review = ssh_review,
    .review_name = ssh_review_name,
};
