import { nearest } from "../core/nearest.js";
import type { Form, FormOf } from "./edn/form.js";
import { printShort } from "./edn/print.js";
import type { Position } from "./plan-error.js";
import type { Source } from "./source.js";

/** The parts of a `(run …)` as they stand in the text. */
export interface RunForm {
  readonly position: Position;
  readonly name: string | null;
  /** The names that the body has for what the run is given. */
  readonly inputs: Form | null;
  readonly budget: Form | null;
  readonly session: Form | null;
  readonly body: Form;
}

/** Both ways to write the one key of two words. */
const SESSION = "session-budget-limits";
const ALONE = ["name", "inputs", "budget", SESSION, "body"];
const NESTED = ["name", "input", "inputs", "budget", "body"];
const LONGEST_NAME = 200;

/** Reads the keywords of a run and what stands behind each. */
export function readRun(list: FormOf<"list">, source: Source, isChild: boolean): RunForm {
  const parts = partsOf(list, source, isChild ? NESTED : ALONE);
  const body = parts.get("body");
  if (body === undefined) throw source.error(list, "the run has no :body", "add :body and what it is to do");
  const name = parts.get("name");
  const budget = parts.get("budget") ?? null;
  if (isChild && budget === null) {
    const hint = "add :budget {:steps 5}, :budget {:fraction 0.5} or :budget :share";
    throw source.error(list, "a nested run needs a :budget", hint);
  }
  return {
    position: { line: list.line, column: list.column },
    name: name === undefined ? null : nameOf(name, source),
    inputs: parts.get("inputs") ?? null,
    budget,
    session: parts.get(SESSION) ?? null,
    body,
  };
}

function partsOf(list: FormOf<"list">, source: Source, known: readonly string[]): ReadonlyMap<string, Form> {
  const parts = new Map<string, Form>();
  const items = list.items.slice(1);
  for (let index = 0; index < items.length; index += 2) {
    const [key, value] = items.slice(index, index + 2);
    if (key === undefined) break;
    if (key.kind !== "keyword") {
      throw source.error(
        key,
        `${printShort(key)} stands where a keyword should`,
        "what the run does goes behind :body",
      );
    }
    const name = key.name.replaceAll("_", "-");
    if (!known.includes(name)) throw unknown(key, name, source, known);
    if (value === undefined) throw source.error(key, `:${key.name} has no value behind it`);
    if (parts.has(name)) throw source.error(key, `:${key.name} is given twice`, "give it once");
    parts.set(name, value);
  }
  return parts;
}

function unknown(key: FormOf<"keyword">, name: string, source: Source, known: readonly string[]): Error {
  const guess = nearest(name, known);
  const hint = guess === null ? `it takes ${known.map((each) => `:${each}`).join(", ")}` : `did you mean :${guess}?`;
  const isElsewhere = [...ALONE, ...NESTED].includes(name);
  const where = known === NESTED ? "a nested run" : "a run that stands alone";
  return source.error(key, `${isElsewhere ? where : "a run"} has no :${key.name}`, isElsewhere ? null : hint);
}

function nameOf(form: Form, source: Source): string {
  const name = form.kind === "text" ? form.value : form.kind === "keyword" ? form.name : "";
  if (name.trim() !== "" && name.length <= LONGEST_NAME) return name;
  throw source.error(
    form,
    `${printShort(form)} is no name for a run`,
    `give a text of 1 to ${LONGEST_NAME} characters`,
  );
}
