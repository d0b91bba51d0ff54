// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import {
  append,
  arrayJoin,
  arrayPrototype,
  bigIntValueOf,
  booleanValueOf,
  dataProperty,
  describeProperty,
  errorStack,
  functionToString,
  getPrototypeOf,
  hasOwn,
  newList,
  numberValueOf,
  objectPrototype,
  stringEndsWith,
  stringIndexOf,
  stringPrototype,
  stringRepeat,
  stringSlice,
  stringStartsWith,
  stringValueOf,
  symbolValueOf,
  tagSymbol,
  typedArrayTag,
} from "./primordials.js";

const LONGEST_CHAIN = 100;
const LONGEST_NAME = 200;
const LONGEST_MESSAGE = 20_000;

export function isTypedArray(value) {
  return typedArrayTag(value) !== undefined;
}

/** The name of what made an object, found without running any code of the program. */
export function describeConstructor(value, fallback) {
  const first = getPrototypeOf(value);
  if (first === objectPrototype && fallback === "Object" && !hasOwn(value, tagSymbol)) return "Object";
  if (first === arrayPrototype && fallback === "Array") return "Array";
  const tag = tagOf(value);
  let prototype = first;
  for (let hops = 0; prototype !== null && hops < LONGEST_CHAIN; hops++) {
    const name = nameOf(dataProperty(prototype, "constructor"));
    if (name !== "") return tag === "" || tag === name ? name : name + " [" + tag + "]";
    prototype = getPrototypeOf(prototype);
  }
  if (first === null && tag === "Module") return "[Module: null prototype]";
  return "[" + fallback + ": null prototype]" + (tag === "" ? "" : " [" + tag + "]");
}

function nameOf(maker) {
  if (typeof maker !== "function") return "";
  const name = dataProperty(maker, "name");
  return typeof name === "string" ? stringSlice(name, 0, LONGEST_NAME) : "";
}

function tagOf(value) {
  let holder = value;
  for (let hops = 0; holder !== null && hops < LONGEST_CHAIN; hops++) {
    const tag = describeProperty(holder, tagSymbol);
    // One that is shown as a property anyway is not shown twice.
    if (tag?.enumerable && holder === value) return "";
    if (tag !== undefined) return typeof tag.value === "string" ? stringSlice(tag.value, 0, LONGEST_NAME) : "";
    holder = getPrototypeOf(holder);
  }
  return "";
}

export function describeFunction(value) {
  const name = nameOf(value);
  const source = functionToString(value);
  if (stringStartsWith(source, "class") && stringEndsWith(source, "}")) {
    const parent = nameOf(getPrototypeOf(value));
    return "[class " + (name === "" ? "(anonymous)" : name) + (parent === "" ? "" : " extends " + parent) + "]";
  }
  const tag = tagOf(value);
  return "[" + (tag === "" ? "Function" : tag) + (name === "" ? " (anonymous)" : ": " + name) + "]";
}

/** An error's head line and its stack, indented as deep as what it stands in. */
export function describeError(value, indentation) {
  const head = errorHead(value);
  const stack = hasOwn(value, "stack") ? dataProperty(value, "stack") : errorStack(value);
  const trace = typeof stack === "string" ? trimEnd(stringSlice(stack, 0, LONGEST_MESSAGE)) : "";
  if (trace === "") return "[" + head + "]";
  // A program may have put the head line into the stack already, as other engines do.
  const text = stringStartsWith(trace, head) ? trace : head + "\n" + trace;
  return indentation === 0 ? text : indent(text, indentation);
}

function errorHead(value) {
  const name = lookUp(value, "name");
  const message = lookUp(value, "message");
  const shownName = typeof name === "string" ? stringSlice(name, 0, LONGEST_NAME) : "Error";
  const maker = describeConstructor(value, "Error");
  const title = shownName === "Error" && maker[0] !== "[" ? maker : shownName;
  const shownMessage = typeof message === "string" ? stringSlice(message, 0, LONGEST_MESSAGE) : "";
  return shownMessage === "" ? title : title + ": " + shownMessage;
}

/** A property as the program would read it, but only where reading runs no code. */
function lookUp(value, key) {
  let holder = value;
  for (let hops = 0; holder !== null && hops < LONGEST_CHAIN; hops++) {
    if (hasOwn(holder, key)) return dataProperty(holder, key);
    holder = getPrototypeOf(holder);
  }
  return undefined;
}

function trimEnd(text) {
  let end = text.length;
  while (end > 0 && (text[end - 1] === "\n" || text[end - 1] === " ")) end--;
  return stringSlice(text, 0, end);
}

export function indent(text, indentation) {
  const lines = newList();
  let start = 0;
  for (;;) {
    const end = stringIndexOf(text, "\n", start);
    append(lines, stringSlice(text, start, end < 0 ? text.length : end));
    if (end < 0) break;
    start = end + 1;
  }
  return arrayJoin(lines, "\n" + stringRepeat(" ", indentation));
}

const VALUE_OF = {
  __proto__: null,
  Number: numberValueOf,
  String: stringValueOf,
  Boolean: booleanValueOf,
  Symbol: symbolValueOf,
  BigInt: bigIntValueOf,
};

/** The primitive in an object like `new Number(1)`; undefined when there is none. */
export function valueOfBoxed(value, name) {
  const unbox = VALUE_OF[name];
  if (unbox === undefined) return undefined;
  try {
    return unbox(value);
  } catch {
    return undefined;
  }
}

export function isBoxedString(value) {
  return getPrototypeOf(value) === stringPrototype && typeof valueOfBoxed(value, "String") === "string";
}
