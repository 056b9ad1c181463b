/*
 * Encodes and decodes the continue token of a list. A token that lacks a member is refused.
 */
#include "api/server/message/continue_token.h"

#include <string.h>

#include "api/types/text/json_text.h"
#include "base/encoding/base64.h"
#include "base/encoding/jsonw.h"

void continue_token_write(const struct continue_token *token, struct buf *out)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    jsonw_open(&w);
    jsonw_member_str(&w, "v", "meta.k8s.io/v1");
    jsonw_member_int(&w, "rv", token->revision);
    jsonw_member_str(&w, "start", token->after);
    jsonw_member_int(&w, "n", token->given);
    jsonw_close(&w);
    base64url_encode(text.data, text.len, out);
}

bool continue_token_read(const char *text, struct buf *scratch, struct continue_token *out,
                         struct error *err)
{
    scoped(buf) struct buf plain = {0};
    scoped(json) json_t *doc = NULL;
    const json_t *revision, *given;
    const char *after;
    struct error why = {0};
    size_t at = scratch->len;

    if (base64url_decode(text, &plain) && plain.len)
        doc = json_parse(plain.data, plain.len, &json_limits_body, &why);
    revision = json_object_get(doc, "rv");
    given = json_object_get(doc, "n");
    after = json_string_value(json_object_get(doc, "start"));
    if (!json_is_integer(revision) || !json_is_integer(given) || !after || !strchr(after, '/'))
        return error_set(err, ERR_BAD_REQUEST, "", "continue key is not valid: %s",
                         why.message[0] ? why.message : "it was not given out by this server");
    buf_add(scratch, after, strlen(after) + 1);
    *out = (struct continue_token){json_integer_value(revision), scratch->data + at,
                                   json_integer_value(given)};
    return true;
}
