#include "tests/unit.h"

#include <jansson.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs the function `what` in a child process and returns the child's wait status. */
static int status_of(void (*what)(void))
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (!pid) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(99);
        what();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static volatile size_t huge = SIZE_MAX / 2;

static void allocate_too_much(void)
{
    mem_free(mem_array(huge, 16));
}

static void resize_too_much(void)
{
    mem_free(mem_resize(NULL, huge));
}

static void running_out_of_memory_ends_the_process(void **state)
{
    void (*const cases[])(void) = {allocate_too_much, resize_too_much};

    for (size_t i = 0; i < countof(cases); i++) {
        int status = status_of(cases[i]);

        /* The allocator of a sanitizer may exit instead of aborting. */
        assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
    }
}

static void memory_is_zeroed(void **state)
{
    char *bytes = mem_alloc(1000);

    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(bytes[i], 0);
    mem_free(bytes);
    mem_free(mem_alloc(0));
    mem_free(mem_array(0, 8));
    mem_free(mem_resize(mem_alloc(1), 0));
}

static void strings_are_copied_and_null_stays_null(void **state)
{
    scoped_str copy = mem_strdup("hello");
    scoped_str text = mem_printf("%s-%d", "pod", 7);

    assert_string_equal(copy, "hello");
    assert_string_equal(text, "pod-7");
    assert_null(mem_strdup(NULL));
}

static void a_vector_grows_by_doubling(void **state)
{
    int *items = NULL;
    size_t count = 0, cap = 0;

    for (int i = 0; i < 1000; i++) {
        mem_grow(items, count, cap);
        items[count++] = i;
    }
    assert_int_equal(cap, 1024);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    mem_free(items);
}

static void jansson_allocates_through_us(void **state)
{
    json_malloc_t allocate;
    json_free_t release;

    json_get_alloc_funcs(&allocate, &release);
    assert_ptr_not_equal((void *)(size_t)allocate, (void *)(size_t)malloc);
    assert_ptr_equal((void *)(size_t)release, (void *)(size_t)mem_free);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_out_of_memory_ends_the_process),
        cmocka_unit_test(memory_is_zeroed),
        cmocka_unit_test(strings_are_copied_and_null_stays_null),
        cmocka_unit_test(a_vector_grows_by_doubling),
        cmocka_unit_test(jansson_allocates_through_us),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
