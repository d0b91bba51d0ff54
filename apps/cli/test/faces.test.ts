import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser } from "../../web/test/browser.js";
import { type ListeningProcess, startListening, until } from "./listening-process.js";
import { Pty } from "./pty.js";
import { MAIN } from "./run.js";
import { openStage, type Stage } from "./runs-stage.js";

const HELD = fileURLToPath(new URL("./children/held.mjs", import.meta.url));
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

async function ended(id: string, status = "completed"): Promise<RunView> {
  await until(`${id} is ${status}`, async () => (await ask<RunView>(`runs/${id}`)).status === status);
  return ask<RunView>(`runs/${id}`);
}

/** A sign that is given later. */
function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

type Answer = "approve" | "deny";

/** Whether it was his answer that counted, and what he was told. */
interface Outcome {
  readonly won: boolean;
  readonly told: string;
}

/** Somebody who has made up his mind, and only waits for a sign to say so. */
interface Decider {
  readonly decide: () => Promise<Outcome>;
  readonly leave: () => Promise<unknown>;
}

/** What is said to whoever comes too late. */
const TOO_LATE = "was (?:approved|denied|just decided) by|answered this request meanwhile";

/** Every place where somebody can answer. */
const FACES: Readonly<Record<string, (run: RunView, answer: Answer) => Promise<Decider>>> = {
  async page({ id }, answer) {
    const page = await browser.newPage();
    await page.goto(`${server.url}/runs/${id}`);
    // What the page sends is held back, because its buttons are gone as soon as somebody else has answered.
    const { promise: sign, resolve: release } = deferred();
    let isHeld = false;
    await page.route(/\/(?:approve|deny)$/, async (route) => {
      isHeld = true;
      await sign;
      await route.continue();
    });
    await page.getByRole("button", { name: answer === "approve" ? "Approve" : "Deny" }).click();
    await until("the page has answered", () => isHeld);
    const decide = async () => {
      const answered = page.waitForResponse(/\/(?:approve|deny)$/);
      release();
      const won = (await answered).status() === 200;
      const word = won ? /^(?:Approved|Denied): the run/ : /^Too late/;
      return { won, told: await page.getByRole("status").filter({ hasText: word }).innerText() };
    };
    return { decide, leave: () => page.close() };
  },
  async terminal({ id }, answer) {
    const tui = new Pty(["tui", "--module", stage.module, "--as", "ann"], stage.env);
    await tui.until(id);
    tui.press(answer === "approve" ? "a" : "d");
    await tui.until(`${answer} ${id}`);
    const decide = async () => {
      tui.press("\r");
      // Whoever wins drives the run on, and what came of that may stand on the screen before anything else does.
      const told = await tui.hears(
        new RegExp(`${TOO_LATE}|(?:approved|denied): run|1 run driven|is (?:complet|cancell)ed`),
      );
      return { won: !new RegExp(TOO_LATE).test(told), told };
    };
    const leave = () => {
      tui.press("\x03");
      return tui.ended;
    };
    return { decide, leave };
  },
  async "command line"({ requests }, answer) {
    const { BURSAR_STORE: _, ...inherited } = process.env;
    const args = [HELD, MAIN, answer, requests[0]?.id ?? "", "--detach"];
    const child = spawn(process.execPath, args, { env: { ...inherited, ...stage.env } });
    const over = once(child, "close");
    let told = "";
    for (const output of [child.stdout, child.stderr]) {
      output.setEncoding("utf8").on("data", (text: string) => {
        told += text;
      });
    }
    await until("the command is loaded", () => told === "ready\n");
    const decide = async () => {
      child.stdin.end("now\n");
      const [code] = await over;
      return { won: code === 0, told };
    };
    return { decide, leave: () => over };
  },
  async MCP({ requests }, answer) {
    const client = new Client({ name: "test", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp?role=operator`));
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    const wish = { name: `budget_${answer}`, arguments: { checkpoint_id: requests[0]?.id ?? "" } };
    const decide = async () => {
      const { isError, content } = await client.callTool(wish);
      return { won: isError !== true, told: JSON.stringify(content) };
    };
    return { decide, leave: () => client.close() };
  },
};

async function decider(face: string, run: RunView, answer: Answer = "approve"): Promise<Decider> {
  const open = FACES[face];
  if (open === undefined) throw new Error(`there is no face called ${face}`);
  return open(run, answer);
}

describe("a run that waits for an approval goes on, wherever it is given", () => {
  test.each(Object.keys(FACES))("%s", async (face) => {
    const run = await pausedRun(`by-${face.replace(" ", "-")}`);
    const { decide, leave } = await decider(face, run);
    expect(await decide()).toMatchObject({ won: true });
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

/** Everything that was decided over a run, as its chain has it. */
function decisionsIn(chain: string): readonly string[] {
  const links = chain
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { action_type: string; data: { status: string } });
  return links.filter(({ action_type }) => action_type === "ApprovalDecided").map(({ data }) => data.status);
}

const STATUS = { approve: "approved", deny: "denied" } as const;

describe("two at once decide once, and the other one is told", () => {
  const names = Object.keys(FACES);
  const pairs = names.flatMap((one, at) => names.slice(at + 1).map((other) => [one, other] as const));
  test.each([
    ...pairs.map(([one, other]) => [one, "approve", other, "approve"] as const),
    ...pairs.map(([one, other]) => [one, "approve", other, "deny"] as const),
    ...pairs.map(([one, other]) => [one, "deny", other, "approve"] as const),
  ])("%s (%s) and %s (%s)", async (one, first, other, second) => {
    const run = await pausedRun(`${one}-${first}-${other}-${second}`.replaceAll(" ", "-"));
    const both = await Promise.all([decider(one, run, first), decider(other, run, second)]);
    const outcomes = await Promise.all(both.map(({ decide }) => decide()));
    expect(outcomes.filter(({ won }) => won)).toHaveLength(1);
    const answer = outcomes[0]?.won ? first : second;
    const late = outcomes.find(({ won }) => !won)?.told;
    expect(late).toMatch(new RegExp(`was (?:${STATUS[answer]}|just decided) by|answered this request meanwhile`));
    await ended(run.id, answer === "approve" ? "completed" : "cancelled");
    await Promise.all(both.map(({ leave }) => leave()));
    const chain = stage.run("chain", run.id, "--json").stdout;
    expect(decisionsIn(chain)).toEqual([STATUS[answer]]);
    expect(chain.match(/"event":"Extended"/g) ?? []).toHaveLength(answer === "approve" ? 1 : 0);
  });
});
