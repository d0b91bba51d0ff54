// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import {
  append,
  arrayJoin,
  mathFloor,
  mathMax,
  mathMin,
  mathRound,
  mathSqrt,
  newList,
  stringIncludes,
  stringPadEnd,
  stringPadStart,
  stringRepeat,
} from "./primordials.js";

const BREAK_LENGTH = 80;
const COMPACT = 3;
const MOST_COLUMNS = 15;
const SEPARATOR = 2;
const FEWEST_TO_GROUP = 6;

/** Puts the parts of an object on one line if it is short and not too deep, and else on a line each. */
export function layOut(state, { output, base, open, close, isList, values, hasMore, depth }) {
  const entries = output.length;
  const lines = isList && entries > FEWEST_TO_GROUP ? group(state, output, values, hasMore) : output;
  const prefix = base === "" ? "" : base + " ";
  if (state.deepest - depth < COMPACT && entries === lines.length) {
    const start = lines.length + state.indentation + open.length + base.length + 10;
    if (fits(lines, start, base)) {
      const joined = arrayJoin(lines, ", ");
      if (!stringIncludes(joined, "\n")) return prefix + open + " " + joined + " " + close;
    }
  }
  const indentation = "\n" + stringRepeat(" ", state.indentation);
  return prefix + open + indentation + "  " + arrayJoin(lines, "," + indentation + "  ") + indentation + close;
}

function fits(output, start, base) {
  let total = output.length + start;
  if (total + output.length > BREAK_LENGTH) return false;
  for (let index = 0; index < output.length; index++) {
    total += output[index].length;
    if (total > BREAK_LENGTH) return false;
  }
  return base === "" || !stringIncludes(base, "\n");
}

/** The elements of a long list in columns, if they are short enough. */
function group(state, output, values, hasMore) {
  const count = hasMore ? output.length - 1 : output.length;
  let total = 0;
  let longest = 0;
  for (let index = 0; index < count; index++) {
    total += output[index].length + SEPARATOR;
    longest = mathMax(longest, output[index].length);
  }
  const width = longest + SEPARATOR;
  if (width * 3 + state.indentation >= BREAK_LENGTH || !(total / width > 5 || longest <= 6)) return output;
  const biased = mathMax(width - 3 - mathSqrt(width - total / output.length), 1);
  const columns = mathMin(
    mathRound(mathSqrt(2.5 * biased * count) / biased),
    mathFloor((BREAK_LENGTH - state.indentation) / width),
    COMPACT * 4,
    MOST_COLUMNS,
  );
  return columns <= 1 ? output : inColumns(output, count, columns, areNumbers(values, output.length), hasMore);
}

function areNumbers(values, count) {
  if (values === undefined) return true;
  for (let index = 0; index < count; index++) {
    if (typeof values[index] !== "number" && typeof values[index] !== "bigint") return false;
  }
  return true;
}

function inColumns(output, count, columns, toTheRight, hasMore) {
  const widths = newList();
  for (let column = 0; column < columns; column++) {
    let widest = 0;
    for (let index = column; index < count; index += columns) widest = mathMax(widest, output[index].length);
    append(widths, widest + SEPARATOR);
  }
  const pad = toTheRight ? stringPadStart : stringPadEnd;
  const rows = newList();
  for (let index = 0; index < count; index += columns) {
    const last = mathMin(index + columns, count) - 1;
    let row = "";
    for (let at = index; at < last; at++) row += pad(output[at] + ", ", widths[at - index], " ");
    row += toTheRight ? stringPadStart(output[last], widths[last - index] - SEPARATOR, " ") : output[last];
    append(rows, row);
  }
  if (hasMore) append(rows, output[count]);
  return rows;
}
