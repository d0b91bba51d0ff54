import { describe, expect, test } from "vitest";
import type { ProgramTerms } from "../../src/ports/program.js";
import { type AgentContext, defineAgent, type SpawnBudget } from "../../src/runs/agent.js";
import type { BursarOptions } from "../../src/runs/bursar-options.js";
import type { StartOptions } from "../../src/runs/opening.js";
import { ForbiddenError, type Principal } from "../../src/runs/principal.js";
import { ANN, Theatre } from "./stage.js";

const AGENT: Principal = { name: "bot", role: "agent" };

async function talk(ctx: AgentContext, input: unknown): Promise<string> {
  const { words = 2 } = (input ?? {}) as { words?: number };
  for (let word = 0; word < words; word++) await ctx.tool("echo", { text: `${word}` });
  return "said";
}

/** A program with terms of its own, and what it is started with. */
function started(
  terms: ProgramTerms,
  options: StartOptions & { by?: Principal } = {},
  more: Partial<BursarOptions> = {},
) {
  const program = { ...defineAgent("tight", talk), terms: { from: "tight.rtfs", ...terms } };
  const theatre = new Theatre([program]);
  const bursar = theatre.process(more);
  return {
    theatre,
    bursar,
    program,
    run: (input: unknown = null) => bursar.run(program, input, { id: "r", ...options }),
    byName: (input: unknown = null) => bursar.run("tight", input, { id: "r", ...options }),
    record: async () => bursar.find("r"),
    budget: async () => theatre.store.budget("r"),
  };
}

describe("a program's own terms", () => {
  test.each([undefined, ANN, AGENT])("hold whoever starts it: %j", async (by) => {
    const { run, theatre } = started({ limits: { steps: 1 } }, by === undefined ? {} : { by });
    expect(await run()).toMatchObject({ status: "failed", failure: { dimension: "steps" }, usage: { steps: 1 } });
    expect(theatre.said).toEqual(["0"]);
  });

  test("hold where the program is started by its name", async () => {
    const { byName } = started({ limits: { steps: 1 } });
    expect(await byName()).toMatchObject({ status: "failed", failure: { dimension: "steps" } });
  });

  test("widen what an operator starts, in limits and policies", async () => {
    const { run, budget } = started({ limits: { steps: 60, cost_usd: 1 }, policies: { steps: "approval_required" } });
    expect(await run({ words: 61 })).toMatchObject({ status: "paused", exhausted_dimension: "steps" });
    expect(await budget()).toMatchObject({ limits: { steps: 60, cost_usd: 1_000_000_000 } });
  });

  test("do not widen what an agent starts, and the run says so", async () => {
    const terms = { limits: { steps: 60, cost_usd: 0.1 }, policies: { steps: "approval_required" } } as const;
    const { run, budget, record, theatre } = started(terms, { by: AGENT });
    expect(await run()).toMatchObject({ status: "completed" });
    expect(await budget()).toMatchObject({
      limits: { steps: 50, cost_usd: 100_000_000 },
      policies: { steps: "hard_stop" },
    });
    const { terms: said } = await record();
    expect(said).toEqual({
      steps: {
        limit: "default",
        policy: "default",
        not_granted: "program (tight.rtfs) asks for 60 calls, program (tight.rtfs) asks for approval_required",
      },
      cost_usd: { limit: "program (tight.rtfs)", policy: "default" },
    });
    const links = await theatre.links("r");
    expect(links.find(({ action_type }) => action_type === "RunStarted")?.data).toMatchObject({ terms: said });
  });

  test("give way to what an operator says, in either direction", async () => {
    const wider = started({ limits: { steps: 1 } }, { limits: { steps: 3 }, by: ANN });
    expect(await wider.run({ words: 3 })).toMatchObject({ status: "completed" });
    const tighter = started({ limits: { steps: 3 } }, { limits: { steps: 1 }, by: ANN });
    expect(await tighter.run()).toMatchObject({ status: "failed", usage: { steps: 1 } });
    const without = started({ limits: { steps: 1 } }, { limits: { steps: null } });
    expect(await without.run({ words: 70 })).toMatchObject({ status: "completed" });
  });

  test("are what an agent may tighten, and may not pass", async () => {
    const tighter = started({ limits: { steps: 3 } }, { limits: { steps: 1 }, by: AGENT });
    expect(await tighter.run()).toMatchObject({ status: "failed", usage: { steps: 1 } });
    const wider = started({ limits: { steps: 1 } }, { limits: { steps: 3 }, by: AGENT });
    await expect(wider.run()).rejects.toThrow(ForbiddenError);
    await expect(wider.run()).rejects.toThrow("may only tighten: steps 3 calls is above 1 call (program (tight.rtfs))");
    const looser = started(
      { policies: { llm_tokens: "hard_stop" } },
      { policies: { llm_tokens: "approval_required" }, by: AGENT },
    );
    await expect(looser.run()).rejects.toThrow("llm_tokens approval_required is less strict than hard_stop");
  });

  test("that ask for no limit get none from an operator alone", async () => {
    const free = started({ limits: { steps: null } });
    expect(await free.run({ words: 70 })).toMatchObject({ status: "completed" });
    const kept = started({ limits: { steps: null } }, { by: AGENT });
    expect(await kept.run({ words: 70 })).toMatchObject({ status: "failed", usage: { steps: 50 } });
  });

  test("stay below the ceilings of a configuration, also for an operator", async () => {
    const governance = () => ({
      limits: { steps: 5 },
      ceilings: { steps: 8 },
      origins: { steps: { ceiling: "policy house" } },
    });
    const over = started({ limits: { steps: 9 } }, {}, { governance });
    await expect(over.run()).rejects.toThrow(
      "steps 9 calls (program (tight.rtfs)) is above the ceiling 8 calls (policy house); ask for less",
    );
    const said = started({ limits: { steps: 9 } }, { limits: { steps: 8 } }, { governance });
    expect(await said.run({ words: 8 })).toMatchObject({ status: "completed" });
    const agent = started({ limits: { steps: 9 } }, { by: AGENT }, { governance });
    expect(await agent.run({ words: 8 })).toMatchObject({ status: "failed", usage: { steps: 5 } });
  });

  test("hold in estimates too", async () => {
    const { bursar, program } = started({ limits: { steps: 1 } });
    const expecting = {
      ...program,
      expects: async () => ({ dimensions: { steps: { median: 2, upper: 2 } }, about: "" }),
    };
    expect(await bursar.estimate(expecting, null)).toMatchObject({ fits: false });
    expect(await bursar.estimate(expecting, null, { limits: { steps: 2 } })).toMatchObject({ fits: true });
  });

  test("with a mistake in them start nothing", async () => {
    await expect(started({ limits: { stps: 1 } }).run()).rejects.toThrow("did you mean steps?");
    await expect(started({ limits: { steps: Number.NaN } }).run()).rejects.toThrow("terms.limits.steps");
    await expect(started({ policies: { steps: "never" as never } }).run()).rejects.toThrow("terms.policies.steps");
  });

  test("leave a wrap-up reserve of the configuration no more than they limit", async () => {
    const governance = () => ({ wrap_up: { llm_tokens: 500 } });
    const { run, budget, record } = started({ limits: { llm_tokens: 200 } }, {}, { governance });
    expect(await run()).toMatchObject({ status: "completed" });
    expect(await budget()).toMatchObject({ limits: { llm_tokens: 200 } });
    expect((await record()).wrap_up).toBe("r/wrap-up");
  });
});

describe("a program's own terms below another run", () => {
  const GRANTS: readonly SpawnBudget[] = [
    "share",
    { fraction: 0.5 },
    { fraction: 0.9, limits: { steps: 20 } },
    { limits: {} },
    { limits: { steps: 20 } },
  ];

  async function spawned(terms: ProgramTerms, budget: SpawnBudget | undefined, options: StartOptions = {}, words = 2) {
    const child = { ...defineAgent("tight", talk), terms };
    const above = defineAgent("above", async (ctx) => {
      const said = await ctx.spawn("tight", { words }, budget).catch((error) => error.code);
      await ctx.tool("echo", { text: "above" });
      return said as string;
    });
    const theatre = new Theatre([child, above]);
    const bursar = theatre.process();
    const result = await bursar.run("above", null, { id: "r", ...options });
    return { result, theatre, bursar };
  }

  test.each([...GRANTS, undefined])("hold under the grant %j", async (budget) => {
    const { result, theatre } = await spawned({ limits: { steps: 1 } }, budget);
    expect(result).toMatchObject({ status: "completed", result: "child_exhausted" });
    expect(theatre.said).toEqual(["0", "above"]);
  });

  test("never widen: neither its limits nor its policies", async () => {
    const loose = { limits: { steps: 40 }, policies: { steps: "soft_warn" } } as const;
    const { result } = await spawned(loose, { limits: { steps: 1 } });
    expect(result).toMatchObject({ result: "child_exhausted" });
    const shared = await spawned(loose, "share", { limits: { steps: 4 } }, 9);
    expect(shared.result).toMatchObject({ status: "failed", failure: { dimension: "steps" }, usage: { steps: 4 } });
    expect(shared.theatre.said).toHaveLength(3);
  });

  test("count in the budget that is shared", async () => {
    const { result } = await spawned({ limits: { steps: 5 } }, "share");
    // The spawn, two words of the child, one of the run above.
    expect(result).toMatchObject({ status: "completed", result: "said", usage: { steps: 4 } });
  });

  test("may be stricter where it has limits of its own", async () => {
    const options = { policies: { steps: "approval_required" } } as const;
    const strict = { limits: { steps: 1 }, policies: { steps: "hard_stop" } } as const;
    const { result } = await spawned(strict, "share", options);
    expect(result).toMatchObject({ result: "child_exhausted" });
    const inherited = await spawned({ limits: { steps: 1 } }, "share", options);
    expect(inherited.result.status).toBe("paused");
  });

  test("leave a program that has none with the budget that it shares", async () => {
    const { bursar } = await spawned({}, "share");
    expect(await bursar.find("r.0")).toMatchObject({ shares: true, budget: "r" });
  });

  test("limit each child of its own session", async () => {
    const { result } = await spawned({ session_limits: { steps: 1 } }, "share");
    expect(result).toMatchObject({ result: "child_exhausted" });
  });
});

describe("the limits that a program has for its session", () => {
  test.each([ANN, AGENT])("clamp a run without a session, whatever else is said: %j", async (by) => {
    const { run } = started({ limits: { steps: 4 }, session_limits: { steps: 2 } }, { by });
    expect(await run({ words: 4 })).toMatchObject({ status: "failed", usage: { steps: 2 } });
    const said = started({ session_limits: { steps: 2 } }, { by, limits: { steps: 9 } });
    expect(await said.run({ words: 4 })).toMatchObject({ status: "failed", usage: { steps: 2 } });
    expect((await said.record()).terms?.steps?.limit).toBe("session limits of the program (tight.rtfs)");
  });

  test("open a session that an operator names, which its runs share", async () => {
    const { bursar, program } = started({ session_limits: { steps: 3 } });
    const start = (id: string) => bursar.run(program, null, { id, session: "s" });
    expect(await start("a")).toMatchObject({ status: "completed" });
    expect(await start("b")).toMatchObject({ status: "failed", usage: { steps: 1 } });
  });

  test("hold in a session that is open with more", async () => {
    const { bursar, program } = started({ session_limits: { steps: 3 } });
    await bursar.openSession("s", { steps: 100 });
    const start = (id: string) => bursar.run(program, null, { id, session: "s", by: AGENT });
    expect(await start("a")).toMatchObject({ status: "completed" });
    expect(await start("b")).toMatchObject({ status: "failed", usage: { steps: 1 } });
  });

  test("open no session for an agent", async () => {
    const { bursar, program, theatre } = started({ session_limits: { steps: 3 } });
    await expect(bursar.run(program, null, { session: "s", by: AGENT })).rejects.toThrow("s is not open");
    expect(await theatre.store.budget("session:s")).toBeNull();
  });

  test("give way to those that an operator gives, and to nobody else's", async () => {
    const wider = started({ session_limits: { steps: 1 } }, { session: "s", session_limits: { steps: 9 } });
    expect(await wider.run()).toMatchObject({ status: "completed" });
    const agent = started({ session_limits: { steps: 1 } }, { session_limits: { steps: 9 }, by: AGENT });
    await expect(agent.run()).rejects.toThrow(ForbiddenError);
  });
});
