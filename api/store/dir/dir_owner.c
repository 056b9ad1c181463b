/*
 * Checks owner and mode of a data directory and of the directory above it. The check comes before
 * any file in it is opened. Only the owners of the two can then exchange the directory.
 */
#include "api/store/dir/dir_owner.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static uid_t trusted_above; /* uid that may own the directory above, besides root; 0: root alone */

void dir_owner_trust_above(uid_t uid)
{
    trusted_above = uid;
}

/* Returns the directory that holds the entry `directory`; owned. */
static char *above(const char *directory)
{
    size_t len = strlen(directory);

    while (len > 1 && directory[len - 1] == '/')
        len--;
    while (len > 0 && directory[len - 1] != '/')
        len--;
    while (len > 1 && directory[len - 1] == '/')
        len--;
    return len ? mem_printf("%.*s", (int)len, directory) : mem_strdup(".");
}

static bool check_above(const char *directory, struct error *err)
{
    scoped_str parent = above(directory);
    struct stat info;

    if (stat(parent, &info) < 0)
        return true; /* the caller creates the directory with its own mode, or reports why it
                      * cannot */
    if ((info.st_mode & S_IWOTH) && !(info.st_mode & S_ISVTX))
        return error_set(err, ERR_FORBIDDEN, "",
                         "every user may replace the data directory %s, because %s is writable "
                         "for all (mode %04o): name another with --data-dir, or chmod o-w %s",
                         directory, parent, (unsigned)info.st_mode & 07777, parent);
    if (geteuid() == 0 && info.st_uid != 0 && info.st_uid != trusted_above)
        return error_set(err, ERR_FORBIDDEN, "",
                         "%s belongs to another user (uid %u), who may replace the data directory "
                         "%s: name another with --data-dir, or run as that user",
                         parent, (unsigned)info.st_uid, directory);
    return true;
}

/* Calls lstat(2) on the entry itself. A slash at the end would make it follow a link. */
static int look_at(const char *directory, struct stat *info)
{
    scoped_str path = mem_strdup(directory);

    for (size_t len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
        path[len - 1] = '\0';
    return lstat(path, info);
}

bool dir_owner_check(const char *directory, struct error *err)
{
    struct stat info;

    if (look_at(directory, &info) < 0)
        return errno == ENOENT ? check_above(directory, err)
                               : error_errno(err, errno, "cannot look at %s", directory);
    if (S_ISLNK(info.st_mode))
        return error_set(err, ERR_FORBIDDEN, "",
                         "the data directory %s is a symbolic link: name its target with "
                         "--data-dir",
                         directory);
    if (!S_ISDIR(info.st_mode))
        return error_set(err, ERR_INVALID, "", "%s is not a directory", directory);
    if (info.st_uid != geteuid())
        return error_set(err, ERR_FORBIDDEN, "",
                         "the data directory %s belongs to another user (uid %u), whose flows "
                         "would run with your rights: name another with --data-dir, or run as that "
                         "user",
                         directory, (unsigned)info.st_uid);
    if (info.st_mode & (S_IWGRP | S_IWOTH))
        return error_set(err, ERR_FORBIDDEN, "",
                         "other users may write to the data directory %s (mode %03o), and their "
                         "flows would run with your rights: name another with --data-dir, or "
                         "chmod go-w %s if nothing in it is theirs",
                         directory, (unsigned)info.st_mode & 0777, directory);
    return check_above(directory, err);
}
