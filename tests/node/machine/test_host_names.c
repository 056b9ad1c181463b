/*
 * Tests the replacement of host names by addresses.
 *
 * covers: local-runtime.md LRT-53
 */
#include "tests/unit.h"

#include <string.h>

#include "node/machine/host_names.h"

static const char hosts[] = "127.0.0.1 localhost\n"
                            "127.10.4.2 j-w-0.j.n.svc.cluster.local j-w-0.j.n.svc j-w-0.j.n "
                            "j-w-0.j j-w-0\n"
                            "127.10.4.3 j-w-1.j\tj-w-1\n"
                            "127.10.4.9 j-w-1.j\n"
                            "127.11.4.0 web.n web";

static const struct {
    const char *name, *text, *wanted;
} texts[] = {
    {"nothing", "", ""},
    {"no name", "a.b and c", "a.b and c"},
    {"one name", "j-w-0.j", "127.10.4.2"},
    {"the longest form", "j-w-0.j.n.svc.cluster.local", "127.10.4.2"},
    {"a list with slots", "j-w-0.j:2,j-w-1.j", "127.10.4.2:2,127.10.4.3"},
    {"lines", "j-w-0.j\nj-w-1.j\n", "127.10.4.2\n127.10.4.3\n"},
    {"TF_CONFIG", "{\"worker\":[\"j-w-0.j:2222\"]}", "{\"worker\":[\"127.10.4.2:2222\"]}"},
    {"an option", "--address=j-w-0.j:6379", "--address=127.10.4.2:6379"},
    {"a URL", "http://me@j-w-0.j/x", "http://me@127.10.4.2/x"},
    {"a URL's host", "http://web.n:80/j-w-0.j", "http://127.11.4.0:80/j-w-0.j"},
    {"the end of a sentence", "ask j-w-0.j.", "ask 127.10.4.2."},
    {"single words mean anything", "web j-w-0 localhost", "web j-w-0 localhost"},
    {"a part of a name is none", "x.j-w-0.j j-w-0.j.log _j-w-0.j",
     "x.j-w-0.j j-w-0.j.log _j-w-0.j"},
    {"a path is no host", "/data/j-w-0.j/log", "/data/j-w-0.j/log"},
    {"the first line wins", "j-w-1.j", "127.10.4.3"},
    {"a pattern is none", "Host *.j-w-0.j ..", "Host *.j-w-0.j .."},
    {"unicode around it", "→j-w-0.j←", "→127.10.4.2←"},
};

static void full_names_become_addresses(void **state)
{
    for (size_t i = 0; i < countof(texts); i++) {
        scoped(arena) struct arena *arena = arena_new(0);
        size_t len = strlen(texts[i].text);
        const char *out =
            host_names_replace(host_names_new(arena, hosts), arena, texts[i].text, &len);

        if (strcmp(out, texts[i].wanted) != 0)
            fail_msg("%s: %s", texts[i].name, out);
        assert_int_equal(len, strlen(texts[i].wanted));
    }
}

static void what_is_not_text_stays(void **state)
{
    static const char bytes[] = "j-w-0.j\0j-w-1.j";
    scoped(arena) struct arena *arena = arena_new(0);
    size_t len = sizeof bytes;

    assert_ptr_equal(host_names_replace(host_names_new(arena, hosts), arena, bytes, &len), bytes);
    assert_int_equal(len, sizeof bytes);
    len = 7;
    assert_ptr_equal(host_names_replace(NULL, arena, bytes, &len), bytes);
}

static void without_hosts_nothing_is_replaced(void **state)
{
    scoped(arena) struct arena *arena = arena_new(0);
    size_t len = 7;
    const char *text = "j-w-0.j";

    assert_ptr_equal(host_names_replace(host_names_new(arena, ""), arena, text, &len), text);
    assert_ptr_equal(
        host_names_replace(host_names_new(arena, "\n\n 127.0.0.1\n"), arena, text, &len), text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_names_become_addresses),
        cmocka_unit_test(what_is_not_text_stays),
        cmocka_unit_test(without_hosts_nothing_is_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
