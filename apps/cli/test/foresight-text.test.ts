import { type Link, type RunRecord, STANDARD } from "bursar";
import { describe, expect, test } from "vitest";
import { foresightText } from "../src/render/event-text.js";
import { linkText } from "../src/render/run-chain.js";
import { RunNarrator } from "../src/render/run-lines.js";
import { runsText } from "../src/render/run-table.js";
import { styleFor, widthOf } from "../src/render/style.js";
import { tableText } from "../src/render/table.js";

const style = styleFor(false);

function link(action_type: string, data: Link["data"]): Link {
  return { action_type, at: 0, cause: null, chain: "c", data, id: "c#0", prev: "", seq: 0, hash: "" };
}

describe("what was decided to spend less", () => {
  test.each([
    [
      "RunEstimated",
      { fits: false, preflight: "ask", dimensions: { cost_usd: { median: 0.1, upper: 0.146479195 } } },
      "expected, which does not fit (ask): cost_usd about $0.10, up to $0.146",
    ],
    [
      "RunEstimated",
      {
        fits: false,
        preflight: "warn",
        dimensions: {
          cost_usd: { median: 0.1, upper: 0.2, limit: 0.5, missing: 0 },
          steps: { median: 6, upper: 7, limit: 2, missing: 5 },
        },
      },
      "expected, which does not fit (warn): steps about 6 steps, up to 7 steps of 2 steps; cost_usd about $0.10, up to $0.20",
    ],
    ["RunEstimated", { fits: true, dimensions: {} }, "nobody knows what it will take"],
    [
      "RunEstimated",
      { run_id: "r.0", parent: "r", program: "note\x1b", fits: true, dimensions: { steps: { median: 2, upper: 4 } } },
      "run r.0 (note\ufffd): expected: steps about 2 steps, up to 4 steps",
    ],
    [
      "RunEstimated",
      { fits: false, preflight: "warn", notes: ["too few\x1b"], dimensions: { steps: { median: 2, upper: 4 } } },
      "expected, which does not fit (warn): steps about 2 steps, up to 4 steps; too few\ufffd",
    ],
    [
      "TierSwitched",
      {
        from: { model: "large", quote: { cost_usd: 0.4 } },
        to: { model: "small", quote: { cost_usd: 0.1 } },
        reason: "too little\x1b is left",
      },
      "model large ($0.40) → small ($0.10): too little\ufffd is left",
    ],
    [
      "AnswerDearer",
      {
        capability_id: "llm:small",
        priced_usd: 0.01,
        charged_usd: 0.75,
        answered: { model: "large\x1b", cost_usd: 0.75 },
      },
      "llm:small is charged $0.75 instead of $0.01: the answer says model large\ufffd, cost $0.75",
    ],
    [
      "AnswerUnpriced",
      { capability_id: "llm:small", model: "small", answered: { service_tier: "turbo" } },
      "llm:small was answered with service tier turbo, which has no price; it is charged as it was asked",
    ],
    ["TierSwitched", { from: null, to: { model: "small", quote: null } }, "model small"],
    [
      "TierPinned",
      { to: { model: "small" }, step: "part\x1b 1", reason: "first" },
      "model small for all of part\ufffd 1: first",
    ],
    [
      "Batched",
      { model: "small", quote_usd: 0.05, full_quote_usd: 0.1 },
      "a call to small waits in a batch of the provider, up to $0.05 instead of $0.10",
    ],
    ["Saved", { kind: "cache", saved_usd: 0.02 }, "saved $0.02: the answer was kept from before"],
    ["Saved", { kind: "in_flight", saved_usd: 1 }, "saved $1.00: the same call was under way, and both got its answer"],
    ["Saved", { kind: "embeddings", saved_usd: 0 }, "a request is saved: sent together with others"],
    ["Saved", { kind: "novel", saved_usd: "much" }, "saved ?"],
  ] as const)("%s is told in a sentence", (action, data, text) => {
    expect(foresightText(link(action, data))).toBe(text);
    expect(linkText(link(action, data), 300, style)).toContain(text);
    expect(new RunNarrator(style).tell(link(action, data)).join(" ").replaceAll(/\s+/g, " ")).toContain(text);
    // Whoever wants the whole link gets it.
    expect(linkText(link(action, data), 3000, style, true)).toContain('{"');
  });

  test("all other links are as they were", () => {
    expect(foresightText(link("RunPaused", {}))).toBe(null);
    expect(linkText(link("RunPaused", { a: 1 }), 80, style)).toContain('{"a":1}');
  });
});

test("in the list of runs what is held stands behind a plus", () => {
  const run = { id: "r", status: "running", created: 0, program: { name: "writer" } } as RunRecord;
  const text = runsText(
    [
      { run, interrupted: false, usage: { cost_usd: 0.12 }, held: { cost_usd: 0.05 } },
      { run: { ...run, id: "s" }, interrupted: true, usage: { cost_usd: 0.3 }, held: {} },
    ],
    0,
    1000,
    80,
    style,
  );
  expect(text).toMatch(/ r +1s +\$0\.12 \+ \$0\.05 +writer\n/);
  expect(text).toMatch(/ s +1s +\$0\.30 +writer\n/);
});

test("a table is as wide as there is room, with figures below each other", () => {
  const rows = [
    ["steps", "4"],
    [STANDARD.get("llm_tokens").id, "12,000"],
  ];
  const columns = [{ title: "dimension" }, { title: "used", right: true }] as const;
  expect(tableText(columns, rows, 80, style)).toBe(
    "  dimension     used\n  steps            4\n  llm_tokens  12,000\n",
  );
  for (let width = 1; width < 40; width++) {
    for (const line of tableText(columns, rows, width, styleFor(true)).trimEnd().split("\n")) {
      expect(widthOf(line)).toBeLessThanOrEqual(width);
    }
  }
});
