import { topLevel } from "./package-index.js";
import { LOOKED_AT, namesIn } from "./text.js";

const NOT_FOUND = "No module named '";

/**
 * Modules that a text names as imported or as missing: lines of code, also those that a traceback repeats, and messages
 * of `ModuleNotFoundError`. For executions whose imports nobody watched.
 */
export function modulesMentioned(text: string): readonly string[] {
  const looked = text.slice(0, LOOKED_AT);
  const modules: string[] = [];
  for (let start = 0; start < looked.length; ) {
    const newline = looked.indexOf("\n", start);
    const end = newline === -1 ? looked.length : newline;
    if (end > start) modules.push(...modulesInLine(looked.slice(start, end)));
    start = end + 1;
  }
  return modules;
}

/** The names that code uses, dotted ones by their beginning. */
export function namesUsed(code: string): ReadonlySet<string> {
  return new Set(namesIn(code.slice(0, LOOKED_AT)).map(topLevel));
}

function modulesInLine(line: string): readonly string[] {
  const missing = line.indexOf(NOT_FOUND);
  if (missing !== -1) return namesIn(line.slice(missing + NOT_FOUND.length)).slice(0, 1);
  const text = line.trimStart();
  if (text.startsWith("from ")) return namesIn(text.slice(5)).slice(0, 1);
  return text.startsWith("import ") ? importedNames(text.slice(7)) : [];
}

/** `a.b as c, d` → `a.b`, `d`; a comment or a semicolon ends the list. */
function importedNames(list: string): readonly string[] {
  const end = [";", "#"].map((mark) => list.indexOf(mark)).filter((at) => at !== -1);
  return list
    .slice(0, Math.min(list.length, ...end))
    .split(",")
    .flatMap((part) => namesIn(part).slice(0, 1));
}
