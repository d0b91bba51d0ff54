// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import { inspect, isObject } from "./inspect.js";
import {
  jsonStringify,
  NumberOf,
  numberToString,
  objectIs,
  parseDecimal,
  parseWhole,
  stringIndexOf,
  stringSlice,
  symbolToString,
} from "./primordials.js";

/** The arguments of `console.log` as one text, with `%s` and its like filled in. */
export function format(args) {
  let text = "";
  let next = 0;
  if (typeof args[0] === "string") {
    next = 1;
    text = args[0];
    if (args.length > 1 && stringIndexOf(text, "%") >= 0) {
      const filled = fill(text, args);
      text = filled.text;
      next = filled.next;
    }
  }
  for (let index = next; index < args.length; index++) {
    if (index > 0) text += " ";
    text += typeof args[index] === "string" ? args[index] : showSafely(args[index]);
  }
  return text;
}

/** A value as text, whatever it does when it is looked at. */
export function showSafely(value, depth) {
  try {
    return inspect(value, depth);
  } catch {
    return "[a value that cannot be shown]";
  }
}

function fill(template, args) {
  let text = "";
  let copied = 0;
  let next = 1;
  for (let at = stringIndexOf(template, "%"); at >= 0 && at + 1 < template.length; ) {
    const letter = template[at + 1];
    const shown = letter === "%" ? "%" : next < args.length ? substitute(letter, args[next]) : null;
    if (shown !== null) {
      text += stringSlice(template, copied, at) + shown;
      copied = at + 2;
      if (letter !== "%") next++;
    }
    at = stringIndexOf(template, "%", at + 2);
  }
  return { text: text + stringSlice(template, copied), next };
}

/** What stands for a placeholder; null when the letter means nothing. */
function substitute(letter, value) {
  switch (letter) {
    case "s":
      return asString(value);
    case "d":
      return isObject(value) ? "NaN" : asNumber(value, (plain) => NumberOf(plain));
    case "i":
      return isObject(value) ? "NaN" : asNumber(value, (plain) => parseWhole(plain));
    case "f":
      return typeof value === "symbol" ? "NaN" : numberText(parseDecimal(value));
    case "j":
      return asJson(value);
    case "o":
    case "O":
      return showSafely(value, 4);
    case "c":
      return "";
    default:
      return null;
  }
}

function asString(value) {
  if (typeof value === "string") return value;
  if (typeof value === "symbol") return symbolToString(value);
  return showSafely(value, 0);
}

function asNumber(value, convert) {
  if (typeof value === "bigint") return value + "n";
  return typeof value === "symbol" ? "NaN" : numberText(convert(value));
}

function numberText(number) {
  return objectIs(number, -0) ? "-0" : numberToString(number);
}

function asJson(value) {
  try {
    return "" + jsonStringify(value);
  } catch {
    return "[Circular]";
  }
}
