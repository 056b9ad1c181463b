"""A block device in user space: a file that this process serves through FUSE, with a loop device and a file system on it.

The server keeps every write and every flush in order. From that log a test makes the content of the disk after a power failure
at any write: everything up to the last flush, and any part of what was written since. Needs root, /dev/fuse and loop devices.
"""
import mmap
import multiprocessing
import os
import select
import stat
import struct
import subprocess

from lib import Skip, wait_until

SECTOR = 512
MAX_WRITE = 128 << 10
ROOT, FILE = 1, 2
LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC = 1, 2, 3, 4, 14, 15, 16, 17, 18, 20
FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, ACCESS, INTERRUPT, DESTROY, FORGET_MANY = 25, 26, 27, 28, 29, 34, 36, 38, 42
NO_ENTRY, NOT_SUPPORTED = 2, 38
SILENT = (FORGET, FORGET_MANY, INTERRUPT, DESTROY)


class Server:
    """Answers the requests of the kernel, of include/uapi/linux/fuse.h, until the file system is unmounted."""

    def __init__(self, fuse, size, content, pipe):
        self.fuse, self.size, self.pipe, self.log = fuse, size, pipe, []
        self.disk = mmap.mmap(-1, size)
        with open(content, "rb") as image:
            for chunk in iter(lambda: image.read(1 << 20), b""):
                if chunk.strip(b"\0"):
                    self.disk[image.tell() - len(chunk):image.tell()] = chunk

    def attributes(self, node):
        mode = stat.S_IFDIR | 0o700 if node == ROOT else stat.S_IFREG | 0o600
        size = 0 if node == ROOT else self.size
        return struct.pack("<6Q10I", node, size, size // SECTOR, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def answer(self, operation, node, body):
        """Returns the answer, or the number of an error."""
        if operation == INIT:
            return struct.pack("<4I2H2I2H2I6I", 7, 31, 0, 1 << 5 | 1 << 22, 0, 0, MAX_WRITE, 1, MAX_WRITE >> 12, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        if operation == LOOKUP:
            return struct.pack("<4Q2I", FILE, 0, 3600, 3600, 0, 0) + self.attributes(FILE) if body == b"disk\0" else NO_ENTRY
        if operation in (GETATTR, SETATTR):
            return struct.pack("<Q2I", 3600, 0, 0) + self.attributes(node)
        if operation in (OPEN, OPENDIR):
            return struct.pack("<Q2I", 0, 0, 0)
        if operation == READ:
            offset, size = struct.unpack_from("<QI", body, 8)
            return self.disk[offset:min(offset + size, self.size)]
        if operation == WRITE:
            offset, size = struct.unpack_from("<QI", body, 8)
            data = body[40:40 + size]
            self.disk[offset:offset + size] = data
            self.log.append((offset, data))
            return struct.pack("<2I", size, 0)
        if operation == FSYNC:
            self.log.append(None)
        if operation == STATFS:
            return struct.pack("<5Q10I", 0, 0, 0, 0, 0, 4096, 255, 4096, 0, 0, 0, 0, 0, 0, 0)
        return b"" if operation in (FSYNC, FLUSH, RELEASE, RELEASEDIR, READDIR, ACCESS) else NOT_SUPPORTED

    def serve_one(self):
        request = os.read(self.fuse, MAX_WRITE + 4096)
        _, operation, unique, node = struct.unpack_from("<2I2Q", request)
        if operation in SILENT:
            return
        answer = self.answer(operation, node, request[40:])
        error, body = (-answer, b"") if isinstance(answer, int) else (0, answer)
        os.write(self.fuse, struct.pack("<IiQ", 16 + len(body), error, unique) + body)

    def run(self):
        while True:
            ready, _, _ = select.select([self.fuse, self.pipe], [], [])
            try:
                if self.fuse in ready:
                    self.serve_one()
            except OSError:
                return  # unmounted
            if self.pipe in ready:
                try:
                    whole = self.pipe.recv()
                except EOFError:
                    return
                self.pipe.send(self.log if whole else len(self.log))


def serve(*args):
    Server(*args).run()


class Disk:
    """A file system of a kind on such a device, mounted at `path`. `image` is its content before the first write."""

    def __init__(self, kind, size, path):
        self.kind, self.size, self.path, self.image = kind, size, os.path.abspath(path), os.path.abspath("image")
        make = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"], "btrfs": ["mkfs.btrfs", "-q", "-f"]}[kind]
        with open(self.image, "wb") as image:
            image.truncate(size)
        subprocess.run(make + [self.image], check=True, stdout=subprocess.DEVNULL)
        for directory in ("fuse", path):
            os.mkdir(directory)
        self.fuse = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        mounted = subprocess.run(["mount", "-i", "-t", "fuse", "-o", "fd=%d,rootmode=40000,user_id=0,group_id=0" % self.fuse, "disk", "fuse"],
                                 pass_fds=[self.fuse], capture_output=True, check=False)
        if mounted.returncode:
            raise Skip("FUSE: %s" % mounted.stderr.decode().strip())
        self.pipe, theirs = multiprocessing.Pipe()
        self.server = multiprocessing.Process(target=serve, args=(self.fuse, size, self.image, theirs), daemon=True)
        self.server.start()
        os.close(self.fuse)
        theirs.close()
        mounted = subprocess.run(["mount", "-o", "loop", "fuse/disk", path], capture_output=True, check=False)
        if mounted.returncode:
            self.leave()
            raise Skip("a loop device on FUSE: %s" % mounted.stderr.decode().strip())

    def position(self):
        """How many writes and flushes the device has had."""
        self.pipe.send(False)
        return self.pipe.recv()

    def log(self):
        self.pipe.send(True)
        return self.pipe.recv()

    def leave(self):
        for path in (self.path, "fuse"):
            wait_until("%s is unmounted" % path, lambda path=path: not os.path.ismount(path) or
                       subprocess.run(["umount", path], stderr=subprocess.DEVNULL, check=False).returncode == 0)
        self.server.join(10)


def after_cut(log, end, rng=None):
    """The writes that the disk has after a power failure when `end` entries of the log were sent: those up to the last flush, and of
    the later ones all (rng None) or some, each whole or in part.
    """
    flushed = max((i for i in range(end) if log[i] is None), default=0)
    for i, entry in enumerate(log[:end]):
        if entry is None:
            continue
        offset, data = entry
        if i < flushed or rng is None:
            yield offset, data
            continue
        for at in range(0, len(data), SECTOR):
            if rng.random() < 0.5:
                yield offset + at, data[at:at + SECTOR]
