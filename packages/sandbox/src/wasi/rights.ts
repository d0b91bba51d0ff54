/** What a descriptor may be used for, as bits in the order of WASI preview 1; thirty of them, so a number holds them. */
export const FD_DATASYNC: number = 1 << 0;
export const FD_READ: number = 1 << 1;
export const FD_SEEK: number = 1 << 2;
export const FD_FDSTAT_SET_FLAGS: number = 1 << 3;
export const FD_SYNC: number = 1 << 4;
export const FD_TELL: number = 1 << 5;
export const FD_WRITE: number = 1 << 6;
export const FD_ADVISE: number = 1 << 7;
export const FD_ALLOCATE: number = 1 << 8;
export const PATH_CREATE_DIRECTORY: number = 1 << 9;
export const PATH_CREATE_FILE: number = 1 << 10;
export const PATH_LINK_SOURCE: number = 1 << 11;
export const PATH_LINK_TARGET: number = 1 << 12;
export const PATH_OPEN: number = 1 << 13;
export const FD_READDIR: number = 1 << 14;
export const PATH_READLINK: number = 1 << 15;
export const PATH_RENAME_SOURCE: number = 1 << 16;
export const PATH_RENAME_TARGET: number = 1 << 17;
export const PATH_FILESTAT_GET: number = 1 << 18;
export const PATH_FILESTAT_SET_SIZE: number = 1 << 19;
export const PATH_FILESTAT_SET_TIMES: number = 1 << 20;
export const FD_FILESTAT_GET: number = 1 << 21;
export const FD_FILESTAT_SET_SIZE: number = 1 << 22;
export const FD_FILESTAT_SET_TIMES: number = 1 << 23;
export const PATH_SYMLINK: number = 1 << 24;
export const PATH_REMOVE_DIRECTORY: number = 1 << 25;
export const PATH_UNLINK_FILE: number = 1 << 26;
export const POLL_FD_READWRITE: number = 1 << 27;

/** What changes a file, and so is never granted on a read-only one. */
export const CHANGES: number = FD_WRITE | FD_ALLOCATE | FD_FILESTAT_SET_SIZE;

export const FILE_RIGHTS: number =
  FD_DATASYNC |
  FD_READ |
  FD_SEEK |
  FD_FDSTAT_SET_FLAGS |
  FD_SYNC |
  FD_TELL |
  FD_WRITE |
  FD_ADVISE |
  FD_ALLOCATE |
  FD_FILESTAT_GET |
  FD_FILESTAT_SET_SIZE |
  FD_FILESTAT_SET_TIMES |
  POLL_FD_READWRITE;

export const DIRECTORY_RIGHTS: number =
  FD_FDSTAT_SET_FLAGS |
  FD_SYNC |
  FD_DATASYNC |
  PATH_CREATE_DIRECTORY |
  PATH_CREATE_FILE |
  PATH_LINK_SOURCE |
  PATH_LINK_TARGET |
  PATH_OPEN |
  FD_READDIR |
  PATH_READLINK |
  PATH_RENAME_SOURCE |
  PATH_RENAME_TARGET |
  PATH_FILESTAT_GET |
  PATH_FILESTAT_SET_SIZE |
  PATH_FILESTAT_SET_TIMES |
  FD_FILESTAT_GET |
  FD_FILESTAT_SET_TIMES |
  PATH_SYMLINK |
  PATH_REMOVE_DIRECTORY |
  PATH_UNLINK_FILE |
  POLL_FD_READWRITE;

/** A device has no position; a C library takes one without the rights to seek and tell for a terminal. */
export const TERMINAL_RIGHTS: number =
  FD_READ | FD_WRITE | FD_FDSTAT_SET_FLAGS | FD_FILESTAT_GET | FD_SYNC | FD_DATASYNC | POLL_FD_READWRITE;

/** With the right to tell, which then answers that there is no position, a device is no terminal. */
export const DEVICE_RIGHTS: number = TERMINAL_RIGHTS | FD_TELL | FD_SEEK;

export const ALL_RIGHTS: number = FILE_RIGHTS | DIRECTORY_RIGHTS;

const KNOWN = 0x3fff_ffffn;

/** Rights as a guest passes them; bits that nobody has defined are dropped. */
export function rightsOf(bits: bigint): number {
  return Number(bits & KNOWN);
}
