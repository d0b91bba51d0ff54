import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser } from "../../web/test/browser.js";
import { type ListeningProcess, startListening, until } from "./listening-process.js";
import { Pty } from "./pty.js";
import { MAIN } from "./run.js";
import { openStage, type Stage } from "./runs-stage.js";

const WORDS = ["one", "two", "three", "four"];

let stage: Stage;
let server: ListeningProcess;
let browser: Browser;
beforeAll(async () => {
  stage = openStage();
  server = await startListening(["serve", "--module", stage.module], stage.env);
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
  stage?.[Symbol.dispose]();
});

interface RunView {
  readonly id: string;
  readonly status: string;
  readonly result: unknown;
  readonly requests: readonly { readonly id: string }[];
}

async function ask<Answer>(path: string, body?: object): Promise<Answer> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(`${server.url}/api/v1/${path}`, body === undefined ? {} : init);
  return (await answer.json()) as Answer;
}

/** A run that stands still before the last word, driven by the server. */
async function pausedRun(id: string): Promise<RunView> {
  const policies = { steps: "approval_required" };
  await ask("runs", { program: "writer", id, input: { words: WORDS }, limits: { steps: 3 }, policies });
  await until(`${id} has paused`, async () => (await ask<RunView>(`runs/${id}`)).requests.length === 1);
  return ask<RunView>(`runs/${id}`);
}

async function ended(id: string): Promise<RunView> {
  await until(`${id} has ended`, async () => (await ask<RunView>(`runs/${id}`)).status === "completed");
  return ask<RunView>(`runs/${id}`);
}

/** Somebody who has the request before him, and only has to say yes. */
interface Decider {
  readonly approve: () => Promise<unknown>;
  readonly leave: () => Promise<unknown>;
}

/** Every place where somebody can say yes. */
const FACES: Readonly<Record<string, (run: RunView) => Promise<Decider>>> = {
  async page({ id }) {
    const page = await browser.newPage();
    await page.goto(`${server.url}/runs/${id}`);
    const button = page.getByRole("button", { name: "Approve" });
    await button.waitFor();
    return { approve: () => button.click(), leave: () => page.close() };
  },
  async terminal({ id }) {
    const tui = new Pty(["tui", "--module", stage.module, "--as", "ann"], stage.env);
    await tui.until(id);
    tui.press("a");
    await tui.until(`approve ${id}`);
    const leave = () => {
      tui.press("\x03");
      return tui.ended;
    };
    return { approve: async () => tui.press("\r"), leave };
  },
  async "command line"({ id }) {
    const { BURSAR_STORE: _, ...inherited } = process.env;
    const args = [MAIN, "approve", id, "--detach"];
    const approve = () => promisify(execFile)(process.execPath, args, { env: { ...inherited, ...stage.env } });
    return { approve, leave: async () => {} };
  },
  async MCP({ requests }) {
    const client = new Client({ name: "test", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp?role=operator`));
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    const wish = { name: "budget_approve", arguments: { checkpoint_id: requests[0]?.id ?? "" } };
    return { approve: () => client.callTool(wish), leave: () => client.close() };
  },
};

async function decider(face: string, run: RunView): Promise<Decider> {
  const open = FACES[face];
  if (open === undefined) throw new Error(`there is no face called ${face}`);
  return open(run);
}

describe("a run that waits for an approval goes on, wherever it is given", () => {
  test.each(Object.keys(FACES))("%s", async (face) => {
    const run = await pausedRun(`by-${face.replace(" ", "-")}`);
    const { approve, leave } = await decider(face, run);
    await approve();
    expect((await ended(run.id)).result).toBe("ONE TWO THREE FOUR");
    await leave();
    expect(stage.run("verify", run.id).status).toBe(0);
  });
});

test("MCP tells a command that works where the server drives the run", async () => {
  const { id, requests } = await pausedRun("told");
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`));
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const { structuredContent } = await client.callTool({ name: "run_status", arguments: { run_id: id } });
  await client.close();
  const command = `bursar approve ${requests[0]?.id} --detach`;
  expect(structuredContent).toMatchObject({ requests: [{ command }] });
  expect(stage.run(...command.split(" ").slice(1)).status).toBe(0);
  await ended(id);
});

describe("two at once decide once", () => {
  const names = Object.keys(FACES);
  const pairs = names.flatMap((one, at) => names.slice(at + 1).map((other) => [one, other] as const));
  test.each(pairs)("%s and %s", async (one, other) => {
    const run = await pausedRun(`${one}-${other}`.replaceAll(" ", "-"));
    const both = await Promise.all([decider(one, run), decider(other, run)]);
    // Whoever comes too late is told so, each in a way of its own; what counts here is what was decided.
    await Promise.allSettled(both.map(({ approve }) => approve()));
    await ended(run.id);
    await Promise.all(both.map(({ leave }) => leave()));
    const chain = stage.run("chain", run.id, "--json").stdout;
    expect(chain.match(/"event":"Extended"/g)).toHaveLength(1);
  });
});
