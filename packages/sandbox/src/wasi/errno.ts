/** What can go wrong: the number in WASI preview 1, the number on Linux, and what it says. */
const ERRORS = {
  E2BIG: [1, 7, "the list is too long"],
  EACCES: [2, 13, "access is not allowed"],
  EAGAIN: [6, 11, "nothing is there yet"],
  EBADF: [8, 9, "the descriptor is not open, or not of this kind"],
  EBUSY: [10, 16, "a mount or a device is there"],
  EEXIST: [20, 17, "the name is taken"],
  EFAULT: [21, 14, "the address lies outside of the guest's memory"],
  EFBIG: [22, 27, "the file would be too large"],
  EILSEQ: [25, 84, "the name is not valid UTF-8"],
  EINVAL: [28, 22, "the argument is not valid"],
  EIO: [29, 5, "input or output failed"],
  EISDIR: [31, 21, "it is a directory"],
  ELOOP: [32, 40, "too many symbolic links"],
  EMFILE: [33, 24, "too many descriptors are open"],
  EMLINK: [34, 31, "too many links"],
  ENAMETOOLONG: [37, 36, "the name is too long"],
  ENOENT: [44, 2, "no such file or directory"],
  ENOMEM: [48, 12, "the host has no memory for it"],
  ENOSPC: [51, 28, "the limit of bytes written or of files is reached"],
  ENOSYS: [52, 38, "there is no such call"],
  ENOTDIR: [54, 20, "it is not a directory"],
  ENOTEMPTY: [55, 39, "the directory is not empty"],
  ENOTSOCK: [57, 88, "it is not a socket"],
  ENOTSUP: [58, 95, "it is not supported here"],
  EOVERFLOW: [61, 75, "the number is too large"],
  EPERM: [63, 1, "it is outside of what was opened to the guest"],
  EROFS: [69, 30, "it is read-only"],
  ESPIPE: [70, 29, "it has no position"],
  ESTALE: [72, 116, "the file is no longer there"],
  EXDEV: [75, 18, "it lies on another mount"],
  ENOTCAPABLE: [76, 1, "the descriptor was opened without the right to it"],
} as const;

export type ErrnoName = keyof typeof ERRORS;

/** The answer of a call that went well. */
export const SUCCESS = 0;

/** The number that a WASI call answers with. */
export function wasiErrno(name: ErrnoName): number {
  return ERRORS[name][0];
}

/**
 * A file system call that failed. `name` is the code, `errno` its number on Linux, which is also what QuickJS's `os`
 * module gives back; `wasiErrno` is the number that a WASI guest sees.
 */
export class FsError extends Error {
  override readonly name: ErrnoName;
  readonly errno: number;
  readonly wasiErrno: number;

  constructor(name: ErrnoName, about = "") {
    const [wasi, linux, text] = ERRORS[name];
    super(`${name}: ${text}${about === "" ? "" : `: ${about}`}`);
    this.name = name;
    this.errno = linux;
    this.wasiErrno = wasi;
  }
}

/**
 * A failure that happens all the time and goes to the guest as a number, such as a name that is not there. It is made
 * without a stack trace, which would cost more than everything else in the call.
 */
export function commonError(name: ErrnoName): FsError {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return new FsError(name);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The same failure, for a caller who has to be told which path it was about. */
export function aboutPath(error: unknown, path: string): unknown {
  return error instanceof FsError ? new FsError(error.name, path) : error;
}

/** What a failure of the host's own file system means to the guest; no path of the host is passed on. */
export function fromHostError(error: unknown): FsError {
  if (error instanceof FsError) return error;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ERR_ACCESS_DENIED") return new FsError("EACCES");
  return new FsError(typeof code === "string" && isErrnoName(code) ? code : "EIO");
}

/** Runs a call of the host's file system, or of a tree; its failure fails the guest's call, and nothing more. */
export function onHost<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromHostError(error);
  }
}

function isErrnoName(code: string): code is ErrnoName {
  return Object.hasOwn(ERRORS, code);
}
