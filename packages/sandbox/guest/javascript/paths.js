// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import { ErrorOf, host, jsonParse, StringOf, stringStartsWith } from "./primordials.js";

const HOME = "/app";
const LONGEST_PATH = 4096;
const ENAMETOOLONG = 36;

let current = HOME;

export function workingDirectory() {
  return current;
}

export function setWorkingDirectory(path) {
  current = path;
}

/** A path from the root on. Dots stay in it: only the host knows which names are symbolic links. */
export function absolute(path) {
  const text = StringOf(path);
  return stringStartsWith(text, "/") ? text : (current === "/" ? "" : current) + "/" + text;
}

/** Asks the host for something about its files; a number below zero is an error, as in C. */
export function ask(operation, path, first, second) {
  const full = absolute(path);
  if (full.length > LONGEST_PATH) return -ENAMETOOLONG;
  return host.files(operation, full, first, second);
}

export function isFailure(answer) {
  return typeof answer === "number" && answer < 0;
}

/** The same for answers that have parts. */
export function askForParts(operation, path) {
  const answer = ask(operation, path);
  return isFailure(answer) ? answer : jsonParse(answer);
}

/** An error with its number and its code, as QuickJS throws it. */
export function failure(errno, about) {
  const made = new ErrorOf(messageOf(errno) + ": " + about);
  made.errno = errno;
  return made;
}

const MESSAGES = {
  __proto__: null,
  1: "Operation not permitted",
  2: "No such file or directory",
  5: "I/O error",
  9: "Bad file descriptor",
  12: "Out of memory",
  13: "Permission denied",
  16: "Resource busy",
  17: "File exists",
  18: "Cross-device link",
  20: "Not a directory",
  21: "Is a directory",
  22: "Invalid argument",
  24: "No file descriptors available",
  27: "File too large",
  28: "No space left on device",
  30: "Read-only file system",
  32: "Broken pipe",
  36: "Filename too long",
  38: "Function not implemented",
  39: "Directory not empty",
  40: "Symbolic link loop",
  95: "Not supported",
};

export function messageOf(errno) {
  return MESSAGES[errno] ?? "Error " + errno;
}
