import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The modules that make up the guest's own side, in `guest/javascript`; `std` and `os` are for programs, too. */
const NAMES = [
  "boot",
  "calls",
  "console",
  "describe",
  "encoding",
  "file",
  "format",
  "inspect",
  "layout",
  "os",
  "paths",
  "primordials",
  "printf",
  "std",
  "text",
  "timers",
  "unavailable",
] as const;

const PUBLIC: readonly string[] = ["std", "os"];
/** No file can have such a name, so no program can import what it stands for. */
const PREFIX = "bursar:";

/** The name of the module that starts everything else. */
export const BOOT_MODULE: string = `${PREFIX}boot`;

/** Where they come with the sandbox. They lie beside `src` and `dist` alike. */
export function guestCodeFolder(): string {
  return fileURLToPath(new URL("../../guest/javascript", import.meta.url));
}

/** The source of every module by its full name. */
export function readGuestCode(folder: string): ReadonlyMap<string, string> {
  return new Map(NAMES.map((name) => [fullName(name), readFileSync(join(folder, `${name}.js`), "utf8")]));
}

/** The full name of what one of these modules imports from another. */
export function resolveGuestCode(specifier: string): string {
  return fullName(specifier.replace(/^\.\//, "").replace(/\.js$/, ""));
}

function fullName(name: string): string {
  return PUBLIC.includes(name) ? name : PREFIX + name;
}
