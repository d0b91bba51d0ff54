import type { Sandbox } from "@bursar/sandbox";
import { MemoryStore } from "bursar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CodeSession, CodeSessions } from "../../src/mcp/code-sessions.js";
import { type CodeWish, execute } from "../../src/mcp/execution.js";
import { Workplace } from "../../src/mcp/workplace.js";
import { AGENT, call, openStage, openTestSandbox } from "./stage.js";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox();
  await sandbox.warm("javascript");
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const FUEL = 2_000_000_000;
/** Says so when it has begun, and burns all that it is given. */
const LOOP = "console.log('begun'); for (;;) {}";

function openWorkplace(): Workplace {
  const limits = { fuel: 10 * FUEL, steps: 100 };
  return new Workplace({
    store: new MemoryStore(),
    sandbox: async () => sandbox,
    packagesFolder: "/nonexistent",
    name: "mcp:test",
    limits,
  });
}

function wishFor(code: string, more: Partial<CodeWish> = {}): CodeWish {
  const { signal } = new AbortController();
  return { code, fuel: FUEL, timeout_ms: 300_000, signal, onOutput: () => {}, ...more };
}

/** Executes the loop, and comes back with its end when it has begun. */
async function looping(workplace: Workplace, session: CodeSession, more: Partial<CodeWish> = {}) {
  let begun = () => {};
  const began = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const ended = execute(workplace, session, wishFor(LOOP, { onOutput: () => begun(), ...more }));
  await Promise.race([began, ended]);
  return { ended };
}

/** What stands in the queue has come there when nothing else is left to do. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

const fuelOf = async (workplace: Workplace) => {
  const { used, held } = await workplace.state();
  return { used: used.fuel ?? 0, held: held.fuel ?? 0 };
};

describe("a call that executes nothing burns nothing", () => {
  test("cancelled before it began", async () => {
    await using workplace = openWorkplace();
    const session = await workplace.sessions.create({ language: "javascript" });
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(execute(workplace, session, wishFor("1", { signal }))).rejects.toThrow("enough");
    expect(await fuelOf(workplace)).toEqual({ used: 0, held: 0 });
  });

  test("in a session that has expired, which is told", async () => {
    await using workplace = openWorkplace();
    const session = await workplace.sessions.create({ language: "javascript" });
    await sandbox.session(session.handle.id).destroy();
    await expect(execute(workplace, session, wishFor("1"))).rejects.toThrow("There is no session");
    expect(await fuelOf(workplace)).toEqual({ used: 0, held: 0 });
    expect(await workplace.sessions.present()).toEqual([]);
  });

  test("refused by the sandbox before the guest began", async () => {
    await using workplace = openWorkplace();
    const session = await workplace.sessions.create({ language: "javascript" });
    // A whole number is all that the sandbox takes as a timeout.
    await expect(execute(workplace, session, wishFor("1", { timeout_ms: 1.5 }))).rejects.toThrow("timeout");
    expect(await fuelOf(workplace)).toEqual({ used: 0, held: 0 });
  });

  test("in the queue of a session that is destroyed meanwhile", async () => {
    await using workplace = openWorkplace();
    const session = await workplace.sessions.create({ language: "javascript" });
    const { ended } = await looping(workplace, session, { fuel: 5 * FUEL });
    const queued = execute(workplace, session, wishFor("1"));
    const gone = expect(queued).rejects.toMatchObject({
      name: "ToolError",
      message: expect.stringContaining("There is no session"),
    });
    await settled();
    await workplace.sessions.destroy(session.id);
    await gone;
    const { result } = await ended;
    expect(await fuelOf(workplace)).toEqual({ used: result.fuel_consumed, held: 0 });
  });
});

test("code that names no session goes on in a new one when the usual one has expired", async () => {
  await using stage = await openStage({ sandbox: async () => sandbox });
  const client = await stage.connect(AGENT);
  const args = { code: "console.log(1)", language: "javascript" };
  const first = await call(client, "execute_code", args);
  await sandbox.session(first.said.session_id as never as string).destroy();
  const second = await call(client, "execute_code", args);
  expect([second.isError, second.said.stdout]).toEqual([false, "1\n"]);
  expect(second.said.session_id).not.toBe(first.said.session_id);
  const { said } = await call(client, "list_sessions");
  expect(said.sessions).toHaveLength(1);
});

describe("calls in the same session follow each other", () => {
  test("to cancel one that waits leaves the one alone that runs", async () => {
    await using workplace = openWorkplace();
    const session = await workplace.sessions.create({ language: "javascript" });
    const { ended } = await looping(workplace, session);
    const cancelling = new AbortController();
    const waiting = execute(workplace, session, wishFor("1", { signal: cancelling.signal }));
    const left = expect(waiting).rejects.toThrow("enough");
    const last = execute(workplace, session, wishFor("console.log('last')"));
    await settled();
    cancelling.abort(new Error("enough"));
    await left;
    expect((await ended).result.metadata.trap_reason).toBe("out_of_fuel");
    expect((await last).result.stdout).toBe("last\n");
  });

  test("one that runs is cancelled by its own signal, and the next has its turn", async () => {
    await using workplace = openWorkplace();
    const session = await workplace.sessions.create({ language: "javascript" });
    const cancelling = new AbortController();
    const { ended } = await looping(workplace, session, { fuel: 5 * FUEL, signal: cancelling.signal });
    const next = execute(workplace, session, wishFor("console.log('next')"));
    cancelling.abort();
    expect((await ended).result).toMatchObject({ success: false, metadata: { trap_reason: "trap" } });
    expect((await next).result.stdout).toBe("next\n");
  });
});

describe("a session that is made anew", () => {
  const { signal } = new AbortController();
  const anew = (packages: readonly string[]) => [...packages];

  const guests = async () => (await sandbox.sessions()).length;

  test("several times at once leaves one guest behind", async () => {
    const before = await guests();
    await using workplace = openWorkplace();
    const session = await workplace.sessions.create({ language: "javascript" });
    await Promise.all([1, 2, 3].map(() => workplace.sessions.remake(session.id, anew, signal)));
    expect((await guests()) - before).toBe(1);
    expect((await execute(workplace, session, wishFor("console.log(1)"))).result.stdout).toBe("1\n");
  });

  test.each(["destroyed", "closed"])("and is %s meanwhile leaves none, and says so", async (how) => {
    const before = await guests();
    let meanwhile = async () => {};
    const place = async () => {
      await meanwhile();
      return sandbox;
    };
    await using sessions = new CodeSessions({ sandbox: place, packagesFolder: "/nonexistent" }, {});
    const { id } = await sessions.create({ language: "javascript" });
    // Its files are read by now, and the next guest is about to be made.
    meanwhile = () => (how === "closed" ? sessions[Symbol.asyncDispose]() : sessions.destroy(id));
    await expect(sessions.remake(id, anew, signal)).rejects.toThrow("There is no session");
    expect(await guests()).toBe(before);
  });
});
