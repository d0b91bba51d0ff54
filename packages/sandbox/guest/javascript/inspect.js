// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import {
  describeConstructor,
  describeError,
  describeFunction,
  isBoxedString,
  isTypedArray,
  valueOfBoxed,
} from "./describe.js";
import { layOut } from "./layout.js";
import {
  append,
  bigIntToString,
  bufferByteLength,
  dataProperty,
  dateToIso,
  dateValueOf,
  getOwnPropertyDescriptor,
  hasOwn,
  host,
  isEnumerable,
  mapForEach,
  mapSize,
  NumberOf,
  newList,
  numberIsNaN,
  numberToString,
  objectIs,
  objectKeys,
  objectSymbols,
  ownKeys,
  regexpExec,
  regexpToString,
  StringOf,
  setForEach,
  setSize,
  stringPadStart,
  stringSlice,
  symbolToString,
  typedArrayLength,
  Uint8ArrayOf,
} from "./primordials.js";
import { isIdentifier, quote, quoteWithin } from "./text.js";

const DEPTH = 2;
const MOST_ITEMS = 100;
const MOST_KEYS = 1000;
const MOST_BYTES = 50;
const MOST_LOOKED_AT = 10_000;
const MOST_PROXIES = 100;
/** How many characters one value may come to, roughly; what is left out then is said. */
const MOST_CHARACTERS = 200_000;
const HIDDEN_KEYS = ["cause", "errors"];
const INDEX = /^(?:0|[1-9][0-9]{0,9})$/;

/** A value as text, the way Node shows it. Runs no getters; the traps of a proxy are passed by. */
export function inspect(value, depth = DEPTH) {
  const state = { depth, deepest: 0, indentation: 0, room: MOST_CHARACTERS, outer: null, circles: null };
  return show(state, value, 0);
}

function show(state, value, depth) {
  const text = isObject(value) ? showObject(state, value, depth) : showPrimitive(state, value);
  state.room -= text.length;
  return text;
}

export function isObject(value) {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function showPrimitive(state, value) {
  switch (typeof value) {
    case "string":
      return quoteWithin(value, state.indentation);
    case "number":
      return objectIs(value, -0) ? "-0" : numberToString(value);
    case "bigint":
      return bigIntToString(value) + "n";
    case "symbol":
      return symbolToString(value);
    default:
      return "" + value;
  }
}

function showObject(state, proxied, depth) {
  let value = proxied;
  let kind = host.kindOf(value);
  for (let times = 0; kind === "proxy"; times++) {
    if (times === MOST_PROXIES) return "[Proxy]";
    value = host.proxyTarget(value);
    if (!isObject(value)) return "<Revoked Proxy>";
    kind = host.kindOf(value);
  }
  for (let outer = state.outer; outer !== null; outer = outer.outer) {
    if (outer.value === value) return "[Circular *" + circleOf(state, value) + "]";
  }
  if (state.room < 0) return "[...]";
  return showRaw(state, value, kind, depth);
}

/** The number of an object that contains itself; the numbers are given in the order of meeting. */
function circleOf(state, value) {
  for (let circle = state.circles; circle !== null; circle = circle.next) {
    if (circle.value === value) return circle.number;
  }
  const number = (state.circles?.number ?? 0) + 1;
  state.circles = { value, number, next: state.circles };
  return number;
}

function isCircle(state, value) {
  for (let circle = state.circles; circle !== null; circle = circle.next) if (circle.value === value) return true;
  return false;
}

function showRaw(state, value, kind, depth) {
  const keys = enumerableKeys(value, kind === "array" || isTypedArray(value) || isBoxedString(value));
  const shape = shapeOf(state, value, kind, keys);
  const items = shape.items;
  if (keys.length === 0 && shape.alone !== null) return shape.alone;
  if (depth > state.depth) return shape.name[0] === "[" ? shape.name : "[" + shape.name + "]";
  state.outer = { value, outer: state.outer };
  state.deepest = depth;
  const output = newList();
  if (items !== null) items(output, depth + 1);
  showKeys(state, value, keys, output, depth + 1);
  state.outer = state.outer.outer;
  let base = shape.base;
  if (isCircle(state, value)) {
    const reference = "<ref *" + circleOf(state, value) + ">";
    base = base === "" ? reference : reference + " " + base;
  }
  if (output.length === 0) return (base === "" ? "" : base + " ") + shape.open + shape.close;
  return layOut(state, {
    output,
    base,
    open: shape.open,
    close: shape.close,
    isList: shape.isList,
    values: kind === "array" ? dataOf(value, output.length) : undefined,
    hasMore: shape.length > MOST_ITEMS,
    depth,
  });
}

/** The elements as far as they are plain data: a getter among them is not run. */
function dataOf(value, count) {
  const values = newList();
  for (let index = 0; index < count; index++) append(values, dataProperty(value, index));
  return values;
}

function enumerableKeys(value, isList) {
  const kept = newList();
  // A list that long is shown without the names that it may have beside its elements.
  const keys = isList && value.length > MOST_LOOKED_AT ? newList() : objectKeys(value);
  for (let index = 0; index < keys.length; index++) {
    if (!isList || regexpExec(INDEX, keys[index]) === null) append(kept, keys[index]);
  }
  const symbols = objectSymbols(value);
  for (let index = 0; index < symbols.length; index++) {
    if (isEnumerable(value, symbols[index])) append(kept, symbols[index]);
  }
  return kept;
}

/** What stands around the parts of an object, what stands for one without parts, and how to show its parts. */
function shapeOf(state, value, kind, keys) {
  const name = describeConstructor(value, kind === "array" ? "Array" : "Object");
  switch (kind) {
    case "array":
      return listShape(name, value.length, name === "Array", arrayItems(state, value));
    case "map":
      return objectShape(
        name,
        name + "(" + mapSize(value) + ") {",
        mapSize(value) === 0 ? null : mapItems(state, value),
      );
    case "set":
      return objectShape(
        name,
        name + "(" + setSize(value) + ") {",
        setSize(value) === 0 ? null : setItems(state, value),
      );
    case "function":
      return textShape(describeFunction(value), null);
    case "error":
      return textShape(describeError(value, state.indentation), errorItems(state, value, keys));
    case "regexp":
      return textShape(regexpToString(value), null);
    case "date":
      return textShape(numberIsNaN(dateValueOf(value)) ? "Invalid Date" : dateToIso(value), null);
    case "promise":
      return objectShape(name, name + " {", promiseItems(state, value));
    case "weakmap":
    case "weakset":
      return objectShape(name, name + " {", (output) => append(output, "<items unknown>"));
    case "weakref":
      return objectShape(name, name + " {", (output) => append(output, "<ref>"));
    case "arraybuffer":
      return objectShape(name, name + " {", bufferItems(value));
    default:
      return otherShape(value, name);
  }
}

function otherShape(value, name) {
  if (isTypedArray(value)) return listShape(name, typedArrayLength(value), false, typedItems(value));
  const boxed = valueOfBoxed(value, name);
  if (boxed !== undefined) return textShape("[" + name + ": " + inspect(boxed) + "]", null);
  return objectShape(name, name === "Object" ? "{" : name + " {", null);
}

function objectShape(name, open, items) {
  return {
    base: "",
    open,
    close: "}",
    name,
    items,
    alone: items === null ? open + "}" : null,
    isList: false,
    length: 0,
  };
}

function textShape(text, items) {
  return {
    base: text,
    open: "{",
    close: "}",
    name: text,
    items,
    alone: items === null ? text : null,
    isList: false,
    length: 0,
  };
}

function listShape(name, length, isPlain, items) {
  const open = isPlain ? "[" : name + "(" + length + ") [";
  return {
    base: "",
    open,
    close: "]",
    name,
    items,
    alone: length === 0 ? open + "]" : null,
    isList: true,
    length,
  };
}

function more(count, noun) {
  return "... " + count + " more " + noun + (count > 1 ? "s" : "");
}

function within(state, value, depth) {
  state.indentation += 2;
  const text = show(state, value, depth);
  state.indentation -= 2;
  return text;
}

function arrayItems(state, value) {
  return (output, depth) => {
    const length = value.length;
    let index = 0;
    let keys;
    let at = 0;
    while (index < length && output.length < MOST_ITEMS) {
      const shown = showOwn(state, value, index, depth);
      if (shown !== undefined) {
        append(output, shown);
        index++;
        continue;
      }
      const start = index;
      keys ??= ownKeys(value);
      while (at < keys.length && isBefore(keys[at], start)) at++;
      index = at < keys.length && regexpExec(INDEX, StringOf(keys[at])) !== null ? NumberOf(keys[at]) : length;
      append(output, "<" + (index - start) + " empty item" + (index - start > 1 ? "s" : "") + ">");
    }
    if (index < length) append(output, more(length - index, "item"));
  };
}

function isBefore(key, index) {
  return typeof key === "string" && regexpExec(INDEX, key) !== null && NumberOf(key) < index;
}

function typedItems(value) {
  return (output) => {
    const length = typedArrayLength(value);
    for (let index = 0; index < length && index < MOST_ITEMS; index++) {
      append(output, typeof value[index] === "bigint" ? value[index] + "n" : numberToString(value[index]));
    }
    if (length > MOST_ITEMS) append(output, more(length - MOST_ITEMS, "item"));
  };
}

function mapItems(state, value) {
  return (output, depth) => {
    mapForEach(value, (item, key) => {
      if (output.length < MOST_ITEMS) append(output, within(state, key, depth) + " => " + within(state, item, depth));
    });
    if (mapSize(value) > MOST_ITEMS) append(output, more(mapSize(value) - MOST_ITEMS, "item"));
  };
}

function setItems(state, value) {
  return (output, depth) => {
    setForEach(value, (item) => {
      if (output.length < MOST_ITEMS) append(output, within(state, item, depth));
    });
    if (setSize(value) > MOST_ITEMS) append(output, more(setSize(value) - MOST_ITEMS, "item"));
  };
}

function promiseItems(state, value) {
  return (output, depth) => {
    const settled = host.promiseState(value);
    if (settled === "pending") return append(output, "<pending>");
    const text = within(state, host.promiseResult(value), depth);
    return append(output, settled === "rejected" ? "<rejected> " + text : text);
  };
}

function bufferItems(value) {
  return (output) => {
    const length = bufferByteLength(value);
    const bytes = new Uint8ArrayOf(value);
    let text = "";
    for (let index = 0; index < length && index < MOST_BYTES; index++) {
      text += (index > 0 ? " " : "") + stringPadStart(numberToString(bytes[index], 16), 2, "0");
    }
    if (length > MOST_BYTES) text += " " + more(length - MOST_BYTES, "byte");
    append(output, "[Uint8Contents]: <" + text + ">");
    append(output, "byteLength: " + length);
  };
}

/** The cause and the parts of an error, which are not enumerable but matter most; null when it has none. */
function errorItems(state, value, keys) {
  const hidden = newList();
  for (let index = 0; index < HIDDEN_KEYS.length; index++) {
    const name = HIDDEN_KEYS[index];
    if (hasOwn(value, name) && !isEnumerable(value, name)) append(hidden, name);
  }
  if (hidden.length === 0 && keys.length === 0) return null;
  return (output, depth) => {
    for (let index = 0; index < hidden.length; index++) {
      append(output, "[" + hidden[index] + "]: " + showOwn(state, value, hidden[index], depth));
    }
  };
}

function showKeys(state, value, keys, output, depth) {
  for (let index = 0; index < keys.length; index++) {
    if (index === MOST_KEYS || state.room < 0) {
      append(output, more(keys.length - index, "item"));
      return;
    }
    const key = keys[index];
    append(output, showKey(key) + ": " + showOwn(state, value, key, depth));
  }
}

function showKey(key) {
  if (typeof key === "symbol") return "[" + symbolToString(key) + "]";
  return isIdentifier(key) ? key : quote(stringSlice(key, 0, MOST_KEYS));
}

/** What a property holds, without running its getter; undefined when it is not there. */
function showOwn(state, value, key, depth) {
  const found = getOwnPropertyDescriptor(value, key);
  if (found === undefined) return undefined;
  if (hasOwn(found, "value")) return within(state, found.value, depth);
  if (found.get === undefined) return "[Setter]";
  return found.set === undefined ? "[Getter]" : "[Getter/Setter]";
}
