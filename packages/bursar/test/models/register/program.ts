import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ScriptedModel } from "../../../src/testing/scripted-model.js";

/** How a program ended. */
export interface Ended {
  readonly code: number | null;
  /** What it died of; null for a program that ended by itself. */
  readonly signal: string | null;
  readonly outcomes: readonly {
    readonly value?: unknown;
    readonly error?: string;
    readonly status?: number;
    readonly text?: string;
  }[];
  readonly stderr: string;
}

const ROOT = fileURLToPath(new URL("../../../../../", import.meta.url));
const LONGEST_MS = 90_000;
const PRICES = JSON.stringify({ scripted: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } });

/** A program under way. */
export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** Runs one of the programs as a user would: with `--import bursar/register` as a flag, or in `NODE_OPTIONS`. */
export function runProgram(...program: Parameters<typeof startProgram>): Promise<Ended> {
  return startProgram(...program).ended;
}

/** Starts one, and does not wait. */
export function startProgram(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  model?: ScriptedModel,
  form: "options" | "flag" = "options",
): Started {
  const file = fileURLToPath(new URL(`./programs/${name}.mjs`, import.meta.url));
  const { PATH = "", HOME = "", NODE_OPTIONS = "" } = process.env;
  const addresses = model === undefined ? {} : { OPENAI_BASE_URL: model.url, ANTHROPIC_BASE_URL: model.origin };
  const flags = form === "flag" ? ["--import", "bursar/register"] : [];
  const options = form === "flag" ? NODE_OPTIONS : `${NODE_OPTIONS} --import bursar/register`.trim();
  const child = spawn(process.execPath, [...flags, file, ...args], {
    cwd: ROOT,
    // A program that does not end must not outlive its test.
    timeout: LONGEST_MS,
    killSignal: "SIGKILL",
    env: {
      PATH,
      HOME,
      OPENAI_API_KEY: "k",
      OPENAI_AGENTS_DISABLE_TRACING: "1",
      BURSAR_PRICES: PRICES,
      NODE_OPTIONS: options,
      ...addresses,
      ...env,
    },
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (piece) => {
      stdout += piece;
    });
    child.stderr.on("data", (piece) => {
      stderr += piece;
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      try {
        resolve({ code, signal, stderr, outcomes: stdout === "" ? [] : JSON.parse(stdout) });
      } catch {
        reject(new Error(`the program said ${stdout}\n${stderr}`));
      }
    });
  });
  return { child, ended };
}
