#include "tests/support/vfs.h"

#include <assert.h>

sqlite3_vfs *vfs_install(sqlite3_vfs *ours, const char *name, size_t file_size)
{
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);

    assert(system);
    *ours = *system;
    ours->pNext = NULL;
    ours->zName = name;
    ours->szOsFile = (int)file_size;
    sqlite3_vfs_register(ours, 1);
    return system;
}
