/*
 * Reads the user database.
 */
#include "base/user_name.h"

#include <pwd.h>
#include <unistd.h>

#include "base/mem.h"

char *user_name(void)
{
    const struct passwd *entry = getpwuid(geteuid()); /* NOLINT(concurrency-mt-unsafe): see above */

    return entry ? mem_strdup(entry->pw_name) : mem_printf("uid %u", (unsigned)geteuid());
}
