/*
 * Deltas with zstd: the base is given as a prefix, as in `zstd --patch-from`. The fastest level
 * searches little; long-distance matching finds long passages that have moved.
 */
#include "api/store/db/delta.h"

#include <assert.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/scoped.h"

enum {
    TEXT_MAX = 1 << 30,
    LEVEL = 1,
    WINDOW_LOG_MIN = 10,
    WINDOW_LOG_MAX = 31, /* window of twice TEXT_MAX */
};

SCOPED_DEFINE_PTR(packer, ZSTD_CCtx *, ZSTD_freeCCtx)
SCOPED_DEFINE_PTR(unpacker, ZSTD_DCtx *, ZSTD_freeDCtx)

/* Returns a window size that covers both texts. */
static int window_log(size_t bytes)
{
    int log = WINDOW_LOG_MIN;

    while (log < WINDOW_LOG_MAX && (size_t)1 << log < bytes)
        log++;
    return log;
}

void delta_make(struct delta_text base, struct delta_text next, struct buf *out)
{
    scoped(packer) ZSTD_CCtx *packer = ZSTD_createCCtx();
    size_t room = ZSTD_compressBound(next.len), len;

    assert(base.len <= TEXT_MAX && next.len <= TEXT_MAX);
    if (!packer)
        mem_fatal("out of memory");
    ZSTD_CCtx_setParameter(packer, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(packer, ZSTD_c_checksumFlag, 1);
    if (base.len) {
        ZSTD_CCtx_setParameter(packer, ZSTD_c_windowLog, window_log(base.len + next.len));
        ZSTD_CCtx_setParameter(packer, ZSTD_c_enableLongDistanceMatching, 1);
        ZSTD_CCtx_refPrefix(packer, base.bytes, base.len);
    }
    buf_reserve(out, room);
    len = ZSTD_compress2(packer, out->data + out->len, room, next.bytes, next.len);
    if (ZSTD_isError(len)) /* the output has room, so only lack of memory fails */
        mem_fatal("out of memory");
    out->len += len;
    out->data[out->len] = '\0';
}

bool delta_apply(struct delta_text base, struct delta_text delta, struct buf *out)
{
    scoped(unpacker) ZSTD_DCtx *unpacker = ZSTD_createDCtx();
    unsigned long long wanted = ZSTD_getFrameContentSize(delta.bytes, delta.len);
    size_t len;

    if (!unpacker)
        mem_fatal("out of memory");
    if (wanted > TEXT_MAX) /* true also for an unknown size and for bytes that are no frame */
        return false;
    ZSTD_DCtx_setParameter(unpacker, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    ZSTD_DCtx_refPrefix(unpacker, base.bytes, base.len);
    buf_reserve(out, wanted);
    len = ZSTD_decompressDCtx(unpacker, out->data + out->len, wanted, delta.bytes, delta.len);
    if (len != wanted)
        return false;
    out->len += len;
    out->data[out->len] = '\0';
    return true;
}
