/*
 * The list of common metadata strings, and a hash table over it that is built on first use.
 *
 * Stores contain the numbers, so a word never changes its place; new words are added at the end.
 */
#include "api/types/meta_words.h"

#include <pthread.h>
#include <string.h>

#include "base/compiler.h"

/* clang-format off */
static const char *const words[] = {
    "default",
    "Job", "batch.volcano.sh/v1alpha1",
    "JobFlow", "flow.volcano.sh/v1alpha1",
    "volcano.sh/job-name", "volcano.sh/job-namespace", "volcano.sh/task-spec", "volcano.sh/task-index",
    "volcano.sh/queue-name", "volcano.sh/job-version", "volcano.sh/job-retry-count",
    "scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name",
    "volcano.sh/template-uid", "volcano.sh/pod-template-key",
    "volcano.sh/createdByJobTemplate", "volcano.sh/createdByJobFlow", "volcano.sh/jobFlowNode",
    "volcano.sh/jobTemplateResourceVersion", "volcano.sh/jobFlowAttempt", "volcano.sh/jobFlowIteration",
    "volcano.sh/jobFlowGang", "volcano.sh/partition-id", "volcano.sh/task-partition-id",
    "volcano.sh/preemptable", "volcano.sh/jobFlowRetry", "volcano.sh/jobFlowAbort",
    "foregroundDeletion", "orphan", "true", "false",
    "kubectl.kubernetes.io/last-applied-configuration",
};
/* clang-format on */

enum { SLOTS = 128, MASK = SLOTS - 1 };

static struct slot {
    uint8_t number, len; /* number 0: free entry */
} slots[SLOTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t place_of(const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text;

    if (!len)
        return 0;
    return ((uint32_t)len * 5U + at[len / 2] * 3U + at[len - 1] * 7U + at[len * 3 / 4]) & MASK;
}

static void fill(void)
{
    for (size_t i = 0; i < countof(words); i++) {
        size_t len = strlen(words[i]);
        uint32_t at = place_of(words[i], len);

        while (slots[at].number)
            at = (at + 1) & MASK;
        slots[at] = (struct slot){(uint8_t)(i + 1), (uint8_t)len};
    }
}

uint32_t meta_word_number(const char *text, size_t len)
{
    pthread_once(&once, fill);
    for (uint32_t at = place_of(text, len); slots[at].number; at = (at + 1) & MASK)
        if (slots[at].len == len && memcmp(words[slots[at].number - 1], text, len) == 0)
            return slots[at].number;
    return 0;
}

const char *meta_word(uint64_t number)
{
    return number > 0 && number <= countof(words) ? words[number - 1] : NULL;
}
