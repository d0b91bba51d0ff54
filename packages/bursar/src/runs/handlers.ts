import type { Json, JsonObject } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import { checkKeys } from "../core/fields.js";
import { nearest } from "../core/nearest.js";
import type { Batches } from "../ports/batches.js";
import type { Model } from "../ports/model.js";
import { batchDeed } from "./batch-deed.js";
import type { Asking, ChildGrant, Deed, Handlers } from "./deed.js";
import { RunError } from "./error.js";
import { type Models, modelDeed } from "./model-deed.js";
import { type Tool, useTool } from "./tool.js";
import { parseToolInput } from "./tool-input.js";

export interface World {
  readonly tools: readonly Tool[];
  readonly model: Model | null;
  /** Whether model calls may hold what others like them have used, in place of the most: false. */
  readonly learns?: boolean;
  /** What takes model calls that can wait; without it they are made at once. */
  readonly batches?: Batches | null;
  /** Further things to ask for, such as code in the sandbox. */
  readonly more?: Handlers;
}

const LONGEST_SLEEP_MS = 365 * 24 * 60 * 60_000;

/** Everything a program can ask for. */
export function handlersFor({ tools, model, learns = false, batches = null, more = {} }: World): Handlers {
  const byName = namedTools(tools);
  return {
    now: (_, { instant }) => ({ kind: "value", value: instant }),
    random: () => ({ kind: "value", value: Math.random() }),
    budget: async (_, { budget }) => ({ kind: "value", value: await budget() }),
    sleep: (args, { instant }) => {
      const { ms } = fields(args);
      if (typeof ms !== "number" || !(ms >= 0 && ms <= LONGEST_SLEEP_MS)) {
        throw new InputError("ms", `is ${show(ms)}; allowed: 0 or more milliseconds, a year at most`);
      }
      return { kind: "sleep", until: instant + ms };
    },
    step: (args, { own }) => {
      const { name } = fields(args);
      if (own === null) return markDeed(fields(args));
      const capability_id = `step:${String(name).slice(0, 100)}`;
      const make = async ({ signal }: { readonly signal: AbortSignal }) => ({ value: await own(signal) });
      return { kind: "call", capability_id, call: "code", asked: {}, make };
    },
    tool: (args) => toolDeed(byName, fields(args)),
    llm: (args, asking) => llmDeed({ model, learns, batches }, fields(args), asking),
    spawn: (args) => {
      const { program, input = null, budget = { fraction: 0.5 } } = fields(args);
      if (typeof program !== "string")
        throw new InputError("program", `is ${show(program)}; allowed: a program's name`);
      return { kind: "child", child: { program, input, grant: grantOf(budget) } };
    },
    ...more,
  };
}

/** Of two tools with one name only one could be used, and nobody would know which. */
function namedTools(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw new InputError("tools", `has two of the name ${tool.name}; allowed: one of each`);
    byName.set(tool.name, tool);
  }
  return byName;
}

/** A program tells that a part of it begins or ends. */
function markDeed({ name, phase, ...rest }: JsonObject): Deed {
  const action_type = phase === "end" ? "PartEnded" : "PartStarted";
  return { kind: "value", value: null, record: { action_type, data: { name: String(name).slice(0, 200), ...rest } } };
}

async function toolDeed(
  tools: ReadonlyMap<string, Tool>,
  { name, args: given = null, final = false }: JsonObject,
): Promise<Deed> {
  // Who hands over nothing means no arguments, in whatever way his language says so.
  const args = given ?? {};
  const tool = typeof name === "string" ? tools.get(name) : undefined;
  if (tool === undefined) {
    const known = [...tools.keys()];
    const guess = typeof name === "string" ? nearest(name, known) : null;
    const hint = guess === null ? `there is ${known.join(", ") || "none"}` : `did you mean ${guess}?`;
    throw new RunError("unknown_tool", `there is no tool ${show(name)}; ${hint}`);
  }
  const parsed = await parseToolInput(tool, args);
  if (!parsed.ok) throw new RunError("invalid_input", `${tool.name}: ${parsed.problem}`);
  return {
    kind: "call",
    capability_id: tool.name,
    call: "tool",
    final: final === true,
    asked: typeof tool.quote === "function" ? tool.quote(parsed.value as Json) : (tool.quote ?? {}),
    approval: tool.approval ?? false,
    interrupted: tool.interrupted ?? "repeat",
    make: (doing) => useTool(tool, parsed.value, doing),
  };
}

/** Who can wait is served at once where nobody takes calls that can. */
function llmDeed(
  { batches, ...models }: Models & { readonly batches: Batches | null },
  { wait = false, ...asked }: JsonObject,
  asking: Asking,
): Promise<Deed> {
  if (typeof wait !== "boolean") throw new InputError("wait", `is ${show(wait)}; allowed: true or false`);
  if (!wait || batches === null) return modelDeed(models, asked, asking);
  return batchDeed({ model: models.model, batches }, asked, asking);
}

function grantOf(budget: Json): ChildGrant {
  if (budget === "share") return { kind: "share" };
  if (typeof budget === "object" && budget !== null && !Array.isArray(budget)) {
    checkKeys(budget, "budget", ["fraction", "limits", "policies"]);
    const { fraction, limits = fraction === undefined ? null : {}, policies = {} } = budget as JsonObject;
    if (isObject(limits) && isObject(policies)) {
      if (typeof fraction === "number") return { kind: "fraction", of: fraction, limits, policies };
      if (fraction === undefined) return { kind: "limits", limits, policies };
    }
  }
  throw new InputError("budget", `is ${show(budget)}; allowed: "share", { fraction }, or { limits, policies }`);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fields(args: Json): JsonObject {
  if (isObject(args)) return args;
  throw new InputError("arguments", `are ${show(args)}; allowed: an object`);
}
