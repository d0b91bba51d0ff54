import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser } from "../../web/test/browser.js";
import { type ListeningProcess, startListening, until } from "./listening-process.js";
import { Pty } from "./pty.js";
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

async function mcpClient(): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp?role=operator`));
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client;
}

/** How somebody says yes in each of the places where it is possible. */
const FACES: Readonly<Record<string, (run: RunView) => Promise<void>>> = {
  async page({ id }) {
    const page = await browser.newPage();
    await page.goto(`${server.url}/runs/${id}`);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("approved", { exact: false }).first().waitFor();
    await page.close();
  },
  async terminal({ id }) {
    const tui = new Pty(["tui", "--as", "ann"], stage.env);
    await tui.until(id);
    tui.press("a");
    await tui.until(`approve ${id}`);
    tui.press("\r");
    await tui.until(id);
    tui.press("q");
    await tui.ended;
  },
  async "command line"({ id }) {
    stage.run("approve", id, "--detach");
  },
  async MCP({ requests }) {
    const client = await mcpClient();
    await client.callTool({ name: "budget_approve", arguments: { checkpoint_id: requests[0]?.id ?? "" } });
    await client.close();
  },
};

describe("a run that waits for an approval goes on, wherever it is given", () => {
  test.each(Object.entries(FACES))("%s", async (face, approve) => {
    const run = await pausedRun(`by-${face.replace(" ", "-")}`);
    await approve(run);
    expect((await ended(run.id)).result).toBe("ONE TWO THREE FOUR");
    expect(stage.run("verify", run.id).status).toBe(0);
  });
});

describe("two at once decide once", () => {
  const names = Object.keys(FACES);
  const pairs = names.flatMap((one, at) => names.slice(at + 1).map((other) => [one, other] as const));
  test.each(pairs)("%s and %s", async (one, other) => {
    const run = await pausedRun(`${one}-${other}`.replaceAll(" ", "-"));
    // Whoever comes too late may be told so in any way; what counts is what was decided.
    await Promise.allSettled([FACES[one]?.(run), FACES[other]?.(run)]);
    await ended(run.id);
    const chain = stage.run("chain", run.id, "--json").stdout;
    expect(chain.match(/"event":"Extended"/g)).toHaveLength(1);
  });
});
