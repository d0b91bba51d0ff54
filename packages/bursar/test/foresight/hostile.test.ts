import { describe, expect, it } from "vitest";
import type { Known, Opinion } from "../../src/ports/foresight.js";
import type { Program } from "../../src/ports/program.js";
import { defineAgent } from "../../src/runs/agent.js";
import { Theatre } from "../runs/stage.js";
import { Past, programNamed } from "./past.js";

const FOX = { name: "fox", role: "agent" } as const;
const speaker = defineAgent("speaker", async () => "said");

/** The same program, which says something about itself. */
function saying(opinion: unknown, name = "speaker"): Program {
  return programNamed(name, "1", { expects: async () => opinion as Opinion });
}

function times<Value>(count: number, value: Value): readonly Value[] {
  return Array.from({ length: count }, () => value);
}

describe("what was written by others", () => {
  it("a dimension that is not in the table any more keeps no run from beginning", async () => {
    const theatre = new Theatre([speaker]);
    await new Past(theatre.store).add(speaker, ...times(12, { used: { steps: 10, emails_sent: 3 } }));
    for (const preflight of ["warn", "ask", "refuse"] as const) {
      await using bursar = theatre.process({ foresight: { preflight } });
      const run = await bursar.start("speaker", null, { id: preflight, limits: { steps: 20 } });
      expect(run).toMatchObject({ status: "queued", estimate: { dimensions: { steps: { upper: 10 } } } });
      expect(run.estimate?.opinions[0]?.dimensions).not.toHaveProperty("emails_sent");
    }
  });

  it.each([
    ["half a character", "\ud800 of a pair"],
    ["a zero", "it\u0000is"],
    ["no text at all", { toString: null }],
  ])("%s in what a program says of itself keeps no run from beginning", async (_, about) => {
    const program = saying({ dimensions: { steps: { median: 1, upper: 2 } }, about });
    const theatre = new Theatre([program]);
    await using bursar = theatre.process();
    const run = await bursar.start("speaker", null, { id: "a" });
    expect(run.status).toBe("queued");
    expect(await theatre.events("a")).toContain("RunEstimated");
  });

  it("a book in what a program says of itself is cut short", async () => {
    const program = saying({ dimensions: { steps: { median: 1, upper: 2 } }, about: "x".repeat(5_000_000) });
    const theatre = new Theatre([program]);
    await using bursar = theatre.process();
    await bursar.start("speaker", null, { id: "a" });
    const told = (await theatre.links("a")).find(({ action_type }) => action_type === "RunEstimated");
    expect(JSON.stringify(told).length).toBeLessThan(5000);
  });

  it.each([
    ["nothing", undefined],
    ["null figures", { dimensions: { steps: null }, about: "" }],
    ["no figures", { dimensions: { steps: { median: Number.NaN, upper: Number.NaN } }, about: "" }],
    ["less than nothing", { dimensions: { steps: { median: -5, upper: -1 } }, about: "" }],
    ["infinite figures", { dimensions: { steps: { median: 1, upper: Number.POSITIVE_INFINITY } }, about: "" }],
    ["huge figures", { dimensions: { cost_usd: { median: 1e300, upper: 1e308 } }, about: "" }],
    ["a dimension of objects", { dimensions: { __proto__: { median: 1, upper: 2 }, constructor: { median: 1 } } }],
  ])("%s said by a program breaks nothing", async (_, opinion) => {
    const theatre = new Theatre([saying(opinion)]);
    await using bursar = theatre.process();
    for (const limits of [{ steps: 0, cost_usd: 0 }, { steps: null, cost_usd: null }, {}]) {
      const run = await bursar.start("speaker", null, { limits });
      expect(run.status).toBe("queued");
    }
  });

  it("programs that start each other in ever more circles are not followed for ever", async () => {
    let asked = 0;
    const expects = async (input: unknown, known: Known) => {
      asked++;
      for (let turn = 0; turn < 12; turn++) await known.program("circle", [turn, input as null]);
      return { dimensions: { steps: { median: 60, upper: 60 } }, about: "sixty" };
    };
    const circle = programNamed("circle", "1", { expects });
    const theatre = new Theatre([circle]);
    await using bursar = theatre.process();
    expect((await bursar.start("circle", null)).estimate?.dimensions.steps?.upper).toBe(60);
    expect(asked).toBeLessThan(2000);
  });
});

describe("names", () => {
  it("the past of one program is not that of another whose name is written alike", async () => {
    const theatre = new Theatre([]);
    const odd = programNamed("a\u0001");
    await new Past(theatre.store, {}, "x").add(odd, ...times(12, { used: { steps: 7 } }));
    const [status = ""] = Object.keys(await theatre.store.counts("history"));
    const alike = programNamed(status.replace("program ", ""));
    await using bursar = theatre.process();
    expect((await bursar.estimate(alike, null)).estimate).toBeNull();
    expect((await bursar.estimate(odd, null)).estimate?.dimensions.steps?.upper).toBe(7);
  });
});

describe("an agent that brings a program along", () => {
  const ours = programNamed("triage", "ours", { source: { code: "ours" } });
  const theirs = programNamed("triage", "theirs", { source: { code: "theirs" } });

  it("does not bury the past of ours under the same name", async () => {
    const theatre = new Theatre([ours]);
    await new Past(theatre.store).add(ours, ...times(12, { used: { steps: 40 } }));
    await using bursar = theatre.process({ foresight: { preflight: "refuse" } });
    for (let run = 0; run < 260; run++) await theatre.until(bursar.run(theirs, null, { by: FOX }));
    const run = await bursar.start("triage", null, { limits: { steps: 20 } });
    expect(run).toMatchObject({ status: "failed", failure: { code: "estimated_over" } });
  });

  it("has a past of its own there, also when another process drives its runs", async () => {
    const theatre = new Theatre([ours]);
    await using starting = theatre.process({ programs: [ours], foresight: { preflight: "refuse" } });
    await using driving = theatre.process({ programs: [theirs] });
    const { id } = await starting.start(theirs, null, { by: FOX });
    await theatre.until(driving.drive(id));
    expect((await starting.estimate("triage", null)).estimate).toBeNull();
    expect((await starting.estimate(theirs, null)).estimate).toBeNull();
    expect((await starting.estimate(theirs, null, { by: FOX })).estimate).not.toBeNull();
  });

  it.each([
    ["a source", ours, { ...ours, digest: "ours and more", source: { ...ours.source, needs: ["a tool"] } }],
    ["no source", speaker, { ...speaker, digest: "ours and more", source: { needs: ["a tool"] } }],
  ])("ours counts as ours with something added to it, where it has %s", async (_, offered, more) => {
    const theatre = new Theatre([offered]);
    await using bursar = theatre.process();
    await theatre.until(bursar.run(more, null, { by: FOX }));
    expect((await bursar.estimate(offered, null)).estimate).not.toBeNull();
  });

  it.each([
    ["another source", { ...ours, digest: "theirs", source: { code: "theirs", needs: [] } }],
    ["another kind", { ...ours, kind: "guest", digest: "theirs" }],
    ["another version", { ...ours, digest: "theirs", source: null }],
  ])("what has our name and %s is not ours", async (_, program) => {
    const theatre = new Theatre([ours]);
    await using bursar = theatre.process();
    await theatre.until(bursar.run(program, null, { by: FOX }));
    expect((await bursar.estimate(ours, null)).estimate).toBeNull();
  });

  it("what it starts of ours counts as ours", async () => {
    const theatre = new Theatre([ours]);
    await using bursar = theatre.process();
    await theatre.until(bursar.run("triage", null, { by: FOX }));
    await theatre.until(bursar.run(ours, null, { by: FOX }));
    expect((await bursar.estimate("triage", null)).estimate?.opinions[0]?.about).toBe("the last 2 runs");
  });
});

describe("what a run may use", () => {
  it("is without what is set aside for the final answer", async () => {
    const theatre = new Theatre([speaker]);
    await new Past(theatre.store).add(speaker, ...times(12, { used: { steps: 10 } }));
    await using bursar = theatre.process({ foresight: { preflight: "refuse" } });
    const terms = { limits: { steps: 11 }, wrap_up: { steps: 3 } };
    const { fits, dimensions } = await bursar.estimate("speaker", null, terms);
    expect({ fits, dimensions }).toMatchObject({ fits: false, dimensions: [{ limit: 8, missing: 2 }] });
    expect(await bursar.start("speaker", null, terms)).toMatchObject({ failure: { code: "estimated_over" } });
  });
});

describe("time", () => {
  it("a request that is made after a long estimate waits as long as any other", async () => {
    const theatre = new Theatre([]);
    const slow = programNamed("slow", "1", {
      expects: async () => {
        theatre.clock.advance(20_000);
        return { dimensions: { steps: { median: 90, upper: 99 } }, about: "slowly" };
      },
    });
    await using bursar = theatre.process({ foresight: { preflight: "ask" }, programs: [slow] });
    const { id } = await bursar.start("slow", null, { approval_ms: 5000 });
    const { pause } = await bursar.find(id);
    const request = await theatre.store.document("approval", pause?.approvals[0] ?? "");
    expect(request?.body.expires).toBe(theatre.clock.now().instant + 5000);
  });
});
