#pragma once
/*
 * The files of a small store in the directory of scratch_dir.h, as a restored backup or a failing
 * disk has them, for fuzz targets.
 */
#include <stddef.h>
#include <stdint.h>

/** Writes the files of the store, its database, log and mark, with changes: each five bytes are an
 * offset, which counts on through all files, and a byte that is stored there. A file is cut at the
 * offset when the byte is the one that is there already. */
void small_store_put(const uint8_t *data, size_t size);
