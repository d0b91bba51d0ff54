/** Numbers of WASI preview 1 that several calls share. */
import type { InodeKind } from "./inode.js";

/** How a kind of inode is numbered in stat structures and directory entries. */
export const FILE_TYPES: Readonly<Record<InodeKind, number>> = { device: 2, directory: 3, file: 4, symlink: 7 };

export const FD_APPEND = 1;
export const FD_FLAGS_MASK = 0x1f;

export const OPEN_CREATE = 1;
export const OPEN_DIRECTORY = 2;
export const OPEN_EXCLUSIVE = 4;
export const OPEN_TRUNCATE = 8;
export const OPEN_MASK = 0xf;

export const LOOKUP_FOLLOW = 1;

export const SET_ACCESSED = 1;
export const SET_ACCESSED_NOW = 2;
export const SET_MODIFIED = 4;
export const SET_MODIFIED_NOW = 8;
export const SET_TIMES_MASK = 0xf;

export const CLOCK_REALTIME = 0;
/** Running time follows, then process and thread time; a guest has one thread, and they read as running time. */
export const CLOCK_COUNT = 4;

/** As many vectors as a POSIX system takes in one call. */
export const MAX_VECTORS = 1024;
export const MAX_PATH_BYTES = 4096;
export const MAX_NAME_BYTES = 255;
