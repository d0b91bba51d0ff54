import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../src/core/chain/canonical.js";
import { writeAmount } from "../../src/core/dimension.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { compilePlan } from "../../src/plans/plans.js";
import type { Known, Opinion } from "../../src/ports/foresight.js";
import type { Model } from "../../src/ports/model.js";
import { openBursar } from "../../src/runs/bursar.js";
import { defineTool, type Tool } from "../../src/runs/tool.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { playedHere } from "./played.js";

const UNLIMITED = Object.fromEntries(STANDARD.all.map(({ id }) => [id, null]));

/** What the world answers, one after the other; then it begins again. */
type Whims = readonly number[];

function tools(whims: Whims): readonly Tool[] {
  let asked = 0;
  const whim = () => whims[asked++ % whims.length] ?? 0;
  const tool = (name: string, quote: NonNullable<Tool["quote"]>, run: (args: never) => unknown): Tool =>
    defineTool({ name, description: name, input: {}, quote, run });
  return [
    tool("pay", { cost_usd: 0.01 }, () => 1),
    tool(
      "send",
      (args) => ({ network_egress_bytes: String(JSON.stringify(args)).length }),
      () => ({ id: 7 }),
    ),
    tool("look", { cost_usd: 0.002 }, () => ({
      ok: whim() % 2 === 0,
      hits: Array.from({ length: whim() }, (_, i) => i),
    })),
    tool("fail", { cost_usd: 0.003 }, () => {
      if (whim() % 2 === 0) throw new Error("not today");
      return null;
    }),
  ];
}

const model: Model = {
  quote: (request) => ({ llm_input_tokens: JSON.stringify(request).length, llm_output_tokens: 4, cost_usd: 0.001 }),
  call: async (request) => ({
    value: { text: "yes" },
    usage: { input_tokens: JSON.stringify(request).length, output_tokens: 4, cost_usd: 0.001 },
  }),
};

function knownOf(offered: readonly Tool[]): Known {
  return {
    dimensions: STANDARD,
    tool: (name, args) => {
      const quote = offered.find((tool) => tool.name === name)?.quote ?? null;
      return typeof quote === "function" ? quote(args) : quote;
    },
    model: async (request) => model.quote(request),
    program: async () => null,
  };
}

async function playedAndExpected(text: string, input: Json, whims: Whims) {
  const offered = tools(whims);
  const programs = playedHere(compilePlan(text), "plan");
  const opinion = (await programs[0]?.expects?.(input, knownOf(offered))) as Opinion;
  await using store = new MemoryStore();
  const bursar = openBursar({ store, tools: offered, model, programs });
  const result = await bursar.run("plan", input, { limits: UNLIMITED });
  return { opinion, result };
}

const { letrec, oneof, tuple, constantFrom, nat, constant } = fc;

/** Plans of every form, as texts. With `certain`, nothing in them depends on an answer, and nothing fails. */
function plans(certain: boolean): fc.Arbitrary<string> {
  const { body } = letrec<{ body: string; list: string; test: string; leaf: string }>((tie) => {
    const text = tie("body");
    const list = tie("list");
    const small = nat({ max: 3 });
    const sure = constantFrom("(< n 2)", "(empty? xs)", "(= 1 (count xs))", "true", "(odd? n)", "(not (nil? n))");
    const unsure = constantFrom("(:ok (call :look {}))", "(< 2 (count (:hits (call :look {}))))", "(call :fail {})");
    return {
      test: certain ? sure : oneof(sure, unsure),
      list: oneof(
        constantFrom("xs", "[1 2]", "(range n)", "(reverse xs)", "(concat xs [n])", "(partition-all 2 xs)"),
        ...(certain ? [] : [constantFrom("(take 2 (:hits (call :look {})))", "(filter (fn [x] (call :look x)) xs)")]),
      ),
      leaf: oneof(
        constantFrom(
          "n",
          "nil",
          "(call :pay {})",
          "(call :send {:xs xs})",
          '(call :llm/ask (str "ask " n))',
          "(do 1 2)",
        ),
        ...(certain ? [] : [constantFrom("(call :fail {})", "(call :look {})", '(throw "stop")')]),
      ),
      body: oneof(
        { maxDepth: 4, withCrossShrink: true, depthIdentifier: "plan" },
        tie("leaf"),
        tuple(text, text).map(([a, b]) => `(do ${a} ${b})`),
        tuple(text, text).map(([a, b]) => `(let [v ${a}] [v ${b}])`),
        tuple(tie("test"), text, text).map(([test, a, b]) => `(if ${test} ${a} ${b})`),
        tuple(tie("test"), text, tie("test"), text).map(([t, a, u, b]) => `(cond ${t} ${a} ${u} ${b} :else nil)`),
        tuple(tie("test"), text).map(([test, a]) => `(and ${test} ${a})`),
        tuple(tie("test"), text).map(([test, a]) => `(or ${test} ${a})`),
        tuple(constantFrom("map", "pmap", "mapcat (fn [x] [x])) (map"), list, text).map(([how, items, a]) =>
          how.includes("mapcat")
            ? `(mapcat (fn [x] [x]) (map (fn [x] ${a}) ${items}))`
            : `(${how} (fn [x] ${a}) ${items})`,
        ),
        tuple(constantFrom("filter", "some", "every?", "keep", "take-while", "remove", "sort-by"), list, text).map(
          ([how, items, a]) => `(${how} (fn [x] (do ${a} ${how === "sort-by" ? "1" : "(= x 1)"})) ${items})`,
        ),
        tuple(list, tie("test"), text).map(([items, test, a]) => `(for [x ${items} :when ${test} y [1 2]] ${a})`),
        tuple(list, text).map(([items, a]) => `(reduce (fn [sum x] (do ${a} x)) 0 ${items})`),
        tuple(small, text).map(([k, a]) => `(loop [i 0] (if (< i ${k}) (do ${a} (recur (inc i))) i))`),
        tuple(small, tie("test"), text).map(
          ([k, test, a]) => `(loop [i 0] (do ${a} (if (and (< i ${k}) ${test}) (recur (inc i)) i)))`,
        ),
        tuple(text, text).map(([a, b]) => `(try ${a} (catch e ${certain ? "nil" : b}))`),
        tuple(text, text).map(([a, b]) => `(parallel ${a} (step "s" ${b}))`),
        tuple(small, text).map(([k, a]) => `(do (defn f [k] (when (> k 0) ${a} (f (dec k)))) (f ${k}))`),
        tuple(constantFrom(":share", ...(certain ? [] : ["{:steps 3}", "{:cost-usd 0.02}"])), text).map(
          ([budget, a]) => `(run :budget ${budget} :input {:xs xs :n n} :inputs [xs n] :body ${a})`,
        ),
      ),
    };
  });
  return tuple(body, constant(null)).map(([text]) => `(run :inputs [xs n] :body ${text})`);
}

const inputs = fc.record({ xs: fc.array(nat({ max: 3 }), { maxLength: 3 }), n: nat({ max: 3 }) });
const whims = fc.array(nat({ max: 4 }), { minLength: 1, maxLength: 8 });

test("no plan takes more than its bound, where tools use what they quote", { timeout: 60_000 }, async () => {
  let told = 0;
  await fc.assert(
    fc.asyncProperty(plans(false), inputs, whims, async (text, input, answers) => {
      const { opinion, result } = await playedAndExpected(text, input, answers);
      for (const [id, { upper, median }] of Object.entries(opinion.dimensions)) {
        told++;
        expect(median).toBeLessThanOrEqual(upper);
        expect(Number(result.usage[id] ?? 0)).toBeLessThanOrEqual(writeAmount(STANDARD.get(id), upper));
      }
    }),
    { numRuns: 100 },
  );
  expect(told).toBeGreaterThan(80);
});

test("a plan in which nothing depends on an answer takes exactly what it says", { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(plans(true), inputs, whims, async (text, input, answers) => {
      const { opinion, result } = await playedAndExpected(text, input, answers);
      expect(result.status).toBe("completed");
      expect(opinion.dimensions.steps).toBeDefined();
      for (const [id, { upper, median }] of Object.entries(opinion.dimensions)) {
        const used = Number(result.usage[id] ?? 0);
        expect([id, writeAmount(STANDARD.get(id), upper)]).toEqual([id, used]);
        expect([id, writeAmount(STANDARD.get(id), median)]).toEqual([id, used]);
      }
      for (const [id, used] of Object.entries(result.usage)) {
        if (Number(used) > 0 && id !== "wall_clock_ms") expect(Object.keys(opinion.dimensions)).toContain(id);
      }
    }),
    { numRuns: 100 },
  );
});
