import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FENCE = /^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm;

/** A block of the page: a file where it has a name, else commands, or what the commands before it print. */
interface Block {
  readonly kind: string;
  readonly file: string | null;
  readonly text: string;
}

interface Section {
  readonly title: string;
  readonly blocks: readonly Block[];
}

function sectionsOf(page: string): readonly Section[] {
  const sections = readFileSync(join(ROOT, page), "utf8").split(/^## /m).slice(1);
  return sections.map((section) => ({
    title: section.slice(0, section.indexOf("\n")),
    blocks: [...section.matchAll(FENCE)].map(([, kind = "", file = null, text = ""]) => ({ kind, file, text })),
  }));
}

/** Commands of which the page says what they print. */
function isTold({ blocks }: Section): boolean {
  return blocks.some(({ kind }) => kind === "text");
}

const cookbook = sectionsOf("docs/COOKBOOK.md");
const quickStart = sectionsOf("docs/QUICKSTART.md").filter(isTold);

/** A model in a thread of its own, because this one waits for the commands. */
const MODEL = `
import { parentPort } from "node:worker_threads";
import { openScriptedModel } from ${JSON.stringify(import.meta.resolve("bursar/testing"))};
const usage = { prompt_tokens: 40, completion_tokens: 10 };
const script = () => ({ kind: "text", text: "Noted.", usage });
const models = ["gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"];
const model = await openScriptedModel({ script, models, apiKey: "sk-of-the-test" });
parentPort.postMessage(model.url);
`;
let model: Worker;
let url = "";

beforeAll(async () => {
  model = new Worker(new URL(`data:text/javascript,${encodeURIComponent(MODEL)}`));
  url = await new Promise<string>((resolve, reject) => {
    model.once("message", resolve);
    model.once("error", reject);
  });
});
afterAll(() => model.terminate());

/** What a reader has set, and nothing of whoever runs the tests. */
function environment(folder: string): Readonly<Record<string, string>> {
  const key = "sk-of-the-test";
  return {
    PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH ?? ""}`,
    HOME: folder,
    NO_COLOR: "1",
    BURSAR_GUEST: "npm",
    BURSAR_STORE: `sqlite:${join(folder, "bursar.db")}`,
    // What the sandbox has made once need not be made again for every section.
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"),
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: url,
    BURSAR_MODEL_URL: url,
    BURSAR_MODEL: "gpt-4.1-mini",
    BURSAR_MODEL_KEY: key,
  };
}

function shell(
  commands: string,
  folder: string,
): { readonly status: number | null; readonly said: string; readonly errors: string } {
  const options = { cwd: folder, env: environment(folder), encoding: "utf8", timeout: 110_000 } as const;
  const { status, stdout, stderr } = spawnSync(
    "bash",
    ["--norc", "--noprofile", "-euo", "pipefail", "-c", commands],
    options,
  );
  return { status, said: stdout, errors: stderr };
}

/** The page's text as a pattern: `…` stands for anything, also over several lines. */
function patternOf(text: string): RegExp {
  const parts = text.trimEnd().split("…");
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[\\s\\S]*?")}$`);
}

/** Does what a section says, in a folder of its own, and compares what is printed. */
function follow({ blocks }: Section): void {
  const folder = mkdtempSync(join(tmpdir(), "bursar-cookbook-"));
  try {
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    for (const { file, text } of blocks) if (file !== null) writeFileSync(join(folder, file), text);
    for (const [index, { kind, text }] of blocks.entries()) {
      if (kind !== "sh") continue;
      const { status, said, errors } = shell(text, folder);
      expect({ status, errors: status === 0 ? "" : errors }).toEqual({ status: 0, errors: "" });
      const expected = blocks[index + 1];
      expect(expected?.kind).toBe("text");
      expect(said.trimEnd()).toMatch(patternOf(expected?.text ?? ""));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe("docs/COOKBOOK.md", () => {
  test.for(cookbook)("$title", follow);

  test("has enough to run, and nothing that is not", () => {
    expect(cookbook.length).toBeGreaterThanOrEqual(10);
    expect(cookbook.filter((section) => !isTold(section))).toEqual([]);
    const blocks = cookbook.flatMap((section) => section.blocks);
    expect(blocks.filter(({ kind, file }) => file === null && kind !== "sh" && kind !== "text")).toEqual([]);
  });
});

describe("docs/QUICKSTART.md", () => {
  test.for(quickStart)("$title", follow);

  test("has something to run", () => {
    expect(quickStart.length).toBeGreaterThanOrEqual(3);
  });
});
