// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import { indent } from "./describe.js";
import { format, showSafely } from "./format.js";
import { isObject } from "./inspect.js";
import {
  append,
  arrayIsArray,
  arrayJoin,
  dataProperty,
  define,
  ErrorOf,
  host,
  MapOf,
  mapDelete,
  mapGet,
  mapHas,
  mapSet,
  mapSize,
  mathMax,
  newList,
  ownKeys,
  StringOf,
  stringPadEnd,
  stringRepeat,
} from "./primordials.js";

const OUT = 1;
const ERR = 2;
const MOST_LABELS = 1000;
const MOST_ROWS = 1000;
const DEEPEST_GROUP = 100;

const counts = new MapOf();
const timers = new MapOf();
let depth = 0;

function say(stream, text) {
  const margin = stringRepeat("  ", depth);
  host.write(stream, depth === 0 ? text + "\n" : margin + indent(text, margin.length) + "\n");
}

const toOut = (...args) => say(OUT, format(args));
const toErr = (...args) => say(ERR, format(args));

const methods = {
  __proto__: null,
  log: toOut,
  info: toOut,
  debug: toOut,
  warn: toErr,
  error: toErr,
  dir: (value) => say(OUT, showSafely(value)),
  dirxml: toOut,
  assert(condition, ...args) {
    if (condition) return;
    if (args.length === 0) say(ERR, "Assertion failed");
    else if (typeof args[0] === "string") say(ERR, "Assertion failed: " + format(args));
    else say(ERR, "Assertion failed " + format(args));
  },
  trace(...args) {
    const text = format(args);
    say(ERR, "Trace" + (text === "" ? "" : ": " + text) + "\n" + new ErrorOf().stack);
  },
  group(...args) {
    if (args.length > 0) say(OUT, format(args));
    if (depth < DEEPEST_GROUP) depth++;
  },
  groupEnd() {
    if (depth > 0) depth--;
  },
  count(label = "default") {
    const name = StringOf(label);
    const count = (mapGet(counts, name) ?? 0) + 1;
    if (mapSize(counts) < MOST_LABELS || mapHas(counts, name)) mapSet(counts, name, count);
    say(OUT, name + ": " + count);
  },
  countReset(label = "default") {
    mapDelete(counts, StringOf(label));
  },
  time(label = "default") {
    if (mapSize(timers) < MOST_LABELS) mapSet(timers, StringOf(label), host.milliseconds());
  },
  timeLog(label = "default", ...args) {
    const name = StringOf(label);
    const started = mapGet(timers, name);
    if (started === undefined) return;
    say(OUT, name + ": " + (host.milliseconds() - started) + "ms" + (args.length === 0 ? "" : " " + format(args)));
  },
  timeEnd(label = "default") {
    methods.timeLog(label);
    mapDelete(timers, StringOf(label));
  },
  table(data) {
    say(OUT, isObject(data) ? table(data) : showSafely(data));
  },
};

/** Rows and columns of an object of objects, or of a list of lists; what is neither has a column of its own. */
function table(data) {
  const rowKeys = plainKeys(data);
  const columns = newList();
  append(columns, INDEX);
  const rows = newList();
  let hasValues = false;
  for (let index = 0; index < rowKeys.length && index < MOST_ROWS; index++) {
    const row = dataProperty(data, rowKeys[index]);
    const cells = { __proto__: null, [INDEX]: rowKeys[index] };
    if (isObject(row)) {
      const keys = plainKeys(row);
      for (let at = 0; at < keys.length && at < MOST_ROWS; at++) {
        if (!contains(columns, keys[at])) append(columns, keys[at]);
        cells[keys[at]] = showSafely(dataProperty(row, keys[at]), 0);
      }
    } else {
      hasValues = true;
      cells[VALUES] = showSafely(row);
    }
    append(rows, cells);
  }
  if (hasValues) append(columns, VALUES);
  return draw(columns, rows);
}

const INDEX = "(index)";
const VALUES = "Values";

function plainKeys(value) {
  const keys = ownKeys(value);
  const kept = newList();
  const isList = arrayIsArray(value);
  for (let index = 0; index < keys.length && kept.length < MOST_ROWS; index++) {
    if (typeof keys[index] === "string" && !(isList && keys[index] === "length")) append(kept, keys[index]);
  }
  return kept;
}

function contains(list, wanted) {
  for (let index = 0; index < list.length; index++) if (list[index] === wanted) return true;
  return false;
}

function draw(columns, rows) {
  const widths = newList();
  for (let column = 0; column < columns.length; column++) {
    let width = columns[column].length;
    for (let row = 0; row < rows.length; row++) width = mathMax(width, (rows[row][columns[column]] ?? "").length);
    append(widths, width + 2);
  }
  const bar = (left, middle, right) => {
    const pieces = newList();
    for (let column = 0; column < widths.length; column++) append(pieces, stringRepeat("─", widths[column]));
    return left + arrayJoin(pieces, middle) + right;
  };
  const line = (textOf) => {
    const pieces = newList();
    for (let column = 0; column < widths.length; column++) {
      append(pieces, stringPadEnd(" " + textOf(columns[column]), widths[column], " "));
    }
    return "│" + arrayJoin(pieces, "│") + "│";
  };
  const lines = newList();
  append(lines, bar("┌", "┬", "┐"));
  append(
    lines,
    line((column) => column),
  );
  append(lines, bar("├", "┼", "┤"));
  for (let row = 0; row < rows.length; row++)
    append(
      lines,
      line((column) => rows[row][column] ?? ""),
    );
  append(lines, bar("└", "┴", "┘"));
  return arrayJoin(lines, "\n");
}

/** Forgets the indentation of a program that has ended in the middle of a group. */
export function resetConsole() {
  depth = 0;
}

export function installConsole() {
  const made = {};
  const names = ownKeys(methods);
  for (let index = 0; index < names.length; index++) define(made, names[index], methods[names[index]]);
  define(globalThis, "console", made);
  define(globalThis, "print", toOut);
}
