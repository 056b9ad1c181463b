/*
 * Encodes metadata into its stored form and decodes it.
 *
 * The stored form is a version byte, counts and numbers as varints, then every string in a fixed
 * order. A string is a code: the number of a common word (meta_words.c), the number of an earlier
 * string, or its length, its bytes and a NUL. Because of the NULs, decoding copies the bytes once,
 * behind the arrays: the strings are pointers into that copy, and equal strings are the same
 * pointer.
 *
 * Version 1 stored every string as length, bytes and NUL.
 */
#include <stdint.h>
#include <string.h>

#include "api/types/meta_layout.h"
#include "api/types/meta_words.h"
#include "base/mem.h"

enum { VERSION_PLAIN = 1, VERSION_CODED = 2 };
enum { OWNER_CONTROLLER = 1, OWNER_BLOCKS = 2 };

/* The low bits of a string's code give its type; the other bits are the number or the length. */
enum { CODE_WORD, CODE_LITERAL, CODE_EARLIER, CODE_BITS = 2, CODE_MASK = (1 << CODE_BITS) - 1 };
enum {
    EARLIER_MAX = 48,  /* number of literals that can be referred to again */
    EARLIER_BYTES = 3, /* shorter literals (with their NUL) are not worth a reference */
};

struct writer {
    struct buf *out;
    struct {
        const char *text;
        size_t size;
    } earlier[EARLIER_MAX];
    uint32_t n_earlier;
};

static void put_varint(struct buf *out, uint64_t value)
{
    while (value >= 0x80) {
        buf_char(out, (char)(value | 0x80));
        value >>= 7;
    }
    buf_char(out, (char)value);
}

/* Appends a signed number as a varint; small negative numbers stay short. */
static void put_number(struct buf *out, int64_t value)
{
    put_varint(out, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_code(struct buf *out, uint64_t value, unsigned what)
{
    put_varint(out, value << CODE_BITS | what);
}

/* Returns the index of `text` among the literals written so far, or EARLIER_MAX when it is not
 * among them. */
static uint32_t find_earlier(const struct writer *w, const char *text, size_t size)
{
    for (uint32_t i = 0; i < w->n_earlier; i++)
        if (w->earlier[i].size == size && memcmp(w->earlier[i].text, text, size) == 0)
            return i;
    return EARLIER_MAX;
}

static void put_string(struct writer *w, const char *text)
{
    size_t size = strlen(text) + 1;
    uint32_t word = meta_word_number(text, size - 1), earlier;

    if (word) {
        put_code(w->out, word, CODE_WORD);
        return;
    }
    earlier = size >= EARLIER_BYTES ? find_earlier(w, text, size) : EARLIER_MAX;
    if (earlier < EARLIER_MAX) {
        put_code(w->out, earlier, CODE_EARLIER);
        return;
    }
    put_code(w->out, size, CODE_LITERAL);
    buf_add(w->out, text, size);
    if (size >= EARLIER_BYTES && w->n_earlier < EARLIER_MAX) {
        w->earlier[w->n_earlier].text = text;
        w->earlier[w->n_earlier++].size = size;
    }
}

/* Word number 0 stands for NULL. */
static void put_optional(struct writer *w, const char *text)
{
    if (text)
        put_string(w, text);
    else
        put_code(w->out, 0, CODE_WORD);
}

static void put_text(struct writer *w, const char *text)
{
    put_string(w, text ? text : "");
}

static void put_pairs(struct writer *w, const struct kv *pairs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put_text(w, pairs[i].key);
        put_text(w, pairs[i].value);
    }
}

void meta_encode(const struct meta *meta, struct buf *out)
{
    struct writer w = {.out = out};

    buf_char(out, VERSION_CODED);
    put_varint(out, meta->n_labels);
    put_varint(out, meta->n_annotations);
    put_varint(out, meta->n_owners);
    put_varint(out, meta->n_finalizers);
    put_number(out, meta->generation);
    put_number(out, meta_created_ms(meta));
    put_number(out, meta->deleted_at_ms);
    put_number(out, meta->deletion_grace_s);
    put_text(&w, meta->namespace);
    put_text(&w, meta->name);
    put_optional(&w, meta->generate_name);
    put_text(&w, meta->uid);
    put_optional(&w, meta->managed_fields);
    put_pairs(&w, meta->labels, meta->n_labels);
    put_pairs(&w, meta->annotations, meta->n_annotations);
    for (uint32_t i = 0; i < meta->n_owners; i++) {
        const struct owner_ref *owner = &meta->owners[i];

        put_varint(out, (owner->controller ? OWNER_CONTROLLER : 0) |
                            (owner->block_owner_deletion ? OWNER_BLOCKS : 0));
        put_text(&w, owner->api_version);
        put_text(&w, owner->kind);
        put_text(&w, owner->name);
        put_text(&w, owner->uid);
    }
    for (uint32_t i = 0; i < meta->n_finalizers; i++)
        put_text(&w, meta->finalizers[i]);
}

/* Reads within [at, end). The first error sets `damaged`; everything read after it is zero. */
struct reader {
    const char *at, *end;
    bool damaged;
    bool plain; /* the bytes have version 1 of the form */
    const char *earlier[EARLIER_MAX];
    uint32_t n_earlier;
};

static uint64_t get_varint(struct reader *in)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        unsigned char byte = (unsigned char)*in->at++;

        value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return value;
    }
    in->damaged = true;
    in->at = in->end;
    return 0;
}

static int64_t get_number(struct reader *in)
{
    uint64_t coded = get_varint(in);

    return (int64_t)(coded >> 1) ^ -(int64_t)(coded & 1);
}

/* Reads the length of an array. Each entry takes at least one byte, which bounds the count. */
static uint32_t get_count(struct reader *in)
{
    uint64_t count = get_varint(in);

    if (count > (uint64_t)(in->end - in->at)) {
        in->damaged = true;
        in->at = in->end;
        return 0;
    }
    return (uint32_t)count;
}

/* Returns `size` bytes of text, which include the NUL. */
static const char *get_literal(struct reader *in, uint64_t size)
{
    const char *text = in->at;

    if (!size || size > (uint64_t)(in->end - in->at) || text[size - 1] ||
        memchr(text, '\0', (size_t)size - 1)) {
        in->damaged = true;
        in->at = in->end;
        return "";
    }
    in->at += size;
    if (size >= EARLIER_BYTES && in->n_earlier < EARLIER_MAX)
        in->earlier[in->n_earlier++] = text;
    return text;
}

static const char *get_plain(struct reader *in)
{
    uint64_t size = get_varint(in);

    return size ? get_literal(in, size) : NULL;
}

static const char *get_coded(struct reader *in)
{
    uint64_t code = get_varint(in), value = code >> CODE_BITS;
    const char *text = NULL;

    switch (code & CODE_MASK) {
    case CODE_WORD:
        text = meta_word(value);
        in->damaged |= value && !text;
        break;
    case CODE_LITERAL:
        text = get_literal(in, value);
        break;
    case CODE_EARLIER:
        text = value < in->n_earlier ? in->earlier[value] : NULL;
        in->damaged |= !text;
        break;
    default:
        in->damaged = true;
        break;
    }
    return text;
}

static const char *get_optional(struct reader *in)
{
    return in->plain ? get_plain(in) : get_coded(in);
}

static const char *get_string(struct reader *in)
{
    const char *text = get_optional(in);

    in->damaged |= !text;
    return text ? text : "";
}

static void get_pairs(struct reader *in, const struct kv *pairs, uint32_t count)
{
    struct kv *out = (struct kv *)pairs;

    for (uint32_t i = 0; i < count; i++) {
        out[i].key = get_string(in);
        out[i].value = get_string(in);
    }
}

static void get_owners(struct reader *in, const struct meta *meta)
{
    struct owner_ref *owners = (struct owner_ref *)meta->owners;

    for (uint32_t i = 0; i < meta->n_owners; i++) {
        uint64_t flags = get_varint(in);

        owners[i].controller = flags & OWNER_CONTROLLER;
        owners[i].block_owner_deletion = flags & OWNER_BLOCKS;
        owners[i].api_version = get_string(in);
        owners[i].kind = get_string(in);
        owners[i].name = get_string(in);
        owners[i].uid = get_string(in);
    }
}

/* Allocates metadata with the counts of `counts`, its arrays behind it and, behind them, a copy of
 * the stored form. */
static struct meta *block_new(const struct meta *counts, const void *bytes, size_t len)
{
    size_t arrays = ((size_t)counts->n_labels + counts->n_annotations) * sizeof(struct kv) +
                    counts->n_owners * sizeof(struct owner_ref) +
                    counts->n_finalizers * sizeof(char *);
    struct meta_block *block = mem_alloc(sizeof *block + arrays + len);
    struct meta *meta = &block->meta;
    char *at = (char *)(block + 1);

    block->bytes = sizeof *block + arrays + len;
    atomic_init(&meta->refs, 1);
    meta->n_labels = counts->n_labels;
    meta->n_annotations = counts->n_annotations;
    meta->n_owners = counts->n_owners;
    meta->n_finalizers = counts->n_finalizers;
    meta->owners = (struct owner_ref *)(void *)at;
    at += meta->n_owners * sizeof(struct owner_ref);
    meta->labels = (struct kv *)(void *)at;
    at += meta->n_labels * sizeof(struct kv);
    meta->annotations = (struct kv *)(void *)at;
    at += meta->n_annotations * sizeof(struct kv);
    meta->finalizers = (const char *const *)(void *)at;
    at += meta->n_finalizers * sizeof(char *);
    memcpy(at, bytes, len);
    block->stored = at;
    block->stored_len = len;
    return meta;
}

const char *meta_stored(const struct meta *meta, size_t *out_len)
{
    const struct meta_block *block = container_of((struct meta *)meta, struct meta_block, meta);

    *out_len = block->stored_len;
    return block->stored;
}

static void get_counts(struct reader *in, struct meta *counts)
{
    counts->n_labels = get_count(in);
    counts->n_annotations = get_count(in);
    counts->n_owners = get_count(in);
    counts->n_finalizers = get_count(in);
}

static void get_content(struct reader *in, struct meta *meta)
{
    const char **finalizers = (const char **)meta->finalizers;
    int64_t created_ms;

    meta->generation = get_number(in);
    created_ms = get_number(in);
    meta->created_part_ms = created_ms > 0 ? (uint16_t)(created_ms % 1000) : 0;
    meta->created_at_ms = created_ms - meta->created_part_ms;
    meta->deleted_at_ms = get_number(in);
    meta->deletion_grace_s = get_number(in);
    meta->namespace = get_string(in);
    meta->name = get_string(in);
    meta->generate_name = get_optional(in);
    meta->uid = get_string(in);
    meta->managed_fields = get_optional(in);
    get_pairs(in, meta->labels, meta->n_labels);
    get_pairs(in, meta->annotations, meta->n_annotations);
    get_owners(in, meta);
    for (uint32_t i = 0; i < meta->n_finalizers; i++)
        finalizers[i] = get_string(in);
}

struct meta *meta_decode(const void *bytes, size_t len, struct error *err)
{
    struct reader in = {.at = bytes, .end = (const char *)bytes + len};
    struct meta counts = {0};
    size_t head;
    char version = len ? *in.at++ : 0;

    if (version != VERSION_PLAIN && version != VERSION_CODED) {
        error_set(err, ERR_STORAGE, "", "stored metadata is damaged or of an unknown version");
        return NULL;
    }
    in.plain = version == VERSION_PLAIN;
    get_counts(&in, &counts);
    head = (size_t)(in.at - (const char *)bytes);

    scoped(meta) struct meta *meta = block_new(&counts, bytes, len);
    size_t stored_len;
    const char *stored = meta_stored(meta, &stored_len);

    in.at = stored + head;
    in.end = stored + stored_len;
    get_content(&in, meta);
    if (in.damaged || in.at != in.end) {
        error_set(err, ERR_STORAGE, "", "stored metadata is damaged");
        return NULL;
    }
    return take(meta);
}
