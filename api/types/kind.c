/*
 * Finds kinds by API name, by URL and by the words users type. The table is short, so every look-up
 * is a linear search.
 */
#include "api/types/kind.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/types/text/suggest.h"
#include "base/compiler.h"

#define KIND_ROW(name, constant) [KIND_##name] = &(constant),
/* The kinds that are served and stored, and behind a gap those of other clusters. */
static const struct kind *const kinds[KIND_ALL_N] = {KINDS(KIND_ROW) CLUSTER_KINDS(KIND_ROW)};
#undef KIND_ROW

enum { API_VERSION_MAX = 128 };
static char api_versions[KIND_ALL_N][API_VERSION_MAX];
static pthread_once_t api_versions_once = PTHREAD_ONCE_INIT;

static void join_api_versions(void)
{
    for (size_t i = 0; i < KIND_ALL_N; i++)
        if (kinds[i])
            snprintf(api_versions[i], API_VERSION_MAX, "%s%s%s", kinds[i]->group,
                     *kinds[i]->group ? "/" : "", kinds[i]->version);
}

const struct kind *kind_by_id(enum kind_id id)
{
    return (unsigned)id < KIND_N ? kinds[id] : NULL;
}

const struct kind *kind_of_cluster_by_id(enum kind_id id)
{
    return (unsigned)id < KIND_ALL_N ? kinds[id] : NULL;
}

bool kind_is_custom(const struct kind *kind)
{
    return strstr(kind->group, "volcano.sh") != NULL;
}

const char *kind_api_version(const struct kind *kind)
{
    pthread_once(&api_versions_once, join_api_versions);
    return api_versions[kind->id];
}

const struct kind *kind_by_gvk(const char *api_version, const char *kind)
{
    for (size_t i = 0; i < KIND_N; i++)
        if (strcmp(kinds[i]->name, kind) == 0 &&
            strcmp(kind_api_version(kinds[i]), api_version) == 0)
            return kinds[i];
    return NULL;
}

const struct kind *kind_by_resource(const char *group, const char *version, const char *plural)
{
    for (size_t i = 0; i < KIND_N; i++)
        if (strcmp(kinds[i]->plural, plural) == 0 && strcmp(kinds[i]->group, group) == 0 &&
            strcmp(kinds[i]->version, version) == 0)
            return kinds[i];
    return NULL;
}

static bool same_word(const char *known, const char *word, size_t len)
{
    return strlen(known) == len && strncasecmp(known, word, len) == 0;
}

static bool goes_by(const struct kind *kind, const char *word, size_t len)
{
    if (same_word(kind->plural, word, len) || same_word(kind->singular, word, len) ||
        same_word(kind->name, word, len))
        return true;
    for (const char *const *name = kind->short_names; name && *name; name++)
        if (same_word(*name, word, len))
            return true;
    return false;
}

/* Returns whether the part after the first dot names the kind's "group", "version" or
 * "version.group". */
static bool qualifies(const struct kind *kind, const char *qualifier)
{
    size_t version_len = strlen(kind->version);

    if (strcasecmp(qualifier, kind->group) == 0)
        return true;
    if (strncasecmp(qualifier, kind->version, version_len) != 0)
        return false;
    return !qualifier[version_len] || (qualifier[version_len] == '.' &&
                                       strcasecmp(qualifier + version_len + 1, kind->group) == 0);
}

const struct kind *kind_by_word(const char *word)
{
    size_t len = strcspn(word, ".");
    const char *qualifier = word[len] ? word + len + 1 : NULL;

    for (size_t i = 0; len && i < KIND_N; i++)
        if (goes_by(kinds[i], word, len) && (!qualifier || qualifies(kinds[i], qualifier)))
            return kinds[i];
    return NULL;
}

const struct kind *kind_nearest(const char *word)
{
    struct suggest best = {0};
    const struct kind *found = NULL;

    for (size_t i = 0; i < KIND_N; i++) {
        const char *const names[] = {kinds[i]->name, kinds[i]->plural, kinds[i]->singular,
                                     kind_api_version(kinds[i])};

        for (size_t j = 0; j < countof(names); j++) {
            size_t before = best.word ? best.distance : SIZE_MAX;

            suggest_offer(&best, word, names[j]);
            if (best.word && best.distance < before)
                found = kinds[i];
        }
    }
    return found;
}
