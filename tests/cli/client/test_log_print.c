/*
 * Tests how lines of several programs are printed on one stream.
 */
#include "tests/unit.h"

#include "base/buf.h"
#include "cli/client/log_print.h"

struct source {
    struct log_line line;
    struct buf text; /* the line of the source so far */
};

struct page {
    struct log_printer printer;
    char *text;
    size_t len;
    struct source sources[2];
};

static void page_open(struct page *page)
{
    *page = (struct page){.sources = {{.line.label = "a"}, {.line.label = "b"}}};
    page->printer.out = open_memstream(&page->text, &page->len);
    page->printer.clock = clock_virtual_new(0, 1);
}

static void page_close(struct page *page)
{
    fclose(page->printer.out);
    free(page->text);
    clock_free(page->printer.clock);
    for (size_t i = 0; i < countof(page->sources); i++)
        buf_release(&page->sources[i].text);
}

/* Writes text of a source. Its lines are passed on as the readers of logs do. */
static void write_text(struct page *page, struct source *source, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n') {
            log_print_whole(&page->printer, &source->line, source->text.data, source->text.len);
            buf_clear(&source->text);
        } else {
            buf_char(&source->text, *text);
        }
    }
    if (source->text.len)
        log_print_growing(&page->printer, &source->line, source->text.data, source->text.len);
    if (source->text.len) {
        size_t gone = log_print_forget(&source->line, source->text.data, source->text.len);

        source->text.len -= gone;
        memmove(source->text.data, source->text.data + gone, source->text.len);
    }
}

/* A case. `writes` has the order of events: "a:TEXT" written by source a, "b:TEXT" by b; "+" lets a
 * second pass, and "!" ends a line that is printed in part. */
struct print_case {
    const char *name;
    const char *written[10];
    const char *printed;
};

/* clang-format off */
static const struct print_case cases[] = {
    {"a whole line",               {"a:one\n"}, "[a] one\n"},
    {"an empty line",              {"a:\n"}, "[a] \n"},
    {"two at once",                {"a:one\ntwo\n"}, "[a] one\n[a] two\n"},
    {"one in two parts waits",     {"a:on", "b:x\n", "a:e\n"}, "[b] x\n[a] one\n"},
    {"other line ends stay",       {"a:one\r\ntwo\r\n"}, "[a] one\r\n[a] two\r\n"},
    {"an empty one of those",      {"a:\r\n"}, "[a] \r\n"},
    {"rewriting keeps the label",  {"a:10%\r20%\r100%\n"}, "[a] 10%\r[a] 20%\r[a] 100%\n"},
    {"it is printed as it grows",  {"a:10%\r", "a:20%"}, "[a] 10%\r[a] 20%"},
    {"and to its end",             {"a:\r10%", "a:\r20%", "a:\r30", "a:%", "a:\n", "a:x\n"}, "[a] \r[a] 10%\r[a] 20%\r[a] 30%\n[a] x\n"},
    {"another line comes between", {"a:\r10%", "b:x\n", "+", "a:\r20%", "a:\n"}, "[a] \r[a] 10%\n[b] x\n[a] 20%\n"},
    {"within a text",              {"a:\r10", "b:x\n", "+", "a:%", "a:\n"}, "[a] \r[a] 10\n[b] x\n[a] 10%\n"},
    {"it goes on once a second",   {"a:\r1", "b:x\n", "a:\r2", "a:\r3", "+", "a:\r4", "b:y\n", "a:\r5", "a:\r6\n"},
                                   "[a] \r[a] 1\n[b] x\n[a] 2\r[a] 3\r[a] 4\n[b] y\n[a] 5\r[a] 6\n"},
    {"nothing is printed twice",   {"a:\r1", "!", "a:\n", "a:x\n"}, "[a] \r[a] 1\n[a] x\n"},
    {"not after a return either",  {"a:1\r", "!", "a:\n", "a:x\n"}, "[a] 1\r\n[a] x\n"},
    {"two that grow",              {"a:1\r", "b:2\r", "+", "a:3\r", "b:4\r", "a:\n", "b:\n"}, "[a] 1\r\n[b] 2\r\n[a] 3\r\n[b] 4\r\n"},
};
/* clang-format on */

static void lines_keep_their_labels(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        struct page page;

        page_open(&page);
        for (const char *const *at = cases[i].written; *at; at++) {
            if (**at == '+')
                clock_advance_ms(page.printer.clock, 1000);
            else if (**at == '!')
                log_print_break(&page.printer);
            else
                write_text(&page, &page.sources[**at - 'a'], *at + 2);
        }
        fflush(page.printer.out);
        check_str(cases[i].name, page.text, cases[i].printed);
        page_close(&page);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_keep_their_labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
