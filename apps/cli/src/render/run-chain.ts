import type { Link } from "bursar";
import { foresightText } from "./event-text.js";
import { clip, fitted, harmless, pad, type Style } from "./style.js";

const SEQ_COLUMNS = 6;
const TIME_COLUMNS = 14;
const NAME_COLUMNS = 20;

/** A link in one line; what it says is cut where the line ends. What is told in a sentence is there as it is when it is wanted in full. */
export function linkText(link: Link, columns: number, style: Style, full = false): string {
  const { seq, at, event, action_type, data } = link;
  const time = new Date(at).toISOString().slice(11, 23);
  const name = pad(`${fitted(harmless(event ?? action_type), NAME_COLUMNS - 1, columns)} `, NAME_COLUMNS);
  const head = `${style.dim(pad(String(seq), SEQ_COLUMNS))}${style.dim(pad(time, TIME_COLUMNS))}${name}`;
  const told = full ? null : foresightText(link);
  return `${clip(`${head}${told ?? harmless(JSON.stringify(data))}`, columns)}\n`;
}
