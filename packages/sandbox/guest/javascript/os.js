import { File, openFile } from "./file.js";
import { absolute, ask, askForParts, isFailure, setWorkingDirectory, workingDirectory } from "./paths.js";
import {
  host,
  MapOf,
  mapDelete,
  mapGet,
  mapSet,
  mapSize,
  mathMax,
  NumberOf,
  PromiseOf,
  StringOf,
} from "./primordials.js";
import { clearTimer, setTimer } from "./timers.js";
import { NO_NETWORK, NO_PROCESSES, NO_SIGNALS, NO_TERMINAL, NO_THREADS, unavailable } from "./unavailable.js";

const EBADF = 9;
const EMFILE = 24;
const ENOTDIR = 20;
const MOST_OPEN = 100;
const FIRST_DESCRIPTOR = 3;

export const platform = "wasi";
export const O_RDONLY = 0;
export const O_WRONLY = 1;
export const O_RDWR = 2;
export const O_CREAT = 0o100;
export const O_EXCL = 0o200;
export const O_TRUNC = 0o1000;
export const O_APPEND = 0o2000;
export const S_IFMT = 0o170000;
export const S_IFCHR = 0o020000;
export const S_IFDIR = 0o040000;
export const S_IFREG = 0o100000;
export const S_IFLNK = 0o120000;

const MODES = {
  __proto__: null,
  file: S_IFREG | 0o644,
  directory: S_IFDIR | 0o755,
  symlink: S_IFLNK | 0o777,
  device: S_IFCHR | 0o666,
};

export function getcwd() {
  return [workingDirectory(), 0];
}

export function chdir(path) {
  const found = askForParts("stat", path);
  if (isFailure(found)) return found;
  if (found.kind !== "directory") return -ENOTDIR;
  const real = ask("realpath", path);
  if (isFailure(real)) return real;
  setWorkingDirectory(real);
  return 0;
}

export function realpath(path) {
  const real = ask("realpath", path);
  return isFailure(real) ? ["", -real] : [real, 0];
}

/** `[list, errno]`: an array of two, not the list itself. */
export function readdir(path) {
  const list = askForParts("list", path);
  return isFailure(list) ? [[], -list] : [list, 0];
}

export function stat(path) {
  return describe("stat", path);
}

export function lstat(path) {
  return describe("lstat", path);
}

function describe(operation, path) {
  const found = askForParts(operation, path);
  if (isFailure(found)) return [null, -found];
  const { kind, device, inode, links, size, accessed, modified, changed } = found;
  const mode = MODES[kind];
  const blocks = (size + 511 - ((size + 511) % 512)) / 512;
  const described = { dev: device, ino: inode, mode, nlink: links, uid: 0, gid: 0, rdev: 0, size, blocks };
  return [{ ...described, atime: accessed, mtime: modified, ctime: changed }, 0];
}

export function mkdir(path, _mode) {
  return ask("mkdir", path);
}

export function remove(path) {
  return ask("remove", path);
}

export function rename(from, to) {
  return ask("rename", from, absolute(to));
}

export function symlink(target, path) {
  return ask("symlink", path, StringOf(target));
}

export function readlink(path) {
  const target = ask("readlink", path);
  return isFailure(target) ? ["", -target] : [target, 0];
}

const opened = new MapOf();

export function open(path, flags = O_RDONLY, _mode = 0o666) {
  if (mapSize(opened) >= MOST_OPEN) return -EMFILE;
  const file = openFile(path, accessBy(NumberOf(flags)));
  if (isFailure(file)) return file;
  let descriptor = FIRST_DESCRIPTOR;
  while (mapGet(opened, descriptor) !== undefined) descriptor++;
  mapSet(opened, descriptor, file);
  return descriptor;
}

function accessBy(flags) {
  const access = flags & 3;
  return {
    how: (flags & O_CREAT) === 0 ? "existing" : (flags & O_EXCL) === 0 ? "any" : "new",
    truncates: (flags & O_TRUNC) !== 0,
    canRead: access !== O_WRONLY,
    canWrite: access !== O_RDONLY,
    appends: (flags & O_APPEND) !== 0,
  };
}

const STREAMS = { __proto__: null, 1: 1, 2: 2 };

function streamOf(descriptor) {
  const stream = STREAMS[descriptor];
  if (stream === undefined) return mapGet(opened, descriptor);
  return new File({ path: "", stream, canRead: false, canWrite: true, appends: false });
}

export function close(descriptor) {
  return mapDelete(opened, descriptor) ? 0 : -EBADF;
}

export function read(descriptor, buffer, offset, length) {
  const file = streamOf(descriptor);
  return file === undefined ? -EBADF : readFrom(file, buffer, offset, length);
}

export function write(descriptor, buffer, offset, length) {
  const file = streamOf(descriptor);
  return file === undefined ? -EBADF : writeTo(file, buffer, offset, length);
}

export function seek(descriptor, offset, whence) {
  const file = streamOf(descriptor);
  if (file === undefined) return -EBADF;
  const answer = seekIn(file, NumberOf(offset), whence);
  return answer < 0 ? answer : tellOf(file);
}

// Taken off the prototype here: a program can reach the prototype through any file that it opens.
const { read: fileRead, write: fileWrite, seek: fileSeek, tell: fileTell } = File.prototype;
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
const readFrom = uncurry(fileRead);
const writeTo = uncurry(fileWrite);
const seekIn = uncurry(fileSeek);
const tellOf = uncurry(fileTell);

export function isatty(_descriptor) {
  return false;
}

export function ttyGetWinSize(_descriptor) {
  return null;
}

export function now() {
  return host.milliseconds();
}

export function sleep(milliseconds) {
  host.sleep(mathMax(0, NumberOf(milliseconds) || 0));
}

export function sleepAsync(milliseconds) {
  return new PromiseOf((resolve) => {
    setTimer(resolve, milliseconds);
  });
}

export { clearTimer as clearTimeout, setTimer as setTimeout };

export function getpid() {
  return 1;
}

export const exec = unavailable("os.exec", NO_PROCESSES);
export const waitpid = unavailable("os.waitpid", NO_PROCESSES);
export const pipe = unavailable("os.pipe", NO_PROCESSES);
export const dup = unavailable("os.dup", "open the file again");
export const dup2 = unavailable("os.dup2", "open the file again");
export const kill = unavailable("os.kill", NO_PROCESSES);
export const signal = unavailable("os.signal", NO_SIGNALS);
export const ttySetRaw = unavailable("os.ttySetRaw", NO_TERMINAL);
export const setReadHandler = unavailable("os.setReadHandler", NO_TERMINAL);
export const setWriteHandler = unavailable("os.setWriteHandler", NO_TERMINAL);
export const utimes = unavailable("os.utimes", "the times of files are kept by the host");
export const connect = unavailable("os.connect", NO_NETWORK);
export const listen = unavailable("os.listen", NO_NETWORK);
export const socket = unavailable("os.socket", NO_NETWORK);
export const WNOHANG = 1;
export const SIGINT = 2;
export const SIGTERM = 15;

/** `new os.Worker(...)` has to say what is missing, so it is a function that can be called with `new`. */
export const Worker = function Worker() {
  unavailable("os.Worker", NO_THREADS)();
};
