/*
 * Validates names, namespaces, labels, annotations, owner references and finalizers: their formats
 * and sizes (L-13, L-15).
 */
#include "api/types/admission_meta.h"

#include <ctype.h>
#include <string.h>

#include "api/types/checks.h"
#include "api/types/labels.h"
#include "base/mem.h"

typedef bool (*format_fn)(const char *text, struct error *err);

/* clang-format off */
static const struct {
    enum kind_id kind;
    format_fn format;
} name_formats[] = { /* every kind not listed: DNS subdomain */
    {KIND_NAMESPACE, name_is_dns_label},
    {KIND_SERVICE,   name_is_dns1035_label},
};
/* clang-format on */

static format_fn name_format(const struct kind *kind)
{
    for (size_t i = 0; i < countof(name_formats); i++)
        if (name_formats[i].kind == kind->id)
            return name_formats[i].format;
    return name_is_dns_subdomain;
}

/* Checks the format of `text`; the error shows `shown`, the value as written. The first call builds
 * no error text, because nearly every value passes. */
static void check_text(format_fn format, const char *text, const char *shown, const char *field,
                       struct error_list *errors)
{
    if (format(text, NULL))
        return;

    struct error err = {0};

    format(text, &err);
    error_list_add(errors, ERR_INVALID, field, "Invalid value: \"%.256s\": %s", shown, err.message);
}

static void check_name(const struct kind *kind, const struct meta *meta, struct error_list *errors)
{
    format_fn format = name_format(kind);

    if (*meta->name)
        check_text(format, meta->name, meta->name, "metadata.name", errors);
    else if (!meta->generate_name)
        error_list_add(errors, ERR_INVALID, "metadata.name",
                       "Required value: name or generateName is required");
    if (!meta->generate_name)
        return;

    /* A generateName may end in a dash, because the server appends a suffix. */
    scoped_str prefix = mem_strdup(meta->generate_name);
    size_t len = strlen(prefix);

    if (len > 1 && prefix[len - 1] == '-')
        prefix[len - 1] = 'a';
    check_text(format, prefix, meta->generate_name, "metadata.generateName", errors);
}

static void check_namespace(const struct kind *kind, const struct meta *meta,
                            struct error_list *errors)
{
    if (!kind->namespaced) {
        if (*meta->namespace)
            error_list_add(errors, ERR_INVALID, "metadata.namespace",
                           "Forbidden: not allowed on this type");
    } else if (!*meta->namespace) {
        error_list_add(errors, ERR_INVALID, "metadata.namespace", "Required value");
    } else {
        check_text(name_is_dns_label, meta->namespace, meta->namespace, "metadata.namespace",
                   errors);
    }
}

static void check_labels(const struct meta *meta, const struct limits *limits,
                         struct error_list *errors)
{
    if (meta->n_labels > limits->label_count)
        error_list_add(errors, ERR_INVALID, "metadata.labels",
                       "Too many: %u: must have at most %lld items", meta->n_labels,
                       (long long)limits->label_count);
    for (uint32_t i = 0; i < meta->n_labels; i++) {
        const struct kv *label = &meta->labels[i];

        check_text(label_key_valid, label->key, label->key, "metadata.labels", errors);
        check_text(label_value_valid, label->value, label->value, "metadata.labels", errors);
    }
}

/* Annotation keys are checked in lower case. Nearly all are lower case already and need no copy. */
static bool annotation_key_valid(const char *key, struct error *err)
{
    if (label_key_valid(key, NULL))
        return true;

    scoped_str lower = mem_strdup(key);

    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return label_key_valid(lower, err);
}

static void check_annotations(const struct meta *meta, const struct limits *limits,
                              struct error_list *errors)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < meta->n_annotations; i++) {
        const struct kv *annotation = &meta->annotations[i];

        check_text(annotation_key_valid, annotation->key, annotation->key, "metadata.annotations",
                   errors);
        bytes += strlen(annotation->key) + strlen(annotation->value);
    }
    if (bytes > (uint64_t)limits->annotation_bytes)
        error_list_add(errors, ERR_INVALID, "metadata.annotations",
                       "Too long: must have at most %lld bytes",
                       (long long)limits->annotation_bytes);
}

static void check_owners(const struct meta *meta, struct error_list *errors)
{
    const struct owner_ref *controller = NULL;

    for (uint32_t i = 0; i < meta->n_owners; i++) {
        const struct owner_ref *owner = &meta->owners[i];
        const struct {
            const char *member, *text, *shown;
        } parts[] = {
            {"apiVersion", owner->api_version, "version"},
            {"kind", owner->kind, "kind"},
            {"name", owner->name, "name"},
            {"uid", owner->uid, "uid"},
        };

        for (size_t j = 0; j < countof(parts); j++)
            if (!*parts[j].text) /* the path has no index, as in kube-apiserver */
                FINDING(errors, ("metadata.ownerReferences.%s", parts[j].member),
                        "Invalid value: \"\": %s must not be empty", parts[j].shown);
        if (strcmp(owner->kind, "Event") == 0)
            FINDING(errors, ("metadata.ownerReferences[%u]", i),
                    "Invalid value: \"%.64s, Kind=Event\": is disallowed from being an owner",
                    owner->api_version);
        if (owner->controller && controller)
            error_list_add(
                errors, ERR_INVALID, "metadata.ownerReferences",
                "Invalid value: only one reference can have controller set to true; found "
                "it in the references to %.128s and %.128s",
                controller->name, owner->name);
        else if (owner->controller)
            controller = owner;
    }
}

/* Finalizers without a domain are reserved for Kubernetes; custom kinds may use others, too. */
static bool finalizer_is_qualified(const char *finalizer)
{
    static const char *const standard[] = {"orphan", "foregroundDeletion", "kubernetes"};

    for (size_t i = 0; i < countof(standard); i++)
        if (strcmp(finalizer, standard[i]) == 0)
            return true;
    return strchr(finalizer, '/') != NULL;
}

static void check_finalizers(const struct kind *kind, const struct meta *meta,
                             struct error_list *errors)
{
    bool custom = kind_is_custom(kind);

    for (uint32_t i = 0; i < meta->n_finalizers; i++) {
        const char *finalizer = meta->finalizers[i];

        check_text(label_key_valid, finalizer, finalizer, "metadata.finalizers", errors);
        if (!custom && label_key_valid(finalizer, NULL) && !finalizer_is_qualified(finalizer))
            FINDING(errors, ("metadata.finalizers[%u]", i),
                    "Invalid value: \"%s\": name is neither a standard finalizer name nor is it "
                    "fully qualified",
                    finalizer);
    }
}

void admission_check_meta(const struct kind *kind, const struct meta *meta,
                          const struct limits *limits, struct error_list *errors)
{
    check_name(kind, meta, errors);
    check_namespace(kind, meta, errors);
    check_labels(meta, limits, errors);
    check_annotations(meta, limits, errors);
    check_owners(meta, errors);
    check_finalizers(kind, meta, errors);
}
