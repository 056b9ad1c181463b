#include "tests/support/sim_job.h"

#include "tests/support/job_gen.h"

json_t *sim_job_document(struct dice *dice, const char *name)
{
    scoped(buf) struct buf text = {0};
    struct gen_job job;
    json_t *doc;

    gen_job_roll(&job, dice);
    gen_job_manifest(&job, &text);
    doc = json_loads(text.data, 0, NULL);
    json_object_set_new(json_object_get(doc, "metadata"), "name", json_string(name));
    return doc;
}
