import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bursar } from "./run.js";

export const ROOT: string = fileURLToPath(new URL("../../..", import.meta.url));
export const AGENTS: string = join(ROOT, "examples", "agents");

/** A tool that counts its calls in a file, and an agent that uses it; trusted code finds the library from where it stands. */
const MODULE = `
import { appendFileSync } from "node:fs";
import { defineAgent, defineTool } from "bursar";

export const note = defineTool({
  name: "note",
  description: "Writes a word down.",
  input: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  quote: { cost_usd: 0.05 },
  meter: () => ({ cost_usd: 0.02 }),
  run: ({ word }) => {
    appendFileSync(process.env.NOTES, word + "\\n");
    if (word.startsWith("fail")) throw new Error("the pen is empty" + word.slice(4));
    return word.toUpperCase();
  },
});

export const letter = defineTool({
  name: "letter",
  description: "Sends a letter, when somebody says yes.",
  input: { type: "object" },
  approval: true,
  run: () => "sent",
});

export const writer = defineAgent("writer", async (ctx, input) => {
  const said = [];
  for (const word of input?.words ?? []) said.push(await ctx.tool("note", { word }).catch((error) => error.message));
  if (input?.letter) said.push(await ctx.tool("letter", {}).catch((error) => error.message));
  if (input?.sleep_ms) await ctx.sleep(input.sleep_ms);
  for (const word of input?.after ?? []) said.push(await ctx.tool("note", { word }));
  return said.join(" ");
});
`;

export interface Stage extends Disposable {
  readonly at: (name: string) => string;
  readonly module: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command on this stage's store. */
  readonly run: (...args: readonly string[]) => ReturnType<typeof bursar>;
  /** The same with --json, and what it said. */
  readonly json: (...args: readonly string[]) => { readonly status: number | null; readonly said: Said };
}

/** What a command says to programs. */
type Said = Readonly<Record<string, never>> & { readonly [key: string]: never };

/** A store, a folder for files, and a module with an agent. */
export function openStage(): Stage {
  const folder = mkdtempSync(join(tmpdir(), "bursar-runs-"));
  const cache = join(ROOT, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const modules = mkdtempSync(join(cache, "bursar-runs-"));
  const module = join(modules, "writer.mjs");
  writeFileSync(module, MODULE);
  const at = (name: string) => join(folder, name);
  writeFileSync(at("notes"), "");
  const env = { BURSAR_STORE: `sqlite:${at("runs.db")}`, NOTES: at("notes"), BURSAR_CONFIG: "" };
  const run = (...args: readonly string[]) => bursar(args, env);
  return {
    at,
    module,
    env,
    run,
    json: (...args) => {
      const { status, stdout, stderr } = run(...args, "--json");
      if (stdout === "") throw new Error(`nothing was said: ${stderr}`);
      return { status, said: JSON.parse(stdout) as Said };
    },
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true, force: true });
      rmSync(modules, { recursive: true, force: true });
    },
  };
}
