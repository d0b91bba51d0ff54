import {
  defineAgent,
  defineTool,
  type Handlers,
  MemoryStore,
  openBursar,
  type Program,
  type StartOptions,
  type Store,
  type Tool,
  Worker,
} from "bursar";
import { openServer, type ServerOptions } from "bursar/server";
import { Feed } from "bursar/views";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect, vi } from "vitest";
import { openBrowser } from "./browser.js";
import { buildPage } from "./built-page.js";

/** Asks its tool once for each question; every answer costs something. */
const researcher = defineAgent("researcher", async (ctx, { questions }: { questions: readonly string[] }) => {
  const answers: unknown[] = [];
  for (const question of questions) answers.push(await ctx.tool("answer", { question }));
  return { answers: answers.length };
});

/** Hands its questions to a child. */
const chief = defineAgent("chief", (ctx, input: { questions: readonly string[] }) =>
  ctx.spawn("researcher", input, { fraction: 0.5 }),
);

/** Wants to do something that a human has to allow. */
const sender = defineAgent("sender", (ctx) => ctx.tool("send", { to: "all@example.com" }));

const answer = defineTool({
  name: "answer",
  description: "Answers a question.",
  input: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
  quote: { cost_usd: 0.05, llm_tokens: 900 },
  meter: () => ({ cost_usd: 0.04, llm_tokens: 750 }),
  run: ({ question }: { question: string }) => `about ${question}`,
});

const send = defineTool({
  name: "send",
  description: "Sends a mail.",
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  approval: true,
  run: () => "sent",
});

/** Enough for two answers, and for more only if somebody says so. */
export const TIGHT = {
  limits: { cost_usd: 0.1, llm_tokens: 5000, steps: 20, wall_clock_ms: 60_000 },
  policies: { cost_usd: "approval_required" },
} as const satisfies StartOptions;

export const QUESTIONS = { questions: ["rivers", "lakes", "seas", "wells"] };

export interface SceneOptions {
  readonly store?: Store;
  readonly programs?: readonly Program[];
  readonly tools?: readonly Tool[];
  readonly handlers?: Handlers;
  readonly server?: Partial<ServerOptions>;
}

/** The page in a real browser, before a real server with a worker that drives runs. */
export async function openScene({
  store = new MemoryStore(),
  programs = [],
  tools = [],
  handlers = {},
  server: more = {},
}: SceneOptions = {}) {
  const built = await buildPage();
  const feed = new Feed({ store, look_ms: 100 });
  const bursar = openBursar({
    store: feed.store,
    programs: [researcher, chief, sender, ...programs],
    tools: [answer, send, ...tools],
    handlers,
  });
  const worker = new Worker({ bursar, every_ms: 20 });
  worker.start();
  const options = { store: feed.store, bursar, feed, page: built.folder, version: "1.2.3", ...more };
  let server = await openServer({ port: 0, ...options });
  const { url } = server;
  const browser = await openBrowser();
  return {
    store: feed.store,
    bursar,
    browser,
    url,
    stopServer: () => server.close({ within_ms: 0 }),
    /** Opens it again where it was. */
    restartServer: async () => {
      server = await openServer({ ...options, port: Number(new URL(url).port) });
    },
    /** Starts a run and waits until it stands still or has ended. */
    async run(program: string, input: unknown = QUESTIONS, start: StartOptions = TIGHT): Promise<string> {
      const { id } = await bursar.start(program, input, start);
      await vi.waitFor(async () => expect((await bursar.find(id)).status).not.toMatch(/queued|running/), POLL);
      return id;
    },
    visit: (path: string, context: ContextOptions = {}) => visit(browser, url, path, context),
    [Symbol.asyncDispose]: async () => {
      await browser.close();
      await server[Symbol.asyncDispose]();
      await worker[Symbol.asyncDispose]();
      feed[Symbol.dispose]();
      await store[Symbol.asyncDispose]();
      await built[Symbol.asyncDispose]();
    },
  };
}

export type Scene = Awaited<ReturnType<typeof openScene>>;
export const POLL = { timeout: 20_000, interval: 50 };
type ContextOptions = NonNullable<Parameters<Browser["newContext"]>[0]>;

/** A browser window of its own, in which every fault of the page is remembered. */
async function visit(browser: Browser, url: string, path: string, options: ContextOptions) {
  const context: BrowserContext = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: "en-US",
    ...options,
  });
  const page: Page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  await page.goto(`${url}${path}`);
  return { page, faults, [Symbol.asyncDispose]: () => context.close() };
}
