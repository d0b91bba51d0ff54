// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import {
  append,
  arrayJoin,
  newList,
  numberToString,
  regexpExec,
  stringCharCodeAt,
  stringIncludes,
  stringIndexOf,
  stringPadStart,
  stringRepeat,
  stringSlice,
  stringToUpperCase,
} from "./primordials.js";

const LONGEST_STRING = 10_000;
const BREAK_LENGTH = 80;
const SHORTEST_SPLIT = 16;
const IDENTIFIER = /^[a-zA-Z_][a-zA-Z_0-9]*$/;

const SHORT = { __proto__: null, 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 92: "\\\\" };

export function isIdentifier(text) {
  return regexpExec(IDENTIFIER, text) !== null;
}

/** Text that needs no escapes in single quotes. */
const HARMLESS = /^[ -&(-[\]-~\u00a0-\ud7ff\ue000-\uffff]*$/;

/** A string in quotes, those of which it needs the fewest escapes with. */
export function quote(text) {
  if (regexpExec(HARMLESS, text) !== null) return "'" + text + "'";
  let mark = "'";
  if (stringIncludes(text, "'")) {
    if (!stringIncludes(text, '"')) mark = '"';
    else if (!stringIncludes(text, "`") && !stringIncludes(text, "${")) mark = "`";
  }
  const quoteCode = stringCharCodeAt(mark, 0);
  let result = mark;
  let copied = 0;
  for (let index = 0; index < text.length; index++) {
    const escaped = escapeOf(text, index, quoteCode);
    if (escaped === "") continue;
    result += stringSlice(text, copied, index) + escaped;
    copied = index + 1;
  }
  return result + stringSlice(text, copied) + mark;
}

function escapeOf(text, index, quoteCode) {
  const code = stringCharCodeAt(text, index);
  if (code === quoteCode) return "\\" + text[index];
  if (code < 32 || code === 92 || (code >= 127 && code <= 159)) return SHORT[code] ?? "\\x" + hex(code);
  return isLoneSurrogate(text, index, code) ? "\\u" + numberToString(code, 16) : "";
}

function isLoneSurrogate(text, index, code) {
  if (code < 0xd800 || code > 0xdfff) return false;
  const other = stringCharCodeAt(text, code < 0xdc00 ? index + 1 : index - 1);
  return code < 0xdc00 ? !(other >= 0xdc00 && other <= 0xdfff) : !(other >= 0xd800 && other <= 0xdbff);
}

function hex(code) {
  return stringPadStart(stringToUpperCase(numberToString(code, 16)), 2, "0");
}

/** A string inside of something else: cut when it is very long, and one line of it per line when it is wide. */
export function quoteWithin(text, indentation) {
  const more = text.length - LONGEST_STRING;
  const shown = more > 0 ? stringSlice(text, 0, LONGEST_STRING) : text;
  const trailer = more > 0 ? "... " + more + " more character" + (more > 1 ? "s" : "") : "";
  if (shown.length <= SHORTEST_SPLIT || shown.length <= BREAK_LENGTH - indentation - 4) return quote(shown) + trailer;
  const lines = newList();
  let start = 0;
  while (start < shown.length) {
    const end = stringIndexOf(shown, "\n", start);
    const next = end < 0 ? shown.length : end + 1;
    append(lines, quote(stringSlice(shown, start, next)));
    start = next;
  }
  return arrayJoin(lines, " +\n" + stringRepeat(" ", indentation + 2)) + trailer;
}
