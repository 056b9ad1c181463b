/*
 * Chooses what is audited, appends lines and rotates the file by size. A write failure is logged
 * once; requests are served on.
 */
#include "cli/daemon/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/server/auth/authz.h"
#include "base/encoding/jsonw.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

enum { BYTES_MAX = 64 << 20 };

struct audit {
    char *path;
    int fd;
    off_t size;
    bool failure_logged;
};

static bool reopen(struct audit *audit, struct error *err)
{
    struct stat info;

    audit->fd = open(audit->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (audit->fd < 0 || fstat(audit->fd, &info) < 0)
        return error_errno(err, errno, "cannot open %s", audit->path);
    audit->size = info.st_size;
    return true;
}

struct audit *audit_open(const char *data_dir, struct error *err)
{
    struct audit *audit = mem_alloc(sizeof *audit);

    audit->path = mem_printf("%s/audit.log", data_dir);
    if (reopen(audit, err))
        return audit;
    audit_close(audit);
    return NULL;
}

void audit_close(struct audit *audit)
{
    if (!audit)
        return;
    if (audit->fd >= 0)
        close(audit->fd);
    mem_free(audit->path);
    mem_free(audit);
}

/* Logs a write failure once, not again for each request that follows. */
static void log_write_failure(struct audit *audit, int number)
{
    if (!audit->failure_logged)
        log_error("the audit log cannot be written", kv_str("file", audit->path),
                  kv_str("error", strerror(number)));
    audit->failure_logged = true;
}

void audit_reopen(struct audit *audit)
{
    struct audit fresh = {.path = audit->path};
    struct error err = {0};
    bool ok = reopen(&fresh, &err);
    int old = ok ? audit->fd : fresh.fd;

    if (ok) {
        audit->fd = fresh.fd;
        audit->size = fresh.size;
    } else {
        log_error("the audit log cannot be opened", kv_str("error", err.message));
    }
    if (old >= 0)
        close(old);
}

static void rotate(struct audit *audit)
{
    scoped_str old = mem_printf("%s.1", audit->path);

    if (rename(audit->path, old) < 0)
        log_write_failure(audit, errno);
    else
        audit_reopen(audit);
}

/* Returns whether the request reads Secrets, or the backup of the whole store. The target is taken
 * apart as for authorization, so no way of writing it goes unseen. One that cannot be taken apart was
 * refused. */
static bool reads_secrets(const struct request_record *record)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct authz_attributes what;
    struct request_target target;

    if (!request_target_parse(record->target, arena, &target, NULL))
        return false;
    authz_attributes_of(&target, record->method, record->target, &what);
    return what.path ? strcmp(what.path, "backup") == 0 : strcmp(what.resource, "secrets") == 0;
}

/* Returns whether a page asked for something that begins or ends no sign-in. What it asks the API is
 * recorded there. The other paths below /ui/ can be written in several ways, so all of them count. */
static bool is_of_page(const char *target)
{
    static const char *const not_counted[] = {"/ui/api/", "/ui/v1/"};

    for (size_t i = 0; i < countof(not_counted); i++)
        if (strncmp(target, not_counted[i], strlen(not_counted[i])) == 0)
            return true;
    return false;
}

static bool is_audited(const struct request_record *record)
{
    if (is_of_page(record->target))
        return false;
    switch (record->method) {
    case API_POST:
    case API_PUT:
    case API_PATCH:
    case API_DELETE:
        /* A permission query, which changes nothing. */
        return strstr(record->target, "/selfsubject") == NULL;
    case API_GET:
        return reads_secrets(record);
    case API_HEAD:
    case API_OPTIONS:
    case API_OTHER:
        break;
    }
    return false;
}

/* Returns by which of our own clients a user asked; NULL: another one, or a command. */
static const char *via(const struct request_record *record)
{
    static const char page[] = "jobflow-ui/";

    return strncmp(record->user_agent, page, sizeof page - 1) == 0 ? "ui" : NULL;
}

static void write_line(const struct request_record *record, struct buf *out)
{
    struct jsonw w = jsonw_to(out);

    jsonw_open(&w);
    jsonw_member_time(&w, "time", record->began_ms);
    jsonw_member_str(&w, "id", record->id);
    jsonw_member_str(&w, "user", record->identity ? record->identity->user : "");
    jsonw_member_str(&w, "peer", record->peer);
    jsonw_member_str(&w, "method", record->method_name);
    jsonw_member_str(&w, "target", record->target);
    jsonw_member_str_opt(&w, "object", *record->object ? record->object : NULL);
    jsonw_member_int_opt(&w, "resourceVersion", record->revision);
    jsonw_member_int(&w, "status", record->status);
    jsonw_member_str_opt(&w, "userAgent", *record->user_agent ? record->user_agent : NULL);
    jsonw_member_str_opt(&w, "via", via(record));
    jsonw_close(&w);
    buf_char(out, '\n');
}

void audit_note(struct audit *audit, const struct request_record *record)
{
    scoped(buf) struct buf line = {0};

    if (audit->fd < 0 || !is_audited(record))
        return;
    write_line(record, &line);
    if (!file_write_all(audit->fd, line.data, line.len))
        log_write_failure(audit, errno);
    else
        audit->failure_logged = false;
    audit->size += (off_t)line.len;
    if (audit->size > BYTES_MAX)
        rotate(audit);
}
