/*
 * Compares the files with what is stored, and makes the request.
 */
#include "cli/run/run_again.h"

#include "base/clock.h"
#include "base/mem.h"

/* Appends the names of the flow's steps that were edited since it ran, separated by commas. Returns
 * the flow as it will be, borrowed. */
static const struct object *edited_steps(const struct resume_request *request,
                                         const struct object *stored, struct buf *out)
{
    const struct object *now = NULL;

    buf_str(out, "");
    if (request->edits && stored->kind == &kind_job_flow)
        now = edits_of(request->edits, object_namespace(stored), object_name(stored), out);
    return now ? now : stored;
}

bool run_again_is_edited(const struct resume_request *request, const struct object *stored)
{
    scoped(buf) struct buf names = {0};

    edited_steps(request, stored, &names);
    return names.len > 0;
}

bool run_again_may_begin(const char *name, const struct object *stored, struct error *err)
{
    if (!stored)
        return error_set(
            err, ERR_NOT_FOUND, "",
            "jobflow \"%s\" has never run here: run it without --from and --only first",
            name ? name : "");
    if (jobflow_wants_retry(stored))
        return error_set(err, ERR_CONFLICT, "",
                         "jobflow \"%s\" was asked to run again and has not begun: run it without "
                         "--from and --only first",
                         object_name(stored));
    return flow_phase_finished(jobflow_phase_of(stored)) ||
           error_set(err, ERR_CONFLICT, "",
                     "jobflow \"%s\" is %s: only a flow that has ended can be run again",
                     object_name(stored),
                     jobflow_phase_of(stored) == FLOW_NONE
                         ? "not begun"
                         : flow_phase_text(jobflow_phase_of(stored)));
}

/* Returns what the flags ask to run again. `edited` is the list of the names of edited steps. */
static struct flow_rerun rerun_of(const struct resume_request *request, bool selective,
                                  const char *edited)
{
    struct flow_rerun rerun = {.edited = edited};

    if (!selective)
        return rerun;
    rerun.from = request->rerun.from;
    rerun.only = request->rerun.only;
    if (!flow_rerun_is_selective(&rerun))
        rerun.from = edited;
    return rerun;
}

bool run_again_foresee(const struct resume_request *request, const struct object *stored,
                       bool selective, struct foresight *out, struct error *err)
{
    scoped(buf) struct buf edited = {0};
    const struct object *now = edited_steps(request, stored, &edited);
    const struct flow_rerun rerun = rerun_of(request, selective, edited.data);

    return foresee(stored, now, &rerun, out, err);
}

void run_again_tell(const struct resume_request *request, const struct object *stored,
                    bool selective, const struct foresight *foresight)
{
    scoped(buf) struct buf edited = {0}, text = {0};
    const struct object *now = edited_steps(request, stored, &edited);

    if (edited.len) {
        buf_printf(&text,
                   "edited since the last run: %s; what is edited runs again, with all that "
                   "depends on it",
                   edited.data);
        request->note(request->ctx, text.data);
        buf_clear(&text);
    }
    if (selective) {
        buf_printf(&text, "running %s again: ", object_name(stored));
        foresight_write(foresight, &text);
        request->note(request->ctx, text.data);
        buf_clear(&text);
    }
    foresight_write_failures(foresight, now, &text);
    if (text.len)
        request->note(request->ctx, text.data);
}

/* Sets an annotation, or removes it from the stored flow. */
static void set_text(const struct object *stored, json_t *annotations, const char *key,
                     const char *text)
{
    if (text)
        json_object_set_new(annotations, key, json_string(text));
    else if (meta_annotation(stored->meta, key))
        json_object_set_new(annotations, key, json_null());
}

void run_again_annotate(const struct resume_request *request, const struct object *stored,
                        bool selective, json_t *annotations)
{
    scoped(buf) struct buf edited = {0};
    const struct flow_rerun rerun =
        (edited_steps(request, stored, &edited), rerun_of(request, selective, edited.data));
    char value[CLOCK_UUID_LEN + 1];
    scoped_str of_value = NULL;

    clock_uuid(clock_real(), value); /* ids of a virtual clock repeat in each run */
    of_value = mem_printf("%s=%s", value, edited.data);
    set_text(stored, annotations, ANNOTATION_FLOW_RETRY, value);
    set_text(stored, annotations, ANNOTATION_FLOW_RETRY_FROM, rerun.from);
    set_text(stored, annotations, ANNOTATION_FLOW_RETRY_ONLY, rerun.only);
    set_text(stored, annotations, ANNOTATION_FLOW_RETRY_EDITED, of_value);
    set_text(stored, annotations, ANNOTATION_FLOW_ABORT, NULL);
}
