/*
 * grpc: one call of grpc.health.v1.Health/Check over HTTP/2 without TLS, as Kubernetes' kubelet
 * makes it; SERVING passes. The two messages are small enough to be written and compared by hand.
 *
 *   frame   = 0 (not compressed) | u32 length, big-endian | message
 *   request = field 1: service          response = field 1: status, 1 = SERVING
 */
#include <arpa/inet.h>
#include <string.h>

#include "base/mem.h"
#include "probes/http_exchange.h"

enum { FRAME_HEAD = 5, TAG_SERVICE = 1 << 3 | 2, TAG_STATUS = 1 << 3, SERVING = 1 };

static void put_varint(struct buf *out, size_t value)
{
    for (; value > 0x7f; value >>= 7)
        buf_char(out, (char)(value | 0x80));
    buf_char(out, (char)value);
}

static void put_request(struct buf *out, const char *service)
{
    scoped(buf) struct buf message = {0};
    uint32_t length;

    if (*service) {
        buf_char(&message, TAG_SERVICE);
        put_varint(&message, strlen(service));
        buf_str(&message, service);
    }
    length = htonl((uint32_t)message.len);
    buf_char(out, 0);
    buf_add(out, &length, sizeof length);
    if (message.len)
        buf_add(out, message.data, message.len);
}

/* A server that answers SERVING sends exactly these bytes. */
static bool is_serving(const struct buf *body)
{
    static const char wanted[] = {0, 0, 0, 0, 2, TAG_STATUS, SERVING};

    return body->len == sizeof wanted && memcmp(body->data, wanted, sizeof wanted) == 0;
}

static bool passed(struct http_exchange *exchange, CURLcode result)
{
    return result == CURLE_OK && http_exchange_status(exchange) == 200 &&
           http_exchange_answered(exchange, "grpc-status: 0") &&
           is_serving(http_exchange_body(exchange));
}

bool probe_grpc_start(struct probe_http_client *client, struct probe_attempt *attempt,
                      const struct probe_grpc *entry, const struct probe_address *address)
{
    scoped_str url = mem_printf("http://%s/grpc.health.v1.Health/Check", address->text);
    scoped(buf) struct buf request = {0};
    struct http_exchange *exchange = http_exchange_new(client, attempt, address, passed);
    CURL *easy = http_exchange_easy(exchange);

    put_request(&request, entry->service ? entry->service : "");
    http_exchange_header(exchange, "Content-Type: application/grpc");
    http_exchange_header(exchange, "TE: trailers");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)request.len);
    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request.data);
    http_exchange_start(exchange, url, probe_timeout_ms(entry->timeout_s));
    return true;
}
