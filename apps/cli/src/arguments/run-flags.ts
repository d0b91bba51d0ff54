import { userInfo } from "node:os";
import type { BudgetAmounts, ExecutionHints, Principal } from "bursar";
import { ConfigError, readBudgetFlag } from "bursar/config";
import { UsageError } from "../app/errors.js";

type Flag = { readonly type: "boolean" | "string"; readonly short?: string; readonly multiple?: boolean };
export type Flags = Readonly<Record<string, Flag>>;
/** What was given for each flag. */
export type Given = Readonly<Record<string, string | true | readonly string[] | undefined>>;

/** What every command about runs understands. */
export const COMMON: Flags = {
  store: { type: "string" },
  config: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
};

export const COMMON_HELP = `  --store <url>      sqlite:<file>, postgres://user@host/database; else the one
                     of the configuration, else BURSAR_STORE, else your own
  --config <file>    the configuration; else BURSAR_CONFIG, else bursar.yaml
  --json             the outcome as one JSON object
  --help             this text`;

/** For commands that say more than programs need. */
export const QUIET: Flags = { quiet: { type: "boolean" } };

/** What is left with it, where that are ids. */
export const IDS_HELP = "  --quiet            the ids alone, one per line";

/** What a process that drives runs has to bring along. */
export const EQUIPMENT: Flags = {
  module: { type: "string", multiple: true },
  program: { type: "string", multiple: true },
  "model-url": { type: "string" },
  model: { type: "string" },
  price: { type: "string", multiple: true },
  deployment: { type: "string", multiple: true },
  allow: { type: "string", multiple: true },
  "max-tokens": { type: "string" },
};

export const EQUIPMENT_HELP = `  --module <file>    TypeScript or JavaScript with agents and tools. TRUSTED:
                     it is loaded into this process, outside of the sandbox
  --program <file>   a further program, which runs may start below themselves
  --model-url <url>  an OpenAI-compatible API, such as http://localhost:8080/v1;
                     else BURSAR_MODEL_URL. Its key stands in BURSAR_MODEL_KEY
  --model <name>     the model of requests that name none; else BURSAR_MODEL
  --price <in,out>   what a million tokens cost in USD, in and out, such as
                     0.15,0.60; else BURSAR_MODEL_PRICE, else as the table of
                     prices says: models that are not in it are not called.
                     Of any other model as llama3.2=0,0.
                     It counts in batches too, before what they cost less.
                     Without --model-url it is that of the model which the
                     configuration sends batches to
  --deployment <..>  which model a deployment runs, where models have names of
                     their own, as at Azure: chat-prod=gpt-4o-mini
  --allow <..>       what is sent to a host though it may choose another model
                     or bring input, as openrouter.ai=provider,models
  --max-tokens <n>   the longest answer, where a request does not say
  --module, --program, --price, --deployment and --allow may be given again.`;

/** How a command that drives a run behaves meanwhile. */
export const DRIVING: Flags = {
  as: { type: "string" },
  yes: { type: "boolean" },
  watch: { type: "boolean" },
  detach: { type: "boolean" },
  quiet: { type: "boolean" },
};

export const DRIVING_HELP = `  --yes              say yes to what the run asks for, as suggested, 20 times
                     at most
  --watch            when it pauses and nobody is at the keyboard, stay until
                     somebody has decided elsewhere
  --detach           leave the driving to a worker
  --as <name>        who decides; else the user's name
  --quiet            nothing but what the program prints and gives back`;

/** Execution hints, which only an operator gives. */
export const HINTS: Flags = { "budget-extend": { type: "string" } };

export const HINTS_HELP = `  --budget-extend <..>
                     adds to the run's budget first, recorded as an extension,
                     as steps=+10,cost_usd=+0.20`;

/** What lets a run go on whose trusted program was changed. */
export const REPLAY: Flags = { "replay-changed": { type: "boolean" } };

export const REPLAY_HELP = `  --replay-changed   go on though the run's trusted program was changed: it is
                     played against what the run has done, and the run pauses
                     where it differs`;

export function textOf(flags: Given, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" ? value : undefined;
}

/** A flag that may be given again is a list. */
export function listOf(flags: Given, name: string): readonly string[] {
  const value = flags[name];
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

const LONGEST_NAME = 100;

/** Whoever has a terminal is an operator; runs have none. */
export function principalOf(flags: Given): Principal {
  const name = textOf(flags, "as") ?? userName();
  if (name.length > LONGEST_NAME || /\p{Cc}/u.test(name)) {
    throw new UsageError(`--as is no name; allowed: 1 to ${LONGEST_NAME} characters that can be printed`);
  }
  return { name, role: "operator" };
}

function userName(): string {
  try {
    return userInfo().username || "operator";
  } catch {
    // A process in a container may have a user that the machine does not know.
    return "operator";
  }
}

/** Reads limits off a flag; a flag that holds none is a command line that was not understood. */
export function limitsOf(text: string, flag: string): Readonly<Record<string, number | null>> {
  try {
    return readBudgetFlag(text, { flag }).limits;
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
}

/** Reads amounts, such as `llm_tokens=+50000,cost_usd=0.10`. */
export function amountsOf(text: string, flag: string): BudgetAmounts {
  const limits = limitsOf(text.replace(/=\s*\+/g, "="), flag);
  const amounts: Record<string, number> = {};
  for (const [id, amount] of Object.entries(limits)) {
    if (amount === null || amount === 0) {
      throw new UsageError(`${flag}: ${id} is ${amount}; allowed: an amount, such as ${id}=+100`);
    }
    amounts[id] = amount;
  }
  return amounts;
}

/** The hints of a command line; undefined when it has none. */
export function hintsOf(flags: Given): ExecutionHints | undefined {
  const text = textOf(flags, "budget-extend");
  if (text === undefined) return undefined;
  const amounts = Object.entries(amountsOf(text, "--budget-extend"));
  return { budget_extend: amounts.map(([dimension, additional]) => ({ dimension, additional })) };
}

/** Reads `steps=approval_required,cost_usd=soft_warn`; what is not known in it, the configuration complains about. */
export function pairsOf(text: string, flag: string): Readonly<Record<string, string>> {
  const pairs: Record<string, string> = {};
  for (const part of text.split(",")) {
    const [, name, value] = /^\s*([\w-]{1,100})\s*=\s*([\w-]{1,100})\s*$/.exec(part) ?? [];
    if (name === undefined || value === undefined) {
      throw new UsageError(`${flag}: ${part.trim() || "nothing"} has no value; write ${flag} steps=approval_required`);
    }
    if (Object.hasOwn(pairs, name)) throw new UsageError(`${flag} says ${name} a second time; keep one`);
    pairs[name] = value.replaceAll("-", "_");
  }
  return pairs;
}

/** A whole number of at least 1. */
export function countOf(flags: Given, name: string, most: number): number | undefined {
  const text = textOf(flags, name);
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d{1,15}$/.test(text) && count >= 1 && count <= most) return count;
  throw new UsageError(`--${name} is ${text.slice(0, 40)}; allowed: a whole number from 1 to ${most}`);
}
