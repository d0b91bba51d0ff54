import { clearCalls, installCalls, settle } from "./calls.js";
import { installConsole, resetConsole } from "./console.js";
import { installEncoding } from "./encoding.js";
import { showSafely } from "./format.js";
import * as os from "./os.js";
import { dataProperty, define, getPrototypeOf, host, InternalErrorOf, jsonParse } from "./primordials.js";
import * as std from "./std.js";
import { clearTimers, fireTimer, installTimers, nextTimer } from "./timers.js";

const internalError = InternalErrorOf.prototype;

/** Whether the engine has thrown this because there was no memory left. */
function isOutOfMemory(error) {
  if (host.kindOf(error) !== "error" || getPrototypeOf(error) !== internalError) return false;
  return dataProperty(error, "message") === "out of memory";
}

/** Lets go of everything a program that has ended was still waiting for. */
function finish() {
  clearTimers();
  clearCalls();
  resetConsole();
}

installConsole();
installTimers();
installCalls();
installEncoding();
// As `qjs --std` has them.
define(globalThis, "std", std);
define(globalThis, "os", os);

/** Gives a program its arguments. */
function prepare(text) {
  define(globalThis, "scriptArgs", jsonParse(text));
}

prepare("[]");

host.expose("settle", settle);
host.expose("nextTimer", nextTimer);
host.expose("fireTimer", fireTimer);
host.expose("show", showSafely);
host.expose("isOutOfMemory", isOutOfMemory);
host.expose("finish", finish);
host.expose("prepare", prepare);
