/*
 * FZ-02, FZ-04: manifests, through the commands that read them. The first line of the input is a
 * comment that names the command line, like "# graph -o dot"; the whole input is the file. A
 * command ends with one of its exit codes: it neither crashes nor hangs, however odd the flow is.
 */
/* covers: reliability.md FZ-02 FZ-04 FZ-16 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/cmd/commands.h"
#include "tests/support/scratch_dir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const struct command *const commands[] = {
    &cmd_run, &cmd_graph, &cmd_explain, &cmd_validate, &cmd_convert, &cmd_plan, &cmd_test, NULL,
};

/* The command lines; FILE is added. The first is that of an input without a comment. */
static const char *const lines[] = {
    "validate",
    "validate --target volcano",
    "graph",
    "graph -o dot",
    "graph -o json",
    "plan",
    "plan -o json",
    "explain",
    "convert",
    "convert --upstream",
    "run --runtime sim --timeout 1000h",
    "run --runtime sim --timeout 1000h --jobflow-compat upstream -o json",
    "test",
};

enum { WORDS_MAX = 12 };

static const char *line_of(const char *text)
{
    size_t best = 0, best_len = 0;

    if (strncmp(text, "# ", 2) == 0)
        for (size_t i = 0; i < countof(lines); i++) {
            size_t len = strlen(lines[i]);

            if (len > best_len && strncmp(text + 2, lines[i], len) == 0 && text[2 + len] == '\n') {
                best = i;
                best_len = len;
            }
        }
    return lines[best];
}

static int run_line(const char *line)
{
    char file[] = "m.yaml", *words[WORDS_MAX + 1], *save = NULL;
    scoped_str text = mem_strdup(line);
    int n = 0;

    for (char *word = strtok_r(text, " ", &save); word && n < WORDS_MAX - 1;
         word = strtok_r(NULL, " ", &save))
        words[n++] = word;
    words[n++] = file;
    words[n] = NULL;
    return command_run(command_find(words[0]), n, words);
}

/* Silences what commands print. libFuzzer has its own stream. */
static void be_silent(void)
{
    static bool done;

    if (!done)
        assert(freopen("/dev/null", "w", stdout) && (stderr = fopen("/dev/null", "w")));
    done = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped_str text = mem_printf("%.*s", (int)size, (const char *)data);
    int fd, code, home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    be_silent();
    assert(home >= 0 && fchdir(scratch_dir_fd()) == 0);
    fd = open("m.yaml", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert(fd >= 0 && file_write_all(fd, data, size));
    close(fd);
    code = run_line(line_of(text));
    assert(code == EXIT_OK || code == EXIT_FAILED || code == EXIT_REFUSED ||
           code == EXIT_TIMED_OUT);
    file_remove_tree(AT_FDCWD, ".jobflow", NULL);
    assert(fchdir(home) == 0); /* the names of corpus files may be relative */
    close(home);
    return 0;
}
