#pragma once
/*
 * The form of a submission file: documents with queue, jobSetId and jobs, one request each.
 */
#include <jansson.h>

#include "api/types/text/yaml.h"
#include "cli/command/command.h"

/* What the command line says, over what the file says. */
struct submit_flags {
    const char *queue, *job_set, *namespace;
    /* of one program */
    const char *cpu, *memory, *dedup, *role;
    int64_t priority, lifetime_ms;
    bool at_most_once;
};

/* The requests of a command line. */
struct submit_form {
    json_t *requests;          /* list; owned */
    struct yaml_stream *lines; /* the file, for the lines of findings; NULL: no file */
    const char *name;          /* name of the file, or "program" */
};

/** Reads the file ("-" is standard input). False with the error printed. */
bool submit_form_read(struct submit_form *form, const char *file, const struct submit_flags *flags);
/** Makes the request of one program. */
void submit_form_of_program(struct submit_form *form, int n_words, char **words,
                            const struct submit_flags *flags);
void submit_form_release(struct submit_form *form);
/** Prints the problems of an answer to request `i`, with their lines in the file. */
void submit_form_print(const struct submit_form *form, size_t i, const json_t *answer);
