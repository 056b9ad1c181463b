/*
 * Tests the key pairs of plugin ssh.
 */
#include "tests/unit.h"

#include "job/plugins/ssh_keys.h"

struct key_case {
    const char *name;
    bool (*make)(struct secret *out_private, struct buf *out_public, struct error *err);
    const char *head, *public_head;
};

/* covers: reliability.md SEC-29; see O-P24 O-P26 */
static void a_new_pair_belongs_together(void **unused)
{
    static const struct key_case cases[] = {
        {"a pair of RSA keys", job_key_rsa, "-----BEGIN RSA PRIVATE KEY-----\n",
         "ssh-rsa AAAAB3NzaC1yc2E"},
        {"a pair of Ed25519 keys", job_key_ed25519, "-----BEGIN OPENSSH PRIVATE KEY-----\n",
         "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(secret) struct secret key = {0}, other_key = {0};
        scoped(buf) struct buf public_key = {0}, derived = {0}, other = {0};
        struct error err = {0};

        check_ok(cases[i].name, cases[i].make(&key, &public_key, &err), err);
        check_ok(cases[i].name, cases[i].make(&other_key, &other, &err), err);
        check(cases[i].name, strncmp(key.bytes.data, cases[i].head, strlen(cases[i].head)) == 0);
        check_has(cases[i].name, public_key.data, cases[i].public_head);
        check_int(cases[i].name, public_key.data[public_key.len - 1], '\n');
        check(cases[i].name, strcmp(public_key.data, other.data) != 0);
        check_ok(cases[i].name, job_key_public(key.bytes.data, key.bytes.len, &derived, &err), err);
        check_str(cases[i].name, derived.data, public_key.data);
    }
}

/* Every prefix of a key, and every key with a changed byte, gives an answer and shows none of its
 * bytes. */
/* The type of this key is `command="x" ssh-ed25519`, which authorized_keys reads as an option.
 * covers: reliability.md SEC-29 */
static void a_type_of_key_that_is_no_name_is_refused(void **unused)
{
    static const char key[] =
        "-----BEGIN OPENSSH PRIVATE KEY-----\n"
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAPwAAABdjb21tYW5kPSJ4IiBz"
        "c2gtZWQyNTUxOQAAACBra2tra2tra2tra2tra2tra2tra2tra2tra2tra2trawAAAAFw\n"
        "-----END OPENSSH PRIVATE KEY-----\n";
    scoped(buf) struct buf public_key = {0};
    struct error err = {0};

    check_error("refused", job_key_public(key, strlen(key), &public_key, &err), err, ERR_INVALID);
    check_int("nothing", public_key.len, 0);
}

static void damaged_keys_are_refused_without_a_byte_of_them(void **unused)
{
    scoped(secret) struct secret key = {0};
    scoped(buf) struct buf public_key = {0};
    struct error err = {0};

    check_ok("key", job_key_ed25519(&key, &public_key, &err), err);
    for (size_t len = 0; len < key.bytes.len; len++) {
        scoped(buf) struct buf out = {0};

        err = (struct error){0};
        if (!job_key_public(key.bytes.data, len, &out, &err)) {
            assert_int_equal(err.code, ERR_INVALID);
            check_has("message", err.message, "not of a supported kind");
        }
    }
    for (size_t at = strlen("-----BEGIN OPENSSH PRIVATE KEY-----\n"); at < key.bytes.len; at++) {
        scoped(buf) struct buf out = {0};
        char was = key.bytes.data[at];

        key.bytes.data[at] = was == 'A' ? 'Q' : 'A';
        job_key_public(key.bytes.data, key.bytes.len, &out, NULL);
        assert_true(out.len < 4096);
        key.bytes.data[at] = was;
    }
}

static void a_passphrase_is_never_asked_for(void **unused)
{
    static const char locked[] = "-----BEGIN RSA PRIVATE KEY-----\n"
                                 "Proc-Type: 4,ENCRYPTED\n"
                                 "DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\n"
                                 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
                                 "-----END RSA PRIVATE KEY-----\n";
    scoped(buf) struct buf out = {0};
    struct error err = {0};

    check_error("locked", job_key_public(locked, strlen(locked), &out, &err), err, ERR_INVALID);
    assert_string_equal(err.field, "ssh-private-key");
}

static void a_secret_grows_and_keeps_its_bytes(void **unused)
{
    scoped(secret) struct secret secret = {0};

    for (int i = 0; i < 1000; i++)
        secret_add(&secret, "0123456789", 10);
    assert_int_equal(secret.bytes.len, 10000);
    for (size_t i = 0; i < secret.bytes.len; i++)
        assert_int_equal(secret.bytes.data[i], '0' + (int)(i % 10));
    secret_release(&secret);
    assert_null(secret.bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_pair_belongs_together),
        cmocka_unit_test(a_type_of_key_that_is_no_name_is_refused),
        cmocka_unit_test(damaged_keys_are_refused_without_a_byte_of_them),
        cmocka_unit_test(a_passphrase_is_never_asked_for),
        cmocka_unit_test(a_secret_grows_and_keeps_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
