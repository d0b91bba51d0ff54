// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import {
  append,
  arrayJoin,
  BigIntOf,
  bigIntToString,
  mathTrunc,
  NumberOf,
  newList,
  numberIsFinite,
  numberIsNaN,
  numberToExponential,
  numberToFixed,
  numberToPrecision,
  parseWhole,
  RangeErrorOf,
  regexpExec,
  StringOf,
  stringFromCodePoint,
  stringIncludes,
  stringIndexOf,
  stringPadEnd,
  stringPadStart,
  stringRepeat,
  stringSlice,
  stringStartsWith,
  stringToUpperCase,
  TypeErrorOf,
} from "./primordials.js";

const DIRECTIVE = /^%([-+ 0#]*)(\*|[0-9]+)?(?:\.(\*|[0-9]*))?(?:hh|h|ll|l|j|z|t)?([diuxXocsfFeEgG%])/;
const WIDEST = 1000;
const MOST_DIGITS = 100;

/** C's `sprintf`, with the directives that QuickJS knows. */
export function sprintf(template, ...args) {
  const text = StringOf(template);
  const pieces = newList();
  let copied = 0;
  let next = 0;
  const take = () => args[next++];
  for (let at = stringIndexOf(text, "%"); at >= 0; at = stringIndexOf(text, "%", copied)) {
    append(pieces, stringSlice(text, copied, at));
    const found = regexpExec(DIRECTIVE, stringSlice(text, at, at + WIDEST));
    if (found === null) throw new TypeErrorOf("invalid conversion at " + stringSlice(text, at, at + 10));
    copied = at + found[0].length;
    append(pieces, found[4] === "%" ? "%" : convert(found, take));
  }
  append(pieces, stringSlice(text, copied));
  return arrayJoin(pieces, "");
}

function convert(found, take) {
  let flags = found[1];
  let width = found[2] === "*" ? mathTrunc(NumberOf(take())) : parseWhole(found[2] ?? "0");
  if (width < 0) {
    flags += "-";
    width = -width;
  }
  const digits = found[3] === "*" ? mathTrunc(NumberOf(take())) : parseWhole(found[3] || "0");
  const precision = found[3] === undefined ? -1 : digits;
  if (width > WIDEST || precision > WIDEST)
    throw new RangeErrorOf("a width of more than " + WIDEST + " is not supported");
  const letter = found[4];
  const isNumber = letter !== "s" && letter !== "c";
  const body = isNumber ? number(letter, flags, precision, take()) : string(letter, precision, take());
  if (stringIncludes(flags, "-")) return stringPadEnd(body, width, " ");
  const zeros = isNumber && stringIncludes(flags, "0") && !(precision >= 0 && stringIncludes("diuxXo", letter));
  return zeros ? padWithZeros(body, width) : stringPadStart(body, width, " ");
}

function padWithZeros(body, width) {
  const sign = regexpExec(/^[-+ ]?(?:0[xX])?/, body)[0];
  return sign + stringPadStart(stringSlice(body, sign.length), width - sign.length, "0");
}

function string(letter, precision, value) {
  if (letter === "c")
    return typeof value === "number" ? stringFromCodePoint(value) : stringSlice(StringOf(value), 0, 1);
  const text = StringOf(value);
  return precision < 0 ? text : stringSlice(text, 0, precision);
}

function number(letter, flags, precision, value) {
  const text = stringIncludes("diuxXo", letter)
    ? integer(letter, flags, precision, value)
    : decimal(letter, flags, precision < 0 ? 6 : precision, NumberOf(value));
  if (stringStartsWith(text, "-")) return text;
  return stringIncludes(flags, "+") ? "+" + text : stringIncludes(flags, " ") ? " " + text : text;
}

function integer(letter, flags, precision, value) {
  let whole =
    typeof value === "bigint" ? value : BigIntOf(mathTrunc(numberIsFinite(NumberOf(value)) ? NumberOf(value) : 0));
  const isSigned = letter === "d" || letter === "i";
  if (!isSigned && whole < 0n) whole += whole < -2147483648n ? 18446744073709551616n : 4294967296n;
  const base = letter === "x" || letter === "X" ? 16 : letter === "o" ? 8 : 10;
  const text = bigIntToString(whole < 0n ? -whole : whole, base);
  const digits = precision > text.length ? stringRepeat("0", precision - text.length) + text : text;
  const prefix = stringIncludes(flags, "#") && base !== 10 && whole !== 0n ? (base === 16 ? "0x" : "0") : "";
  const all = (whole < 0n ? "-" : "") + prefix + digits;
  return letter === "X" ? stringToUpperCase(all) : all;
}

function decimal(letter, flags, precision, value) {
  const isUpper = letter === "F" || letter === "E" || letter === "G";
  const cut = precision > MOST_DIGITS ? MOST_DIGITS : precision;
  let text;
  if (!numberIsFinite(value)) text = numberIsNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
  else if (letter === "f" || letter === "F") text = fixed(value, cut);
  else if (letter === "e" || letter === "E") text = exponential(value, cut);
  else text = general(value, cut === 0 ? 1 : cut, stringIncludes(flags, "#"));
  return isUpper ? stringToUpperCase(text) : text;
}

function fixed(value, digits) {
  // Beyond this the language's own function falls back to exponents; such numbers are whole anyway.
  if (value < 1e21 && value > -1e21) return numberToFixed(value, digits);
  return bigIntToString(BigIntOf(value)) + (digits > 0 ? "." + stringRepeat("0", digits) : "");
}

function exponential(value, digits) {
  const found = regexpExec(/^(.*)e([-+])([0-9]+)$/, numberToExponential(value, digits));
  return found[1] + "e" + found[2] + stringPadStart(found[3], 2, "0");
}

function general(value, digits, keepsZeros) {
  if (value === 0) return "0";
  const exponent = NumberOf(regexpExec(/e([-+][0-9]+)$/, numberToExponential(value, digits - 1))[1]);
  if (exponent < -4 || exponent >= digits) {
    const found = regexpExec(/^(.*?)(e.*)$/, exponential(value, digits - 1));
    return (keepsZeros ? found[1] : trimZeros(found[1])) + found[2];
  }
  const text = exponent < 0 ? numberToFixed(value, digits - 1 - exponent) : numberToPrecision(value, digits);
  return keepsZeros ? text : trimZeros(text);
}

function trimZeros(text) {
  if (!stringIncludes(text, ".")) return text;
  let end = text.length;
  while (text[end - 1] === "0") end--;
  return stringSlice(text, 0, text[end - 1] === "." ? end - 1 : end);
}
