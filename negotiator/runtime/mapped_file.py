"""Files that several processes map into memory."""

import mmap
import os
import sys


def map_file(descriptor: int, size: int) -> mmap.mmap:
    """Map the first `size` bytes of a file for reading and writing; OSError when the disk has no room for them.

    Every block is allocated first: a write to a mapped page without one ends the process with SIGBUS once the disk is
    full.
    """
    if sys.platform == "linux":
        os.posix_fallocate(descriptor, 0, size)
    else:
        os.ftruncate(descriptor, size)
    return mmap.mmap(descriptor, size)
