/*
 * Functions that tests of jobs use to inspect objects, events and the order of names.
 */
#include "tests/unit.h"

#include "tests/support/job_fixture.h"
#include "tests/support/look.h"

const struct object *job_fixture_get(struct job_fixture *fixture, const struct kind *kind,
                                     const char *name)
{
    return cluster_get(fixture->backend, kind, kind->namespaced ? "default" : "", name);
}

const struct job_status *job_fixture_job(struct job_fixture *fixture, const char *name)
{
    const struct object *job = job_fixture_get(fixture, &kind_job, name);

    if (!job)
        check_fail("job %s is gone", name);
    return job_status_of(job);
}

const char *job_fixture_phase(struct job_fixture *fixture, const char *name)
{
    const struct object *job = job_fixture_get(fixture, &kind_job, name);

    return job ? job_phase_text(job_status_of(job)->phase) : "";
}

static void count_one(void *arg, const struct object *object)
{
    ++*(size_t *)arg;
}

size_t job_fixture_count(struct job_fixture *fixture, const struct kind *kind)
{
    size_t count = 0;

    cluster_each(fixture->backend, kind, NULL, count_one, &count);
    return count;
}

int job_fixture_count_events(struct job_fixture *fixture, const char *reason)
{
    return look_for_events(fixture->store, reason).count;
}

bool job_fixture_has_event(struct job_fixture *fixture, const char *reason)
{
    return job_fixture_count_events(fixture, reason) > 0;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the words in alphabetical order, owned by the caller. */
static char *sorted_words(const char *text)
{
    scoped_str copy = mem_strdup(text);
    scoped(buf) struct buf out = {0};
    char *words[64], *rest = NULL;
    size_t n = 0;

    for (char *word = strtok_r(copy, " ", &rest); word && n < countof(words);
         word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    qsort(words, n, sizeof *words, compare_words);
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s%s", i ? " " : "", words[i]);
    return mem_strdup(out.data ? out.data : "");
}

void job_fixture_check_order(const char *name, const char *got, const char *want)
{
    scoped_str got_sorted = sorted_words(got);
    scoped_str want_sorted = sorted_words(want);

    check_str(name, job_fixture_has_fault() ? got_sorted : got,
              job_fixture_has_fault() ? want_sorted : want);
}
