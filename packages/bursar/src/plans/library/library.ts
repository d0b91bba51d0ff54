import type { Builtin } from "../syntax/builtin.js";
import { KINDS, LISTS, MAPS } from "./collections.js";
import { FUNCTIONS } from "./functions.js";
import { NUMBERS } from "./numbers.js";
import { PATTERNS } from "./patterns.js";
import { RUNNING } from "./running.js";
import { SUPPORT } from "./support.js";
import { TEXTS } from "./texts.js";

/** What Clojure calls a few of them besides. */
const FURTHER_NAMES: Readonly<Record<string, string>> = { mapv: "map", filterv: "filter" };

/** In the order of their code: what a definition needs at once stands before it. */
const ALL: readonly Builtin[] = [...NUMBERS, ...TEXTS, ...KINDS, ...LISTS, ...MAPS, ...FUNCTIONS];

/** Every function that plans can use, by its name. */
export const BUILTINS: ReadonlyMap<string, Builtin> = new Map([
  ...ALL.map((builtin) => [builtin.name, builtin] as const),
  ...ALL.flatMap((builtin) =>
    Object.entries(FURTHER_NAMES).flatMap(([name, known]) =>
      known === builtin.name ? [[name, builtin] as const] : [],
    ),
  ),
]);

/** All code of the library by its id. */
const CODE: ReadonlyMap<string, string> = new Map([
  ...Object.entries(SUPPORT),
  ...Object.entries(RUNNING),
  ...[...ALL, ...PATTERNS].map(({ id, code }) => [id, code] as const),
  ...ALL.flatMap(({ id, calls }) =>
    calls === undefined ? [] : [[nowId(id), `$now($${id})`] as const, [laterId(id), `$later($${id})`] as const],
  ),
]);

/** The one that calls functions which do not wait. */
export function nowId(id: string): string {
  return `${id}Now`;
}

/** The one that calls functions which may wait for the host. */
export function laterId(id: string): string {
  return `${id}Later`;
}

/** The code of what is used, and of what that needs itself. */
export function libraryFor(used: Iterable<string>): string {
  const needed = new Set<string>();
  const open = [...used];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const code = CODE.get(id);
    if (code === undefined || needed.has(id)) continue;
    needed.add(id);
    for (const [, name = ""] of code.matchAll(/\$([A-Za-z]+)/g)) open.push(name);
  }
  return [...CODE].flatMap(([id, code]) => (needed.has(id) ? [`const $${id} = ${code};\n`] : [])).join("");
}
