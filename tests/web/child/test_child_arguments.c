/*
 * covers: web.md WEB-055
 */
#include "tests/unit.h"

#include "web/child/child_arguments.h"

/* Checks the command line, whose words are joined by blanks. */
static void check_line(const struct client_endpoint *endpoint, const char *expected)
{
    char *texts[] = {(char *)(size_t) "explain", (char *)(size_t) "jf/f", NULL};
    const struct child_queue queue = {.endpoint = endpoint};
    char **arguments = child_arguments(texts, &queue);
    scoped(buf) struct buf line = {0};

    for (size_t i = 0; arguments[i]; i++)
        buf_printf(&line, "%s%s", i ? " " : "", arguments[i]);
    check_str("arguments", line.data, expected);
    child_arguments_free(arguments);
}

static void the_usual_directory_is_no_flag(void **state)
{
    struct client_endpoint endpoint = CLIENT_ENDPOINT_USUAL;

    check_line(&endpoint, "jobflow explain jf/f");
    endpoint.data_dir = "d";
    check_line(&endpoint, "jobflow explain jf/f --data-dir=d");
}

static void a_child_acts_as_the_user_that_the_gateway_acts_as(void **state)
{
    struct client_endpoint endpoint = CLIENT_ENDPOINT_USUAL;

    endpoint.kubeconfig = "k";
    endpoint.server = "https://s";
    endpoint.context = "c";
    endpoint.cluster = "cl";
    endpoint.user = "u";
    endpoint.token_file = "t";
    endpoint.exec_plugin = "/p";
    endpoint.insecure = true;
    endpoint.as = "-bob";
    endpoint.as_uid = "7";
    endpoint.as_groups = (struct flag_list){{"dev", "ops"}, 2};
    check_line(&endpoint, "jobflow explain jf/f --kubeconfig=k --server=https://s --context=c "
                          "--cluster=cl --user=u --token-file=t --allow-exec-plugin=/p "
                          "--insecure-cluster --as=-bob --as-group=dev --as-group=ops --as-uid=7");
}

static void as_many_groups_as_a_command_takes_are_passed(void **state)
{
    struct client_endpoint endpoint = CLIENT_ENDPOINT_USUAL;
    struct flag_list *groups = &endpoint.as_groups;
    char *texts[] = {NULL};
    const struct child_queue queue = {.endpoint = &endpoint};
    char **arguments;
    size_t n = 0;

    endpoint.as = "bob";
    for (; groups->count < countof(groups->items); groups->count++)
        groups->items[groups->count] = "g";
    arguments = child_arguments(texts, &queue);
    while (arguments[n])
        n++;
    check_int("number", n, 2 + countof(groups->items));
    child_arguments_free(arguments);
}

/* The token itself is no argument, because every user of the machine can read arguments. */
static void a_token_is_read_from_a_descriptor(void **state)
{
    struct client_endpoint endpoint = {.data_dir = "/d"};
    const struct child_queue queue = {.endpoint = &endpoint, .token = "jf_secret"};
    char *texts[] = {(char *)(size_t) "get", NULL};
    char **arguments = child_arguments(texts, &queue);

    check_str("directory", arguments[2], "--data-dir=/d");
    check_str("token", arguments[3], "--token-file=/proc/self/fd/3");
    check("no more", !arguments[4]);
    child_arguments_free(arguments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_directory_is_no_flag),
        cmocka_unit_test(a_child_acts_as_the_user_that_the_gateway_acts_as),
        cmocka_unit_test(a_token_is_read_from_a_descriptor),
        cmocka_unit_test(as_many_groups_as_a_command_takes_are_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
