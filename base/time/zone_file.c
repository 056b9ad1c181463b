/*
 * Opens zone files beneath the zone directory, with openat2, so that no link in a name leads out of
 * it. The cache reads a file again when its inode, size or modification time differs.
 */
#include "base/time/zone_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/collections/hash.h"
#include "base/file.h"
#include "base/mem.h"

#define ZONE_DIR  "/usr/share/zoneinfo"
#define LOCALTIME "/etc/localtime"

enum { PART_MAX = 14, DEPTH_MAX = 3, NAME_MAX_BYTES = 128 };

static struct {
    const char *tz, *dir;
} environment;

void zone_environment(const char *tz, const char *tzdir)
{
    environment.tz = tz;
    environment.dir = tzdir;
}

static const char *zone_dir(void)
{
    return environment.dir && *environment.dir ? environment.dir : ZONE_DIR;
}

/* Returns whether a name has the form of a zone name: parts of at most 14 letters, digits and signs
 * (.-_+), separated by single slashes. "local" names no zone. */
static bool is_zone_name(const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789.-_+";

    if (strlen(name) > NAME_MAX_BYTES || strcasecmp(name, "local") == 0)
        return false;
    for (const char *part = name;; part++) {
        size_t len = strspn(part, allowed);

        if (!len || len > PART_MAX || *part == '-' || (len == 1 && *part == '.') ||
            (len == 2 && memcmp(part, "..", 2) == 0))
            return false;
        part += len;
        if (*part != '/')
            return !*part;
    }
}

/* Opens a file beneath the zone directory. Returns a descriptor, or -1 with errno set. */
static int open_beneath(const char *name)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int dir = open(zone_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

    if (dir < 0)
        return -1;
    fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof how);
    close(dir);
    return fd;
}

static struct zone *read_zone(int fd, const char *name, struct error *err)
{
    scoped(buf) struct buf bytes = {0};
    struct zone *zone;

    if (!file_read_fd(fd, name, ZONE_FILE_MAX, &bytes, err))
        return NULL;
    zone = zone_parse(bytes.data ? bytes.data : "", bytes.len, err);
    if (!zone)
        error_prefix(err, "%s: ", name);
    return zone;
}

static int open_name(const char *name, struct error *err)
{
    int fd = is_zone_name(name) ? open_beneath(name) : -1;
    scoped(buf) struct buf shown = {0};

    if (fd >= 0)
        return fd;
    buf_str_short(&shown, name, NAME_MAX_BYTES);
    error_set(err, is_zone_name(name) ? ERR_NOT_FOUND : ERR_INVALID, "", "unknown time zone \"%s\"",
              shown.data ? shown.data : "");
    return -1;
}

struct zone *zone_open(const char *name, struct error *err)
{
    int fd = open_name(name, err);
    struct zone *zone;

    if (fd < 0)
        return NULL;
    zone = read_zone(fd, name, err);
    close(fd);
    return zone;
}

static struct zone *open_path(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct zone *zone = fd < 0 ? NULL : read_zone(fd, path, NULL);

    if (fd >= 0)
        close(fd);
    return zone;
}

/* Returns the value of TZ behind its optional colon; NULL when it is not set. */
static const char *tz_variable(void)
{
    const char *tz = environment.tz;

    return tz && *tz == ':' ? tz + 1 : tz;
}

struct zone *zone_open_local(void)
{
    const char *tz = tz_variable();
    struct zone *zone;

    if (!tz)
        return open_path(LOCALTIME);
    if (*tz == '/')
        return open_path(tz);
    zone = *tz ? zone_open(tz, NULL) : NULL;
    return zone || !*tz ? zone : zone_of_rule(tz, NULL);
}

void zone_local_name(struct buf *out)
{
    const char *tz = tz_variable(), *below;
    char target[256];
    ssize_t len;

    if (tz) {
        buf_str_short(out, *tz ? tz : "UTC", NAME_MAX_BYTES);
        return;
    }
    len = readlink(LOCALTIME, target, sizeof target - 1);
    target[len < 0 ? 0 : len] = '\0';
    below = strstr(target, "zoneinfo/");
    if (below)
        buf_str_short(out, below + strlen("zoneinfo/"), NAME_MAX_BYTES);
    else
        buf_str(out, access(LOCALTIME, R_OK) == 0 ? LOCALTIME : "UTC");
}

/* Returns whether a name in the zone directory is no zone of its own: a folder with the same zones
 * in another form, or the link to the zone of the machine. */
static bool is_other(const char *name)
{
    return strcmp(name, "posix") == 0 || strcmp(name, "right") == 0 ||
           strcmp(name, "localtime") == 0;
}

static void names_below(const char *prefix, int depth, void (*visit)(void *arg, const char *name),
                        void *arg)
{
    scoped_str path = mem_printf("%s/%s", zone_dir(), prefix);
    DIR *dir = opendir(path);

    if (!dir)
        return;
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        scoped_str name = mem_printf("%s%s%s", prefix, *prefix ? "/" : "", entry->d_name);

        if (!is_zone_name(name) || is_other(name) || strchr(entry->d_name, '.'))
            continue;
        if (entry->d_type == DT_DIR && depth < DEPTH_MAX)
            names_below(name, depth + 1, visit, arg);
        else if (entry->d_type != DT_DIR)
            visit(arg, name);
    }
    closedir(dir);
}

void zone_names_each(void (*visit)(void *arg, const char *name), void *arg)
{
    names_below("", 1, visit, arg);
}

/* The cache. */

struct cached {
    struct zone *zone;
    struct stat file; /* state of the file when it was read; zeroes when there was none */
    UT_hash_handle hh;
    char name[]; /* name of the zone; "" is the zone of this process */
};

struct zone_cache {
    struct cached *zones;
};

struct zone_cache *zone_cache_new(void)
{
    return mem_alloc(sizeof(struct zone_cache));
}

static void drop(struct zone_cache *cache, struct cached *one)
{
    HASH_DEL(cache->zones, one);
    zone_free(one->zone);
    mem_free(one);
}

void zone_cache_free(struct zone_cache *cache)
{
    struct cached *one, *next;

    if (!cache)
        return;
    HASH_ITER(hh, cache->zones, one, next)
    drop(cache, one);
    mem_free(cache);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Reads the state of the file with the machine's zone. It is all zeroes when TZ sets the zone,
 * which then never changes, and when there is no such file. */
static bool look_local(struct stat *out)
{
    if (tz_variable() || stat(LOCALTIME, out) != 0)
        memset(out, 0, sizeof *out);
    return true;
}

static bool look(const char *name, struct stat *out, struct error *err)
{
    int fd;
    bool ok;

    if (!*name)
        return look_local(out);
    fd = open_name(name, err);
    if (fd < 0)
        return false;
    ok = fstat(fd, out) == 0 || error_errno(err, errno, "time zone %s", name);
    close(fd);
    return ok;
}

static bool read_again(struct cached *one, struct error *err)
{
    struct zone *zone = *one->name ? zone_open(one->name, err) : zone_open_local();

    if (!zone && *one->name)
        return false;
    zone_free(one->zone);
    one->zone = zone;
    return true;
}

bool zone_cache_get(struct zone_cache *cache, const char *name, const struct zone **out,
                    struct error *err)
{
    size_t len = name ? strlen(name) : 0;
    struct cached *one;

    *out = NULL;
    HASH_FIND(hh, cache->zones, name ? name : "", len, one);
    if (!one) {
        one = mem_alloc(sizeof *one + len + 1);
        memcpy(one->name, name ? name : "", len);
        HASH_ADD_KEYPTR(hh, cache->zones, one->name, len, one);
        if (!look(one->name, &one->file, err) || !read_again(one, err)) {
            drop(cache, one);
            return false;
        }
    }
    *out = one->zone;
    return true;
}

bool zone_cache_refresh(struct zone_cache *cache)
{
    struct cached *one, *next;
    bool changed = false;

    HASH_ITER(hh, cache->zones, one, next)
    {
        struct stat now;

        if (look(one->name, &now, NULL) && same_file(&one->file, &now))
            continue;
        changed = true;
        if (look(one->name, &now, NULL) && read_again(one, NULL))
            one->file = now;
        else
            drop(cache, one);
    }
    return changed;
}
