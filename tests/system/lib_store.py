"""Checksums of the rows of a store (api/store/db/checksum.h), for tests that change rows as if this program had written them."""
import ctypes
import struct

TABLES = (("kinds", "id, api_version, kind"), ("bodies", "id, bytes"), ("statuses", "id, bytes"),
          ("objects", "id, kind, namespace, name, revision, body, meta, status"))
STATE = "id, generation, commits, newest, revision, clean, backup, total, checked, objects, bodies, parts"
WORD = 1 << 64


def library():
    xxhash = ctypes.CDLL("libxxhash.so.0")
    xxhash.XXH3_64bits.restype = ctypes.c_uint64
    xxhash.XXH3_64bits.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    return xxhash


def signed(value):
    value %= WORD
    return value - WORD if value >= WORD // 2 else value


def row_sum(xxhash, *values):
    def number(value):
        if value is None:
            return 0
        if isinstance(value, int):
            return value % WORD
        text = value.encode() if isinstance(value, str) else bytes(value)
        return xxhash.XXH3_64bits(text, len(text))

    packed = struct.pack("<%dQ" % len(values), *(number(v) for v in values))
    return signed(xxhash.XXH3_64bits(packed, len(packed)))


def sign(db):
    """Writes the checksum of every row and of the state, as if all rows were whole. The caller commits."""
    xxhash, total = library(), 0
    for table, columns in TABLES:
        for row in db.execute("SELECT %s FROM %s" % (columns, table)).fetchall():
            value = row_sum(xxhash, *row)
            db.execute("UPDATE %s SET sum = ? WHERE id = ?" % table, (value, row[0]))
            total += value
    db.execute("UPDATE state SET total = ?, objects = (SELECT count(*) FROM objects), bodies = (SELECT count(*) FROM bodies), "
               "parts = (SELECT count(*) FROM statuses)", (signed(total),))
    db.execute("UPDATE state SET sum = ?", (row_sum(xxhash, *db.execute("SELECT %s FROM state" % STATE).fetchone()),))
