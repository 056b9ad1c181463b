#pragma once
/*
 * Errors as values. Each has a code that a program can act on, the field it is about, and a message
 * for people.
 *
 * A `struct error` lives on the caller's stack and is the last parameter. It is written only on
 * failure; NULL is allowed where the reason does not matter. Validators collect several in an
 * error_list.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

/* Name, HTTP status, reason of a Kubernetes Status. UNDECLARED is for an applied configuration with
 * a field that the schema does not have; kube-apiserver answers it with 500 and no reason. */
/* clang-format off */
#define ERROR_CODES(X)                                     \
    X(NONE,              200, "")                          \
    X(BAD_REQUEST,       400, "BadRequest")                \
    X(UNAUTHORIZED,      401, "Unauthorized")              \
    X(FORBIDDEN,         403, "Forbidden")                 \
    X(NOT_FOUND,         404, "NotFound")                  \
    X(METHOD,            405, "MethodNotAllowed")          \
    X(NOT_ACCEPTABLE,    406, "NotAcceptable")             \
    X(EXISTS,            409, "AlreadyExists")             \
    X(CONFLICT,          409, "Conflict")                  \
    X(GONE,              410, "Expired")                   \
    X(TOO_LARGE,         413, "RequestEntityTooLarge")     \
    X(TARGET_TOO_LONG,   414, "RequestURITooLong")         \
    X(MEDIA_TYPE,        415, "UnsupportedMediaType")      \
    X(INVALID,           422, "Invalid")                   \
    X(TOO_MANY,          429, "TooManyRequests")           \
    X(HEAD_TOO_LARGE,    431, "RequestHeaderFieldsTooLarge") \
    X(INTERNAL,          500, "InternalError")             \
    X(NOT_IMPLEMENTED,   501, "NotImplemented")            \
    X(UNAVAILABLE,       503, "ServiceUnavailable")        \
    X(TIMEOUT,           504, "Timeout")                   \
    X(STORAGE,           507, "InsufficientStorage")       \
    X(UNDECLARED,        500, "")
/* clang-format on */

#define ERROR_ENUM(name, status, reason) ERR_##name,
enum error_code { ERROR_CODES(ERROR_ENUM) ERROR_CODE_N };
#undef ERROR_ENUM

enum { ERROR_FIELD_MAX = 256, ERROR_MESSAGE_MAX = 1024 };

struct error {
    enum error_code code;
    char field[ERROR_FIELD_MAX];     /* JSON path, may be empty: spec.tasks[0].name */
    char message[ERROR_MESSAGE_MAX]; /* text for people, in lower case; names the value and says
                                      * what to do */
};

int error_http_status(enum error_code code);
const char *error_reason(enum error_code code); /* the Kubernetes Status reason */

/**
 * Fills `err` (when not NULL) and returns false, so that a function can `return error_set(…)`.
 * Text longer than the message is cut at a UTF-8 boundary.
 */
bool error_set(struct error *err, enum error_code code, const char *field, const char *format, ...)
    PRINTF_LIKE(4, 5);

/**
 * Fills `err` as error_set does, with the text of `errno_value` appended as ": text"; libuv's
 * negative codes are allowed. The code is NOT_FOUND, EXISTS, STORAGE (disk or quota full), TIMEOUT,
 * or else INTERNAL.
 */
bool error_errno(struct error *err, int errno_value, const char *format, ...) PRINTF_LIKE(3, 4);

/** Puts context before the message, on the way up. */
void error_prefix(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Several findings of one validation, in the order found. The first ERROR_LIST_MAX are kept. */
enum { ERROR_LIST_MAX = 100 };

struct error_list {
    struct error *items; /* the errors, [count] */
    size_t count;
    size_t dropped; /* number of errors found beyond ERROR_LIST_MAX */
};

void error_list_add(struct error_list *list, enum error_code code, const char *field,
                    const char *format, ...) PRINTF_LIKE(4, 5);
void error_list_append(struct error_list *list, const struct error *err);
void error_list_release(struct error_list *list); /* leaves it empty and usable */

/**
 * Returns true when the list is empty. Otherwise returns false and folds the list into one error. A
 * single finding is copied. Several are joined as "field: message; …", with the code of the first,
 * no field, and the number of findings that were dropped.
 */
bool error_list_ok(const struct error_list *list, struct error *err);
