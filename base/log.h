#pragma once
/*
 * Structured log lines: a fixed event text, then pairs with stable keys. A line has at most 8 KiB;
 * control bytes are escaped (SEC-31).
 *
 *   log_info("job phase changed", kv_str("job", key), kv_str("from", a), kv_str("to", b));
 */
#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

struct log_kv {
    const char *key;
    const char *str; /* text of the pair; NULL: the pair is a number */
    int64_t num;
};

static inline struct log_kv kv_str(const char *key, const char *value)
{
    return (struct log_kv){key, value ? value : "", 0};
}
static inline struct log_kv kv_int(const char *key, int64_t value)
{
    return (struct log_kv){key, 0, value};
}

/* Sets where log lines go. Without a call they go to stderr, from WARN on, as text. */
void log_to(int fd, enum log_level level, enum log_format format);
bool log_enabled(enum log_level level);
void log_event(enum log_level level, const char *event, const struct log_kv *pairs, unsigned count);

#define log_at_(level, event, ...)                                                                 \
    do {                                                                                           \
        if (log_enabled(level)) {                                                                  \
            const struct log_kv pairs_[] = {{0}, ##__VA_ARGS__};                                   \
            log_event(level, event, pairs_ + 1, sizeof pairs_ / sizeof pairs_[0] - 1);             \
        }                                                                                          \
    } while (0)
#define log_error(event, ...) log_at_(LOG_ERROR, event, ##__VA_ARGS__)
#define log_warn(event, ...)  log_at_(LOG_WARN, event, ##__VA_ARGS__)
#define log_info(event, ...)  log_at_(LOG_INFO, event, ##__VA_ARGS__)
#define log_debug(event, ...) log_at_(LOG_DEBUG, event, ##__VA_ARGS__)
