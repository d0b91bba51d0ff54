import { describe, expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import { ForbiddenError, type Principal } from "../../src/runs/principal.js";
import { ANN, Theatre } from "./stage.js";

const AGENT = { name: "bot", role: "agent" } as const;
/** Whatever role its credentials have, a run is an agent. */
const RUN = { name: "bot", role: "operator", run: "r" } as const;

const idle = defineAgent("idle", async () => "done");

const WIDER = [
  { limits: { steps: 51 } },
  { limits: { steps: null } },
  { limits: { "max-cost-usd": 0.51 } },
  { policies: { steps: "approval_required" } },
  { policies: { steps: "soft-warn" as never } },
  { policies: { llm_tokens: "soft_warn" } },
] as const;

const TIGHTER = [
  {},
  { limits: { steps: 50, cost_usd: 0.5 } },
  { limits: { steps: 1, llm_tokens: 0, subcalls: 3 } },
  { limits: { fuel: null } },
  { policies: { llm_tokens: "hard_stop", steps: "hard_stop" } },
] as const;

for (const by of [AGENT, RUN]) {
  for (const options of WIDER) {
    test(`${"run" in by ? "a run" : "an agent"} does not get ${JSON.stringify(options)}`, async () => {
      const theatre = new Theatre([idle]);
      const bursar = theatre.process();
      const refused = bursar.run("idle", null, { id: "r", ...options, by });
      await expect(refused).rejects.toThrow(ForbiddenError);
      await expect(refused).rejects.toThrow(/may only tighten: (steps|cost_usd|llm_tokens) /);
      expect(await theatre.store.document("run", "r")).toBeNull();
      expect(await bursar.run("idle", null, { id: "r", ...options, by: ANN })).toMatchObject({ status: "completed" });
    });
  }
}

for (const options of TIGHTER) {
  test(`an agent gets ${JSON.stringify(options)}`, async () => {
    const theatre = new Theatre([idle]);
    expect(await theatre.process().run("idle", null, { ...options, by: AGENT })).toMatchObject({ status: "completed" });
  });
}

test("an agent is told the limit that it may not pass, and nothing else that is wrong is passed over", async () => {
  const bursar = new Theatre([idle]).process();
  const start = (options: object) => bursar.start("idle", null, { ...options, by: AGENT });
  await expect(start({ limits: { cost_usd: 2 } })).rejects.toThrow("cost_usd $2.00 is above $0.50");
  await expect(start({ limits: { steps: null } })).rejects.toThrow("steps without a limit is above 50");
  await expect(start({ limits: { stps: 1 } })).rejects.toThrow("did you mean steps");
});

describe("where a configuration has the say", () => {
  const given = {
    limits: { steps: 200, cost_usd: 0.1, fuel: 1000 },
    policies: { steps: "approval_required" },
  } as const;
  const governance = (program: string) => (program === "idle" ? given : {});
  const start = (options: object, program = "idle") => {
    const other = defineAgent("other", async () => "done");
    const bursar = new Theatre([idle, other]).process({ governance });
    return bursar.start(program, null, { ...options, by: AGENT }).then(({ budget }) => bursar.store.budget(budget));
  };

  test("an agent gets what it gives, also where that is more than the table does", async () => {
    expect(await start(given)).toMatchObject({ limits: { steps: 200, fuel: 1000 }, policies: given.policies });
    expect(await start({ limits: { steps: 120 } })).toMatchObject({ limits: { steps: 120 } });
    expect(await start({ policies: { steps: "hard_stop" } })).toMatchObject({ policies: { steps: "hard_stop" } });
  });

  test("whoever says nothing gets what it gives, and of the rest what the table does", async () => {
    const budget = await start({});
    expect(budget).toMatchObject({ limits: { steps: 200, llm_tokens: 100_000 }, policies: given.policies });
    expect(await start({}, "other")).toMatchObject({ limits: { steps: 50 } });
  });

  test.each([
    [{ limits: { steps: 201 } }, "steps 201 calls is above 200 calls"],
    [{ limits: { cost_usd: 0.2 } }, "cost_usd $0.20 is above $0.10"],
    [{ limits: { fuel: null } }, "fuel without a limit is above 1,000"],
    [{ policies: { steps: "soft_warn" } }, "steps soft_warn is less strict than approval_required"],
    [{ policies: { llm_tokens: "soft_warn" } }, "llm_tokens soft_warn is less strict than approval_required"],
  ])("an agent does not get %j", async (options, why) => {
    await expect(start(options)).rejects.toThrow(`may only tighten: ${why}`);
  });

  test("an agent that brings a program along does not choose a budget by the name it gives it", async () => {
    const bursar = new Theatre([]).process({ governance });
    const limitsBy = async (by: Principal) => {
      const { budget } = await bursar.start(
        defineAgent("idle", async () => "mine"),
        null,
        { by },
      );
      return (await bursar.store.budget(budget))?.limits.steps;
    };

    expect(await limitsBy(AGENT)).toBe(50);
    expect(await limitsBy(ANN)).toBe(200);
  });

  test("a mistake in it is told, and where it is", async () => {
    const bursar = new Theatre([idle]).process({ governance: () => ({ limits: { stps: 1 } }) });
    await expect(bursar.start("idle", null)).rejects.toThrow("governance.limits.stps");
  });
});

describe("the name of a run", () => {
  test.each(["session:team", "session:tenant:acme", "parent.1", "r/wrap-up", "r:2", "", "a\nb", "x".repeat(201)])(
    "%j is not anybody's to choose",
    async (id) => {
      const theatre = new Theatre([idle]);
      const refused = theatre.process().run("idle", null, { id, by: ANN });
      await expect(refused).rejects.toThrow(/^id is .*; allowed: /);
      expect(await theatre.store.document("run", id)).toBeNull();
    },
  );

  test.each(["nightly", "report-2026-11", "report.v2", "v1.2.3-rc", "ann@home"])("%j is", async (id) => {
    expect(await new Theatre([idle]).process().run("idle", null, { id })).toMatchObject({ status: "completed" });
  });
});
