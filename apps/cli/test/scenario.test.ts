import { MemoryStore, sha256Hex, verifyChain } from "bursar";
import { FakeClock } from "bursar/testing";
import { leftOf, positionsOf } from "bursar/views";
import { describe, expect, test } from "vitest";
import type { Answer } from "../src/demo/approval.js";
import type { Moment, Summary } from "../src/demo/moment.js";
import { Narrator } from "../src/demo/narrator.js";
import { fastPace } from "../src/demo/pace.js";
import { CHAIN, playScenario } from "../src/demo/scenario.js";
import { RUN } from "../src/demo/script.js";
import { styleFor, widthOf } from "../src/render/style.js";

interface Performance {
  readonly summary: Summary;
  readonly moments: readonly Moment[];
  readonly store: MemoryStore;
  readonly clock: FakeClock;
}

/** Plays the demo on a clock that goes as fast as the calls say they take. */
async function perform(kind: Answer["kind"] = "approve", seed = 1): Promise<Performance> {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const moments: Moment[] = [];
  const summary = await playScenario({
    store,
    clock,
    timer: clock,
    pace: fastPace((ms) => clock.advance(ms)),
    seed,
    signal: new AbortController().signal,
    approve: async () => ({ kind, by: "ada", reason: "test" }),
    tell: async (moment) => {
      moments.push(moment);
      const positions = positionsOf(await store.path(RUN), store.dimensions, clock.now());
      for (const position of positions) expect(leftOf(position)).toBeGreaterThanOrEqual(0);
    },
  });
  return { summary, moments, store, clock };
}

function eventsOf(moments: readonly Moment[]): readonly string[] {
  return moments.flatMap((moment) => (moment.kind === "link" ? [moment.link.event ?? moment.link.action_type] : []));
}

describe("the demo", () => {
  test("completes, and refuses exactly the calls that do not fit", async () => {
    const { summary } = await perform();
    expect(summary.status).toBe("Completed");
    expect(summary.within_limits).toBe(true);
    expect(summary.calls_made).toBe(10);
    expect(summary.refused.map(({ step_id, decision, dimension }) => [step_id, decision, dimension])).toEqual([
      ["deep read", "refused", "cost_usd"],
      ["compare 5", "refused", "cost_usd"],
      ["write answer", "paused", "llm_tokens"],
    ]);
    for (const { asked, left } of summary.refused) expect(asked).toBeGreaterThan(left);
  });

  test("lets the calls that find the session busy wait, and makes them pass or fail in order", async () => {
    const { summary, moments } = await perform();
    expect(summary.waited).toEqual(["compare 4", "compare 5"]);
    const raced = moments.find(({ kind }) => kind === "raced");
    expect(raced).toMatchObject({ calls: 5, passed: 4, asked: 0.4 });
    const { left, spent } = raced as Extract<Moment, { kind: "raced" }>;
    expect(spent).toBeLessThan(left);
  });

  test("returns what the child did not use", async () => {
    const { moments } = await perform();
    const events = eventsOf(moments);
    expect(events.indexOf("RunCompleted")).toBeGreaterThan(events.indexOf("ChildRunStarted"));
    const told = moments.flatMap((moment) => new Narrator(styleFor(false)).tell(moment)).join("\n");
    expect(told).toContain("half of what is left is held for it");
  });

  test("warns at thresholds, pauses once, and is extended by half of the limit", async () => {
    const { moments } = await perform();
    const events = eventsOf(moments);
    expect(events).toContain("Warning");
    expect(events.filter((event) => event === "Exhausted")).toHaveLength(1);
    const order = [
      "Exhausted",
      "RunPaused",
      "ApprovalRequested",
      "ApprovalDecided",
      "Extended",
      "RunResumed",
      "RunEnded",
    ];
    expect(events.filter((event) => order.includes(event))).toEqual(order);
    const request = moments.find((moment) => moment.kind === "link" && moment.link.action_type === "ApprovalRequested");
    expect(request).toMatchObject({
      link: { data: { exhausted_dimension: "llm_tokens", suggested_extension: { llm_tokens: 12_500 } } },
    });
  });

  test("ends cancelled, with the denial recorded, when the person says no", async () => {
    const { summary, moments } = await perform("deny");
    expect(summary.status).toBe("Cancelled");
    expect(summary.calls_made).toBe(9);
    expect(eventsOf(moments)).toContain("Denied");
    expect(eventsOf(moments)).not.toContain("Extended");
    expect(summary.chain.verified).toBe(true);
  });

  test("has a chain that verifies, and names the link that was tampered with", async () => {
    const { summary, moments, store } = await perform();
    const head = await store.head(CHAIN);
    const verification = await verifyChain(store.chain(CHAIN), { hash: sha256Hex, ...(head === null ? {} : { head }) });
    expect(verification).toMatchObject({ ok: true, links: summary.chain.links });
    expect(moments.filter(({ kind }) => kind === "link")).toHaveLength(summary.chain.links);
    const tampered = moments.find(({ kind }) => kind === "tampered") as Extract<Moment, { kind: "tampered" }>;
    expect(tampered.verification).toMatchObject({ ok: false, seq: tampered.forged.seq, reason: "hash_mismatch" });
    expect(summary.chain).toMatchObject({ verified: true, tampering_detected: true });
  });

  test("is the same run, hash for hash, for the same seed", async () => {
    const [first, second, other] = await Promise.all([perform(), perform(), perform("approve", 2)]);
    expect(first.summary).toEqual(second.summary);
    expect(first.summary.chain.head).not.toBe(other.summary.chain.head);
  });

  test("tells the same story for any seed", async () => {
    for (let seed = 0; seed < 40; seed++) {
      const { summary } = await perform("approve", seed * 7919);
      const { status, calls_made, waited, refused, within_limits } = summary;
      expect({
        seed,
        status,
        calls_made,
        waited,
        refused: refused.map(({ step_id }) => step_id),
        within_limits,
      }).toEqual({
        seed,
        status: "Completed",
        calls_made: 10,
        waited: ["compare 4", "compare 5"],
        refused: ["deep read", "compare 5", "write answer"],
        within_limits: true,
      });
    }
  });

  test("takes about ten seconds of running time, of which the pause is no part", async () => {
    const { summary } = await perform();
    expect(summary.consumption.wall_clock_ms).toBeGreaterThan(8000);
    expect(summary.consumption.wall_clock_ms).toBeLessThan(12_000);
  });

  test("ends Failed, in order, when its time runs out", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock });
    const summary = await playScenario({
      store,
      clock,
      timer: clock,
      // Everything takes ten times as long as the run has been given.
      pace: fastPace((ms) => clock.advance(ms * 10)),
      seed: 1,
      signal: new AbortController().signal,
      approve: async () => ({ kind: "approve", by: "ada", reason: "test" }),
      tell: async () => {},
    });
    expect(summary.status).toBe("Failed");
    expect(summary.chain.verified).toBe(true);
  });

  test("stops where it is when it is interrupted", async () => {
    const interrupted = new AbortController();
    const clock = new FakeClock();
    const playing = playScenario({
      store: new MemoryStore({ clock }),
      clock,
      timer: clock,
      pace: fastPace((ms) => clock.advance(ms)),
      seed: 1,
      signal: interrupted.signal,
      approve: async () => ({ kind: "approve", by: "ada", reason: "test" }),
      tell: async ({ kind }) => {
        if (kind === "waiting") interrupted.abort();
      },
    });
    await expect(playing).rejects.toThrow("aborted");
  });
});

test("every line the demo tells fits into 80 columns", async () => {
  for (const kind of ["approve", "deny"] as const) {
    const narrator = new Narrator(styleFor(false));
    const { moments } = await perform(kind);
    const lines = moments.flatMap((moment) => narrator.tell(moment));
    expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
    expect(lines.join("\n")).toContain("SIMULATED");
    expect(lines.join("\n")).toContain("returns 6 steps");
  }
});
