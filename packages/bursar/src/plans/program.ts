import { type Emitter, quoted } from "./emitter.js";
import { libraryFor } from "./library/library.js";

/** What every plan uses, whatever it does. */
const ALWAYS = ["data", "ended"];

/** The whole program for the guest: the library, the plan's body, and what surrounds it. */
export function programOf(body: string, input: string, emitter: Emitter, file: string): string {
  const places = emitter.positions.map(({ line, column }) => `[${line}, ${column}]`).join(", ");
  const library = libraryFor([...emitter.used, ...ALWAYS]);
  const main = `const $main = async (${input}) => {\n${body}};\n`;
  const before = (first: number) => `"use strict";
await (async () => {
const $planFile = ${quoted(JSON.stringify(file))};
const $planPlaces = [${places}];
const $planLines = [${marksOf(main).join(", ")}];
const $planStart = ${first};
${library}`;
  // The number of the first line of the body is a part of what stands before it, and does not change its lines.
  return `${before(linesIn(before(0)) + 1)}${main}try {
  await host.call("result", $data(0, await $main(await host.call("input", {}))));
} catch (error) {
  throw $ended(error);
}
})();
`;
}

/** For every line of the code the number of the position that it came from, in order. */
function marksOf(code: string): readonly number[] {
  let last = 0;
  return code.split("\n").map((line) => {
    const [, mark] = /^\/\*@(\d+)\*\//.exec(line) ?? [];
    if (mark !== undefined) last = Number(mark);
    return last;
  });
}

function linesIn(text: string): number {
  return text.split("\n").length - 1;
}
