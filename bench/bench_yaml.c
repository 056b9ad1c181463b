/*
 * Measures the cost of a manifest before it is stored: parsing of YAML, admission, construction of
 * one more object from an admitted body, and its JSON text. Prints one JSON line.
 *
 *   bench_yaml [FILE]
 *
 * Without a file it uses ten thousand job templates like those of bench/gen_flow.py.
 */
#include <stdio.h>

#include "api/types/admission.h"
#include "api/types/text/yaml.h"
#include "base/clock.h"
#include "base/file.h"

enum { TEMPLATES = 10000, DRAFTS = 200000 };

static double seconds_since(int64_t began_ns)
{
    return (double)(clock_mono_ns(clock_real()) - began_ns) / 1e9;
}

static void make_templates(struct buf *out)
{
    for (int i = 0; i < TEMPLATES; i++)
        buf_printf(
            out,
            "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata:\n  name: n%05d\n"
            "  namespace: default\nspec:\n  minAvailable: 1\n  schedulerName: volcano\n"
            "  queue: default\n  tasks:\n    - name: t\n      replicas: 1\n      template:\n"
            "        metadata:\n          name: t\n        spec:\n          restartPolicy: Never\n"
            "          containers:\n            - name: c\n              image: busybox\n"
            "              command: [\"/bin/true\"]\n---\n",
            i);
}

static size_t admit_all(struct yaml_stream *stream, const struct admission *adm)
{
    size_t admitted = 0;
    struct error_list errors = {0};

    for (size_t i = 0; i < yaml_count(stream); i++) {
        scoped(object) struct object *object =
            admission_admit(adm, yaml_document(stream, i), NULL, UNKNOWN_ERROR, &errors);

        admitted += object != NULL;
    }
    for (size_t i = 0; i < errors.count && i < 3; i++)
        fprintf(stderr, "%s: %s\n", errors.items[i].field, errors.items[i].message);
    error_list_release(&errors);
    return admitted;
}

/* Builds objects as a controller does: new metadata with an existing body. Returns the nanoseconds
 * per object. */
static double draft_ns(const struct admission *adm, const struct object *first)
{
    static const struct kv labels[] = {{"volcano.sh/job-name", "n00000"},
                                       {"volcano.sh/queue-name", "default"}};
    int64_t began = clock_mono_ns(clock_real());
    struct error_list errors = {0};

    for (int i = 0; i < DRAFTS; i++) {
        const struct meta draft = {.namespace = "default",
                                   .name = "flow-n00000",
                                   .labels = labels,
                                   .n_labels = 2,
                                   .deletion_grace_s = -1};

        object_unref(admission_admit_object(
            adm, object_new(first->kind, meta_new(&draft), blob_ref(first->body), NULL), NULL,
            &errors));
    }
    error_list_release(&errors);
    return seconds_since(began) * 1e9 / DRAFTS;
}

static double write_ns(const struct object *object)
{
    int64_t began = clock_mono_ns(clock_real());
    scoped(buf) struct buf text = {0};

    for (int i = 0; i < DRAFTS; i++) {
        buf_clear(&text);
        object_write(object, &text);
    }
    return seconds_since(began) * 1e9 / DRAFTS;
}

static double decode_ns(const struct object *object)
{
    scoped(buf) struct buf bytes = {0};
    int64_t began = clock_mono_ns(clock_real());

    meta_encode(object->meta, &bytes);
    for (int i = 0; i < DRAFTS; i++)
        meta_unref(meta_decode(bytes.data, bytes.len, NULL));
    return seconds_since(began) * 1e9 / DRAFTS;
}

int main(int argc, char **argv)
{
    static const struct admission adm = {.scheduler_name = "volcano"};
    scoped(buf) struct buf text = {0};
    struct error err = {0};
    struct error_list errors = {0};
    int64_t began;
    double parse_s, admit_s;

    if (argc < 2)
        make_templates(&text);
    else if (!file_read(argv[1], yaml_limits_default.max_bytes, &text, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    began = clock_mono_ns(clock_real());

    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(text.data, text.len, &yaml_limits_default, &err);

    parse_s = seconds_since(began);
    if (!stream || !yaml_count(stream)) {
        fprintf(stderr, "%s\n", stream ? "no documents" : err.message);
        return 1;
    }

    scoped(object) struct object *first =
        admission_admit(&adm, yaml_document(stream, 0), NULL, UNKNOWN_ERROR, &errors);

    began = clock_mono_ns(clock_real());
    if (!first || admit_all(stream, &adm) != yaml_count(stream))
        return 1;
    admit_s = seconds_since(began);
    printf(
        "{\"bench\":\"yaml\",\"documents\":%zu,\"bytes\":%zu,\"parse_s\":%.3f,\"parse_mb_s\":%.1f,"
        "\"admit_us\":%.2f,\"draft_ns\":%.0f,\"write_ns\":%.0f,\"meta_decode_ns\":%.0f}\n",
        yaml_count(stream), text.len, parse_s, (double)text.len / 1e6 / parse_s,
        admit_s * 1e6 / (double)yaml_count(stream), draft_ns(&adm, first), write_ns(first),
        decode_ns(first));
    return 0;
}
