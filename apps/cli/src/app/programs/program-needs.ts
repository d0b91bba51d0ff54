import { canonicalize, type Json, type JsonObject, type Program, type ProgramRef, RunError, sha256Hex } from "bursar";

/** What a run was started with besides its program, and needs again wherever it goes on. */
export interface Needs extends JsonObject {
  readonly tools: readonly string[];
  readonly programs: readonly string[];
  readonly model: boolean;
  /** The flags that gave it all this, for people. */
  readonly flags: readonly string[];
}

const MEMBER = "needs";

/**
 * A program that remembers what it was started with. Without that, a run that is resumed elsewhere would be told that
 * a tool does not exist, which was not so when it began.
 */
export function needing(program: Program, needs: Needs): Program {
  return { ...program, digest: digestWith(program.digest, needs), source: { ...program.source, [MEMBER]: needs } };
}

/** The same program as a process has it that was given the same things again. */
export function digestWith(digest: string, { tools, programs, model }: Needs): string {
  return sha256Hex(canonicalize({ digest, tools: [...tools], programs: [...programs], model }));
}

export function needsOf({ source }: Pick<ProgramRef, "source">): Needs | null {
  const needs: Json | undefined = source?.[MEMBER];
  return needs === undefined ? null : (needs as Needs);
}

/** What is left of a source when it is taken out what was added to it. */
export function bareSource({ source }: Pick<ProgramRef, "source">): JsonObject {
  const { [MEMBER]: _, ...bare } = source ?? {};
  return bare;
}

interface Offered {
  readonly tools: readonly { readonly name: string }[];
  readonly programs: readonly { readonly name: string }[];
  readonly model: unknown;
}

/** Throws when a run needs something that is not there. */
export function checkNeeds(name: string, needs: Needs, offered: Offered): void {
  const lacking = (kind: string, wanted: readonly string[], there: readonly { readonly name: string }[]) =>
    wanted.filter((each) => !there.some((one) => one.name === each)).map((each) => `the ${kind} ${each}`);
  const missing = [
    ...lacking("tool", needs.tools, offered.tools),
    ...lacking("program", needs.programs, offered.programs),
    ...(needs.model && offered.model === null ? ["a model"] : []),
  ];
  if (missing.length === 0) return;
  throw new RunError("not_equipped", `${name} needs ${missing.join(", ")}; ${howToGive(needs)}`);
}

export function howToGive({ flags }: Needs): string {
  return flags.length === 0 ? "give it with --module, --program or --model-url" : `add ${flags.map(quoted).join(" ")}`;
}

/** As a shell takes it. */
export function quoted(word: string): string {
  return /^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
