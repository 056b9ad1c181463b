/*
 * libcurl, loaded when the first transfer is made.
 *
 * libcurl depends on two dozen libraries (Kerberos, LDAP, SSH, GnuTLS, …). Linked normally, they
 * would be mapped at every start of a command or supervisor, and would be a third of the resident
 * memory of a daemon that makes no outgoing calls. The program is therefore not linked against
 * libcurl. The functions here have the names and types of libcurl's header; they look up the real
 * functions at their first call and pass their arguments on. They are called on the loop thread
 * only.
 */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdarg.h>

#include "base/mem.h"

/* clang-format off */
#define FUNCTIONS(X)                                                                                                   \
    X(curl_global_init) X(curl_global_cleanup) X(curl_free)                                                            \
    X(curl_easy_init) X(curl_easy_cleanup) X(curl_easy_setopt) X(curl_easy_getinfo) X(curl_easy_strerror)              \
    X(curl_multi_init) X(curl_multi_cleanup) X(curl_multi_add_handle) X(curl_multi_remove_handle)                      \
    X(curl_multi_setopt) X(curl_multi_assign) X(curl_multi_socket_action) X(curl_multi_info_read)                      \
    X(curl_slist_append) X(curl_slist_free_all) X(curl_url) X(curl_url_cleanup) X(curl_url_get) X(curl_url_set)
/* clang-format on */

struct library {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

static struct library loaded;

static void *found(void *library, const char *name)
{
    void *function = dlsym(library, name);

    if (!function)
        mem_fatal("libcurl.so.4 is not the library of its header");
    return function;
}

static const struct library *curl(void)
{
    void *library;

    if (loaded.curl_easy_init)
        return &loaded;
    library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        mem_fatal("libcurl.so.4 cannot be loaded: is Debian's package libcurl4 installed?");
#define LOOK_UP(name) *(void **)&loaded.name = found(library, #name);
    FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    return &loaded;
}

/* A name in parentheses is the function, never a macro of the header. */
#define PASS_ON(type, name, parameters, arguments)                                                 \
    type(name) parameters                                                                          \
    {                                                                                              \
        return curl()->name arguments;                                                             \
    }

/* clang-format off */
PASS_ON(CURLcode,  curl_global_init,         (long flags), (flags))
PASS_ON(void,      curl_global_cleanup,      (void), ())
PASS_ON(void,      curl_free,                (void *p), (p))
PASS_ON(CURL *,    curl_easy_init,           (void), ())
PASS_ON(void,      curl_easy_cleanup,        (CURL *easy), (easy))
PASS_ON(const char *, curl_easy_strerror,    (CURLcode code), (code))
PASS_ON(CURLM *,   curl_multi_init,          (void), ())
PASS_ON(CURLMcode, curl_multi_cleanup,       (CURLM *multi), (multi))
PASS_ON(CURLMcode, curl_multi_add_handle,    (CURLM *multi, CURL *easy), (multi, easy))
PASS_ON(CURLMcode, curl_multi_remove_handle, (CURLM *multi, CURL *easy), (multi, easy))
PASS_ON(CURLMcode, curl_multi_assign,        (CURLM *multi, curl_socket_t fd, void *p), (multi, fd, p))
PASS_ON(CURLMcode, curl_multi_socket_action, (CURLM *multi, curl_socket_t fd, int events, int *running), (multi, fd, events, running))
PASS_ON(CURLMsg *, curl_multi_info_read,     (CURLM *multi, int *left), (multi, left))
PASS_ON(struct curl_slist *, curl_slist_append, (struct curl_slist *list, const char *text), (list, text))
PASS_ON(void,      curl_slist_free_all,      (struct curl_slist *list), (list))
PASS_ON(CURLU *,   curl_url,                 (void), ())
PASS_ON(void,      curl_url_cleanup,         (CURLU *url), (url))
PASS_ON(CURLUcode, curl_url_get,             (CURLU *url, CURLUPart what, char **out, unsigned flags), (url, what, out, flags))
PASS_ON(CURLUcode, curl_url_set,             (CURLU *url, CURLUPart what, const char *part, unsigned flags), (url, what, part, flags))
/* clang-format on */

/* The thousands of an option's number say which type its value has: objects and functions are
 * pointers, the others are integers of their width. */
CURLcode(curl_easy_setopt)(CURL *easy, CURLoption option, ...)
{
    va_list value;
    CURLcode result;

    va_start(value, option);
    /* NOLINTBEGIN(bugprone-branch-clone): the branches differ in the type */
    if ((int)option >= CURLOPTTYPE_OFF_T && (int)option < CURLOPTTYPE_BLOB)
        result = curl()->curl_easy_setopt(easy, option, va_arg(value, curl_off_t));
    else if ((int)option >= CURLOPTTYPE_OBJECTPOINT)
        result = curl()->curl_easy_setopt(easy, option, va_arg(value, void *));
    else
        result = curl()->curl_easy_setopt(easy, option, va_arg(value, long));
    /* NOLINTEND(bugprone-branch-clone) */
    va_end(value);
    return result;
}

CURLMcode(curl_multi_setopt)(CURLM *multi, CURLMoption option, ...)
{
    va_list value;
    CURLMcode result;

    va_start(value, option);
    /* NOLINTNEXTLINE(bugprone-branch-clone): the branches differ in the type */
    if ((int)option >= CURLOPTTYPE_OBJECTPOINT)
        result = curl()->curl_multi_setopt(multi, option, va_arg(value, void *));
    else
        result = curl()->curl_multi_setopt(multi, option, va_arg(value, long));
    va_end(value);
    return result;
}

/* All results are returned through one pointer. */
CURLcode(curl_easy_getinfo)(CURL *easy, CURLINFO what, ...)
{
    va_list value;
    CURLcode result;

    va_start(value, what);
    result = curl()->curl_easy_getinfo(easy, what, va_arg(value, void *));
    va_end(value);
    return result;
}
