import { HOME_FOLDER, WRITABLE_FOLDERS } from "../guests/guest-folders.js";

/** The absolute path that a guest's path means, by its text alone. */
function resolvePath(path: string): string {
  const segments: string[] = [];
  const whole = path.startsWith("/") ? path : `${HOME_FOLDER}/${path}`;
  for (const segment of whole.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return `/${segments.join("/")}`;
}

/** By whole segments: `/application/x` is not in `/app`. */
export function isWithin(folder: string, path: string): boolean {
  const base = resolvePath(folder);
  const resolved = resolvePath(path);
  return resolved === base || resolved.startsWith(base === "/" ? base : `${base}/`);
}

/** Whether a guest may write there. */
export function isWritable(path: string): boolean {
  return WRITABLE_FOLDERS.some((folder) => isWithin(folder, path));
}

/** The paths that the message of an exception names: those in quotes, else what looks like one. */
export function pathsIn(message: string): readonly string[] {
  const quoted = quotedIn(message);
  if (quoted.length > 0) return quoted;
  if (message.startsWith("/")) return [message];
  return message
    .split(" ")
    .filter((word) => word.startsWith("/") || word.startsWith("../"))
    .map(withoutPunctuation);
}

/** An apostrophe inside a word opens nothing: `can't open '/etc/passwd'` names one path. */
function quotedIn(message: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < message.length; at++) {
    const mark = message[at];
    if ((mark !== "'" && mark !== '"') || !opensQuote(message[at - 1])) continue;
    const end = message.indexOf(mark, at + 1);
    if (end === -1) break;
    found.push(message.slice(at + 1, end));
    at = end;
  }
  return found;
}

function opensQuote(before: string | undefined): boolean {
  return before === undefined || " ([{,:=b".includes(before);
}

function withoutPunctuation(word: string): string {
  let end = word.length;
  while (end > 1 && ".,;:!?)]}".includes(word[end - 1] ?? "")) end--;
  return word.slice(0, end);
}
