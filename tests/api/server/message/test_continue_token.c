/*
 * Tests the continue tokens of lists.
 */
#include "tests/unit.h"

#include "api/server/message/continue_token.h"

/* covers: kube-api.md 73; reliability.md FZ-07 */
static void continue_tokens_survive_a_round_trip(void **state)
{
    static const struct continue_token tokens[] = {
        {1, "a/b", 0}, {-1, "/n", 5}, {INT64_MAX, "default/x.y", INT64_MAX}, {7, "ä/€", 12}};

    for (size_t i = 0; i < countof(tokens); i++) {
        scoped(buf) struct buf text = {0}, scratch = {0};
        struct continue_token back;
        struct error err = {0};

        continue_token_write(&tokens[i], &text);
        check("safe in a URL", strcspn(text.data, "+/=&%") == text.len);
        check_ok(text.data, continue_token_read(text.data, &scratch, &back, &err), err);
        check_str(text.data, back.after, tokens[i].after);
        check_int(text.data, back.revision, tokens[i].revision);
        check_int(text.data, back.given, tokens[i].given);
    }
}

static void forged_tokens_are_refused(void **state)
{
    static const char *const forged[] = {"garbage", "%", "e30", "AAAA", "eyJydiI6MX0", "ey"};

    for (size_t i = 0; i < countof(forged); i++) {
        scoped(buf) struct buf scratch = {0};
        struct continue_token token;
        struct error err = {0};

        check_error(forged[i], continue_token_read(forged[i], &scratch, &token, &err), err,
                    ERR_BAD_REQUEST);
        check_has(forged[i], err.message, "continue key is not valid: ");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(continue_tokens_survive_a_round_trip),
        cmocka_unit_test(forged_tokens_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
