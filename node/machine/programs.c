/*
 * Looks programs up in a list of directories. Asks compilers and interpreters for a header or a
 * module by running them. Only programs of the table below are run, with arguments of ours, because
 * the need may come from a manifest that is only checked.
 */
#include "node/machine/programs.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "node/machine/quick_run.h"

enum { ANSWER_MS = 10000, ARGS_MAX = 8 };

const char *programs_path(void)
{
    for (char **entry = environ; entry && *entry; entry++)
        if (strncmp(*entry, "PATH=", 5) == 0 && (*entry)[5])
            return *entry + 5;
    return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
}

static bool is_program(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* Returns the path of a program as an owned string, or NULL when no directory of the list has
 * it. */
static char *look_up(const char *directories, const char *program)
{
    if (strchr(program, '/'))
        return is_program(program) ? mem_strdup(program) : NULL;
    for (const char *at = directories; *at;) {
        size_t len = strcspn(at, ":");
        scoped_str path = mem_printf("%.*s/%s", (int)len, at, program);

        if (len && is_program(path))
            return take(path);
        at += len + (at[len] == ':');
    }
    return NULL;
}

/* Families of programs that can be asked for a part, such as a header or a module. A family is
 * recognised by `word`, with which the program's name starts or ends. `PART` among the arguments
 * stands for the part. The program reads `input` with the part behind it. */
#define PART "PART"
static const struct family {
    const char *word;
    bool at_end;
    const char *part; /* what a part of such a program is, for messages: "header" */
    const char *args[ARGS_MAX];
    const char *input, *input_end;
} families[] = {
    {"python",
     false,
     "module",
     {"-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)",
      PART},
     "",
     ""},
    {"cc", true, "header", {"-x", "c", "-E", "-"}, "#include <", ">\n"},
    {"clang", true, "header", {"-x", "c", "-E", "-"}, "#include <", ">\n"},
    {"++", true, "header", {"-x", "c++", "-E", "-"}, "#include <", ">\n"},
};

static const struct family *family_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t len = strlen(name);

    for (size_t i = 0; i < countof(families); i++) {
        size_t n = strlen(families[i].word);

        if (len >= n &&
            memcmp(families[i].at_end ? name + len - n : name, families[i].word, n) == 0)
            return &families[i];
    }
    return NULL;
}

static bool has_part(const struct family *family, char *path, char *part)
{
    scoped_str input =
        mem_printf("%s%s%s", family->input, *family->input ? part : "", family->input_end);
    int input_fd = quick_run_input(input);
    char *argv[ARGS_MAX + 2] = {path};
    const struct quick_run run = {path, argv, environ, input_fd, ANSWER_MS};
    bool found;

    for (size_t i = 0; i < ARGS_MAX && family->args[i]; i++)
        argv[i + 1] = strcmp(family->args[i], PART) == 0
                          ? part
                          : (char *)(uintptr_t)family->args[i]; /* posix_spawn takes no const */
    found = input_fd >= 0 && quick_run(&run);
    if (input_fd >= 0)
        close(input_fd);
    return found;
}

static bool is_name(const char *part)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+/-";

    return *part && *part != '-' && part[strspn(part, allowed)] == '\0';
}

bool programs_have(const char *path, const char *need, struct error *err)
{
    const char *colon = strchr(need, ':');
    scoped_str program = mem_printf("%.*s", (int)(colon ? colon - need : (long)strlen(need)), need);
    scoped_str part = mem_strdup(colon ? colon + 1 : "");
    scoped_str found = look_up(path, program);
    const struct family *family = family_of(program);

    if (colon && (!family || !is_name(part)))
        return error_set(err, ERR_INVALID, "",
                         "\"%s\": PROGRAM:PART is a compiler and a header, as mpicc:mpi.h, or "
                         "python and a module, as python3:torch",
                         need);
    if (!found)
        return error_set(err, ERR_UNAVAILABLE, "", "%s is not installed", program);
    if (colon && !has_part(family, found, part))
        return error_set(err, ERR_UNAVAILABLE, "", "%s is installed, but finds no %s %s", program,
                         family->part, part);
    return true;
}
