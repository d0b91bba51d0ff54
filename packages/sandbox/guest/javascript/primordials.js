// The language's own functions, taken before any program could replace them. Nothing in this folder may reach for a method
// by its name at run time, iterate with an iterator, or write a property that a prototype could intercept.

export const { apply, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
const { defineProperty } = Reflect;

/** Makes `method.call(self, ...)` a plain function. */
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
const getter = (prototype, name) => uncurry(getOwnPropertyDescriptor(prototype, name).get);

export const arrayPrototype = Array.prototype;
export const objectPrototype = Object.prototype;
export const objectKeys = Object.keys;
export const objectSymbols = Object.getOwnPropertySymbols;
export const arrayIsArray = Array.isArray;
export const arrayJoin = uncurry(Array.prototype.join);
export const bigIntToString = uncurry(BigInt.prototype.toString);
export const bigIntValueOf = uncurry(BigInt.prototype.valueOf);
export const booleanValueOf = uncurry(Boolean.prototype.valueOf);
export const dateToIso = uncurry(Date.prototype.toISOString);
export const dateValueOf = uncurry(Date.prototype.valueOf);
/** The stack of an error; undefined for everything else. */
export const errorStack = getter(Error.prototype, "stack");
export const freeze = Object.freeze;
export const functionToString = uncurry(Function.prototype.toString);
export const hasOwn = Object.hasOwn;
export const isEnumerable = uncurry(Object.prototype.propertyIsEnumerable);
export const jsonParse = JSON.parse;
export const jsonStringify = JSON.stringify;
export const mapDelete = uncurry(Map.prototype.delete);
export const mapForEach = uncurry(Map.prototype.forEach);
export const mapGet = uncurry(Map.prototype.get);
export const mapHas = uncurry(Map.prototype.has);
export const mapSet = uncurry(Map.prototype.set);
export const mapSize = getter(Map.prototype, "size");
export const mathFloor = Math.floor;
export const mathMax = Math.max;
export const mathMin = Math.min;
export const mathRound = Math.round;
export const mathSqrt = Math.sqrt;
export const mathTrunc = Math.trunc;
export const numberIsFinite = Number.isFinite;
export const numberIsNaN = Number.isNaN;
export const numberToExponential = uncurry(Number.prototype.toExponential);
export const numberToFixed = uncurry(Number.prototype.toFixed);
export const numberToPrecision = uncurry(Number.prototype.toPrecision);
export const numberToString = uncurry(Number.prototype.toString);
export const numberValueOf = uncurry(Number.prototype.valueOf);
export const objectIs = Object.is;
export const parseDecimal = Number.parseFloat;
export const parseWhole = Number.parseInt;
export const regexpExec = uncurry(RegExp.prototype.exec);
export const regexpToString = uncurry(RegExp.prototype.toString);
const { setPrototypeOf } = Object;
export const setForEach = uncurry(Set.prototype.forEach);
export const setSize = getter(Set.prototype, "size");
export const stringCharCodeAt = uncurry(String.prototype.charCodeAt);
export const stringFromCodePoint = String.fromCodePoint;
export const stringEndsWith = uncurry(String.prototype.endsWith);
export const stringIncludes = uncurry(String.prototype.includes);
export const stringIndexOf = uncurry(String.prototype.indexOf);
export const stringPadEnd = uncurry(String.prototype.padEnd);
export const stringPadStart = uncurry(String.prototype.padStart);
export const stringPrototype = String.prototype;
export const stringRepeat = uncurry(String.prototype.repeat);
export const stringSlice = uncurry(String.prototype.slice);
export const stringStartsWith = uncurry(String.prototype.startsWith);
export const stringToUpperCase = uncurry(String.prototype.toUpperCase);
export const stringValueOf = uncurry(String.prototype.valueOf);
export const symbolToString = uncurry(Symbol.prototype.toString);
export const symbolValueOf = uncurry(Symbol.prototype.valueOf);
export const tagSymbol = Symbol.toStringTag;

const typedArray = getPrototypeOf(Uint8Array.prototype);
/** The name of a typed array's kind, undefined for everything else. */
export const typedArrayTag = getter(typedArray, tagSymbol);
export const typedArrayLength = getter(typedArray, "length");
export const typedArraySubarray = uncurry(typedArray.subarray);
export const typedArrayFill = uncurry(typedArray.set);
export const bufferByteLength = getter(ArrayBuffer.prototype, "byteLength");
export const typedArrayBuffer = getter(typedArray, "buffer");
export const typedArrayByteOffset = getter(typedArray, "byteOffset");

export const BigIntOf = BigInt;
export const ErrorOf = Error;
export const InternalErrorOf = InternalError;
export const MapOf = Map;
export const NumberOf = Number;
export const PromiseOf = Promise;
export const RangeErrorOf = RangeError;
export const StringOf = String;
export const TypeErrorOf = TypeError;
export const Uint8ArrayOf = Uint8Array;

/** An object that inherits nothing, so that no prototype answers for it. */
export function bare(properties) {
  const made = { __proto__: null };
  const keys = ownKeys(properties);
  for (let index = 0; index < keys.length; index++) made[keys[index]] = properties[keys[index]];
  return made;
}

/** An empty list that inherits nothing: what is put into it goes nowhere else. */
export function newList() {
  return setPrototypeOf([], null);
}

/** What `push` does, for such a list. */
export function append(list, value) {
  list[list.length] = value;
}

/** A property's own description, or undefined. What it does not have, it has as undefined: the prototype is not asked. */
export function describeProperty(target, key) {
  const found = getOwnPropertyDescriptor(target, key);
  if (found === undefined) return undefined;
  const isData = hasOwn(found, "value");
  return {
    value: isData ? found.value : undefined,
    get: isData ? undefined : found.get,
    set: isData ? undefined : found.set,
    enumerable: found.enumerable,
  };
}

/** A property's value if it is plain data, and undefined if it is not there or would run code. */
export function dataProperty(target, key) {
  return describeProperty(target, key)?.value;
}

/** Adds a property the way a class adds a method. */
export function define(target, name, value) {
  defineProperty(target, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
}

/** A host function, which is a global only until the boot code is done. */
function take(name) {
  const taken = globalThis[name];
  delete globalThis[name];
  return taken;
}

export const host = bare({
  call: take("bursar_call"),
  collectGarbage: take("bursar_collect_garbage"),
  decode: take("bursar_decode"),
  encode: take("bursar_encode"),
  environment: take("bursar_environment"),
  evaluate: take("bursar_evaluate"),
  exit: take("bursar_exit"),
  expose: take("bursar_expose"),
  files: take("bursar_files"),
  kindOf: take("bursar_kind_of"),
  milliseconds: take("bursar_milliseconds"),
  promiseResult: take("bursar_promise_result"),
  promiseState: take("bursar_promise_state"),
  proxyTarget: take("bursar_proxy_target"),
  sleep: take("bursar_sleep"),
  write: take("bursar_write"),
});
