// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import { bytesOf } from "./encoding.js";
import { accessOf, File, openFile } from "./file.js";
import { ask, failure, isFailure, messageOf } from "./paths.js";
import {
  apply,
  bare,
  define,
  freeze,
  host,
  jsonParse,
  MapOf,
  mapDelete,
  mapForEach,
  mapGet,
  mapSet,
  mapSize,
  mathTrunc,
  NumberOf,
  RangeErrorOf,
  StringOf,
} from "./primordials.js";
import { sprintf } from "./printf.js";
import { NO_NETWORK, NO_PROCESSES, unavailable } from "./unavailable.js";

const MOST_VARIABLES = 1000;
const WRITES_AND_TRUNCATES = 3;
const LONGEST_FILE = 64 * 1024 * 1024;

export const SEEK_SET = 0;
export const SEEK_CUR = 1;
export const SEEK_END = 2;

const ErrorCodes = freeze(
  bare({
    EPERM: 1,
    ENOENT: 2,
    EIO: 5,
    EBADF: 9,
    ENOMEM: 12,
    EACCES: 13,
    EBUSY: 16,
    EEXIST: 17,
    EXDEV: 18,
    ENOTDIR: 20,
    EISDIR: 21,
    EINVAL: 22,
    EMFILE: 24,
    EFBIG: 27,
    ENOSPC: 28,
    EROFS: 30,
    EPIPE: 32,
    ENAMETOOLONG: 36,
    ENOSYS: 38,
    ENOTEMPTY: 39,
    ELOOP: 40,
    strerror: (errno) => messageOf(NumberOf(errno)),
  }),
);

const standardIn = new File({ path: "", stream: 0, canRead: true, canWrite: false, appends: false });
const standardOut = new File({ path: "", stream: 1, canRead: false, canWrite: true, appends: false });
const standardErr = new File({ path: "", stream: 2, canRead: false, canWrite: true, appends: false });

// What `std.in` reads from is set by the host alone, so the way to do it is taken off the class.
const feed = File.feed;
delete File.feed;
host.expose("feed", (bytes) => feed(standardIn, bytes));

export { ErrorCodes as Error, standardErr as err, standardIn as in, standardOut as out };

/** Tells the caller of a function of QuickJS what went wrong, in the object that it passed for that. */
function tell(into, errno) {
  if (typeof into === "object" && into !== null) define(into, "errno", errno);
}

export function open(path, mode, errorObj) {
  const opened = openFile(path, accessOf(mode));
  tell(errorObj, isFailure(opened) ? -opened : 0);
  return isFailure(opened) ? null : opened;
}

export const fdopen = unavailable("std.fdopen", "use std.open");
export const tmpfile = unavailable("std.tmpfile", "open a file under /app or /tmp");
export const popen = unavailable("std.popen", NO_PROCESSES);
export const urlGet = unavailable("std.urlGet", NO_NETWORK);

export function loadFile(path, options) {
  const size = ask("size", path);
  if (isFailure(size)) return null;
  if (size > LONGEST_FILE)
    throw new RangeErrorOf("the file has " + size + " bytes; " + LONGEST_FILE + " can be loaded at once");
  const bytes = ask("read", path, 0, size);
  if (isFailure(bytes)) return null;
  return options?.binary === true ? bytes : host.decode(bytes);
}

export function writeFile(path, content) {
  const bytes = typeof content === "string" ? host.encode(content) : bytesOf(content);
  const opened = ask("open", path, "any", WRITES_AND_TRUNCATES);
  const answer = isFailure(opened) ? opened : ask("write", path, 0, bytes);
  if (isFailure(answer)) throw failure(-answer, StringOf(path));
}

export function exit(code = 0) {
  host.exit(mathTrunc(NumberOf(code)) | 0);
}

export function gc() {
  host.collectGarbage();
}

export function evalScript(code, _options) {
  return host.evaluate(StringOf(code), "<evalScript>");
}

export function loadScript(path) {
  const source = loadFile(path);
  if (source === null) throw failure(ErrorCodes.ENOENT, StringOf(path));
  return host.evaluate(source, StringOf(path));
}

export { sprintf };

export function puts(...values) {
  for (let index = 0; index < values.length; index++) host.write(1, StringOf(values[index]));
}

export function printf(...args) {
  const text = apply(sprintf, undefined, args);
  host.write(1, text);
  return text.length;
}

export function strerror(errno) {
  return messageOf(NumberOf(errno));
}

export function parseExtJSON(text) {
  return jsonParse(StringOf(text));
}

/** What the program has set itself; null marks a variable that it has removed. */
const changed = new MapOf();

export function getenv(name) {
  const own = mapGet(changed, StringOf(name));
  return own === undefined ? host.environment(StringOf(name)) : (own ?? undefined);
}

export function setenv(name, value) {
  if (mapSize(changed) >= MOST_VARIABLES) throw new RangeErrorOf("more than " + MOST_VARIABLES + " variables were set");
  mapSet(changed, StringOf(name), StringOf(value));
}

export function unsetenv(name) {
  if (mapSize(changed) >= MOST_VARIABLES) mapDelete(changed, StringOf(name));
  else mapSet(changed, StringOf(name), null);
}

export function getenviron() {
  const all = jsonParse(host.environment());
  mapForEach(changed, (value, name) => {
    if (value === null) delete all[name];
    else define(all, name, value);
  });
  return all;
}
