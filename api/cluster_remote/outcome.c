/*
 * Answers are judged by their HTTP status first, then by the reason and the text of the Status.
 */
#include "api/cluster_remote/outcome.h"

#include <string.h>

#include "api/client/answer.h"
#include "api/cluster_remote/merge_difference.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/pod.h"

static bool says(const struct error *err, const char *text)
{
    return strstr(err->message, text) != NULL;
}

/* etcd and the server refuse what is too large in several ways. */
static bool is_too_large(int status, const struct error *err)
{
    return status == 413 || says(err, "etcdserver: request is too large") ||
           says(err, "trying to send message larger than max");
}

static enum outcome of_client_error(enum write_verb verb, int status, struct error *err)
{
    switch (status) {
    case 404:
        err->code = ERR_NOT_FOUND;
        return OUTCOME_NOT_FOUND;
    case 409:
        if (err->code == ERR_EXISTS)
            return OUTCOME_EXISTS;
        err->code = ERR_CONFLICT;
        /* A create has no version that could have changed. The server answers 409 to it while a
         * quota is being counted or an owner removed. */
        return verb == WRITE_CREATE ? OUTCOME_TRANSIENT : OUTCOME_CONFLICT;
    case 401:
    case 408:
    case 429:
        err->code = ERR_UNAVAILABLE;
        return OUTCOME_TRANSIENT;
    default:
        return OUTCOME_REFUSED;
    }
}

enum outcome outcome_of(enum write_verb verb, const struct outcome_answer *answer,
                        const struct error *why_none, struct error *err)
{
    if (why_none) {
        *err = *why_none;
        err->code = ERR_UNAVAILABLE;
        return answer->sent ? OUTCOME_UNKNOWN : OUTCOME_TRANSIENT;
    }
    if (answer_ok(answer->status, answer->text, err))
        return OUTCOME_DONE;
    if (is_too_large(answer->status, err)) {
        err->code = ERR_TOO_LARGE;
        return OUTCOME_REFUSED;
    }
    if (answer->status < 500)
        return of_client_error(verb, answer->status, err);
    err->code = ERR_UNAVAILABLE;
    /* A gateway gave up, or the server itself gave up waiting for etcd. The write may still happen.
     */
    return answer->status == 504 || says(err, "timed out") ? OUTCOME_UNKNOWN : OUTCOME_TRANSIENT;
}

/* Returns the annotation that distinguishes the incarnations of one name, or NULL for a kind that
 * has no such annotation. */
static const char *incarnation_key(const struct kind *kind)
{
    return kind == &kind_job   ? ANNOTATION_FLOW_ATTEMPT
           : kind == &kind_pod ? ANNOTATION_JOB_VERSION
                               : NULL;
}

/* A Job without the mark is the first attempt, a pod without it has version 0. */
static unsigned long incarnation_of(const struct object *object)
{
    const char *key = incarnation_key(object->kind);
    const char *text = key ? meta_annotation(object->meta, key) : NULL;

    return text ? strtoul(text, NULL, 10) : object->kind == &kind_job;
}

enum resolution outcome_adopt(const struct object *draft, const struct object *found)
{
    const struct owner_ref *ours = meta_controller(draft->meta);
    const struct owner_ref *theirs = meta_controller(found->meta);

    if (!ours || !theirs || strcmp(ours->uid, theirs->uid) != 0)
        return RESOLVED_EXISTS;
    if (incarnation_of(found) < incarnation_of(draft))
        return RESOLVED_OLDER;
    return incarnation_of(found) == incarnation_of(draft) && !object_deleting(found)
               ? RESOLVED_DONE
               : RESOLVED_EXISTS;
}

static bool has_status(const struct object *found, const struct blob *status)
{
    scoped(json) json_t *wanted = json_read(status->text, status->len);
    scoped(json) json_t *there = object_status_json(found);

    return json_equal(wanted, there);
}

static bool has_happened(const struct write *write, const struct object *found)
{
    scoped(json) json_t *doc = NULL;

    if (write->verb == WRITE_STATUS)
        return has_status(found, write->status);
    doc = object_to_json(found);
    return merge_difference_applied(write->patch, doc);
}

enum resolution outcome_resolve(const struct write *write, const struct object *found)
{
    bool is_same = found && (!write->uid || strcmp(object_uid(found), write->uid) == 0);

    switch (write->verb) {
    case WRITE_CREATE:
        return found ? outcome_adopt(write->object, found) : RESOLVED_AGAIN;
    case WRITE_REMOVE:
        return !is_same || object_deleting(found) ? RESOLVED_DONE : RESOLVED_AGAIN;
    case WRITE_UPDATE:
    case WRITE_STATUS:
        break;
    }
    if (!is_same)
        return RESOLVED_CONFLICT;
    if (has_happened(write, found))
        return RESOLVED_DONE;
    return !write->revision || found->revision == write->revision ? RESOLVED_AGAIN
                                                                  : RESOLVED_CONFLICT;
}
