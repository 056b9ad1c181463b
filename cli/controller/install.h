#pragma once
/*
 * Writes what a cluster needs for `jobflow controller`: plain documents, or the files of a Helm
 * chart. Nothing is asked of a cluster. Ref: spec/cluster.md 6.
 */
#include "base/buf.h"
#include "cli/controller/install_objects.h"
#include "cli/controller/mode.h"

struct install_options {
    const struct mode *mode;
    const char *gang; /* one of gang_names */
    const char
        *namespaces; /* names separated by commas, in which the controller acts; NULL: in all */
    const char *name, *namespace;
    const char *image, *pull_policy;
    const char *pull_secret; /* NULL: none */
    int64_t replicas;
    int minor;               /* minor version of the cluster's Kubernetes */
    const char *const *args; /* further flags of the controller, [n_args] */
    size_t n_args;
    bool own_job_crd; /* this installation also defines Jobs and Commands */
    bool monitoring;  /* annotations and a Service by which Prometheus finds the metrics */
};

/* What the places in the texts are filled with. */
enum install_form {
    INSTALL_PLAIN, /* with the options */
    INSTALL_CHART, /* with references to the values of a Helm chart */
};

/** Appends the documents of a part as YAML, separated by "---"; nothing when this installation does
 * not have the part. The definitions (crds) are the same in both forms. */
void install_write_part(const struct install_options *options, const struct install_part *part,
                        enum install_form form, struct buf *out);
/** Appends the file values.yaml of the chart, from the options. */
void install_write_values(const struct install_options *options, struct buf *out);
/** Appends the file Chart.yaml. */
void install_write_chart(const struct install_options *options, struct buf *out);
