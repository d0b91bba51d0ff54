import type { Json } from "bursar/chain";

/** What was typed as a program's input: a value, or why it is none. */
export type TypedInput =
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "fault"; readonly message: string };

/** Reads what was typed, so that nothing is sent that the server would have to refuse. An empty field is null. */
export function readInput(text: string): TypedInput {
  if (text.trim() === "") return { kind: "value", value: null };
  try {
    return { kind: "value", value: JSON.parse(text) as Json };
  } catch (error) {
    return { kind: "fault", message: faultIn(text, (error as Error).message) };
  }
}

/** Browsers differ in what they say, and in whether they say where; nobody counts characters from the beginning. */
function faultIn(text: string, said: string): string {
  const [, position] = /\bposition (\d+)/.exec(said) ?? [];
  const what = said
    .replace(/^JSON\.parse: /, "")
    .replace(/,? (?:in JSON )?at position .*$/s, "")
    .replace(/^(Unexpected token .+?), (.*) is not valid JSON$/s, "$1 in $2");
  const where = position === undefined ? "" : ` ${placeOf(text, Number(position))}`;
  return `This is not JSON: ${what.replace(/\.$/, "")}${where}.`;
}

function placeOf(text: string, position: number): string {
  const before = text.slice(0, position).split("\n");
  return `in line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
