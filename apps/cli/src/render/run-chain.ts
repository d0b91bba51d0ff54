import type { Link } from "bursar";
import { clip, harmless, pad, type Style } from "./style.js";

const SEQ_COLUMNS = 6;
const TIME_COLUMNS = 14;
const NAME_COLUMNS = 20;

/** A link in one line; what it says is cut where the line ends. */
export function linkText({ seq, at, event, action_type, data }: Link, columns: number, style: Style): string {
  const time = new Date(at).toISOString().slice(11, 23);
  const name = pad(clip(harmless(event ?? action_type), NAME_COLUMNS - 1), NAME_COLUMNS);
  const head = `${style.dim(pad(String(seq), SEQ_COLUMNS))}${style.dim(pad(time, TIME_COLUMNS))}${name}`;
  return `${clip(`${head}${harmless(JSON.stringify(data))}`, columns)}\n`;
}
