import { describe, expect, test } from "vitest";
import type { Json } from "../../src/core/chain/canonical.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { compilePlan, planExpects } from "../../src/plans/plans.js";
import type { Known, Opinion } from "../../src/ports/foresight.js";

const QUOTES: Record<string, Record<string, number>> = {
  search: { cost_usd: 0.005 },
  fetch: { network_egress_bytes: 1000 },
  mail: {},
};

function known(more: Partial<Known> = {}): Known {
  return {
    dimensions: STANDARD,
    tool: (name) => QUOTES[name] ?? null,
    model: async (request) => ({ llm_input_tokens: JSON.stringify(request).length, llm_output_tokens: 10 }),
    program: async () => null,
    ...more,
  };
}

async function expected(text: string, input: Json = {}, more: Partial<Known> = {}): Promise<Opinion> {
  const opinion = await planExpects(compilePlan(text), "plan")(input, known(more));
  if (opinion === null) throw new Error("no opinion");
  return opinion;
}

/** The opinion about a body, with `xs` as its input. */
const body = (text: string, input: Json = { xs: [1, 2, 3] }, more: Partial<Known> = {}) =>
  expected(`(run :inputs {:keys [xs n flag]} :body ${text})`, input, more);

const exactly = (value: number) => ({ median: value, upper: value });

describe("a plan", () => {
  test("that does nothing takes no steps", async () => {
    const about = "the plan itself: no calls";
    expect(await body("(+ 1 2)")).toEqual({ dimensions: { steps: exactly(0) }, about, most: true });
  });

  test("takes every call at its quote, in ledger units", async () => {
    expect(await body("(do (call :search {}) (call :fetch {}) (call :search {:q 1}))")).toEqual({
      dimensions: { steps: exactly(3), cost_usd: exactly(10_000_000), network_egress_bytes: exactly(1000) },
      about: "the plan itself: 3 tool calls",
      most: true,
    });
  });

  test("that would take more than can be counted is expected to take the most there is, not nothing", async () => {
    const { dimensions } = await body("(for [a (range 100000) b (range 100000)] (call :search {}))");
    expect(dimensions.cost_usd).toEqual(exactly(9_000_000_000_000_000));
  });

  test("counts loops over what it is given, and over what stands in it", async () => {
    const table: readonly (readonly [string, number])[] = [
      ["(doseq [x xs] (call :mail x))", 3],
      ["(map (fn [x] (call :mail x)) [1 2 3 4])", 4],
      ["(pmap (fn [x] (call :mail x)) (range 5))", 5],
      ["(for [x xs y xs :when (< x y)] (call :mail [x y]))", 3],
      ["(reduce (fn [sum x] (do (call :mail x) (+ sum x))) 0 xs)", 3],
      ["(reduce (fn [sum x] (do (call :mail x) sum)) xs)", 2],
      ["(filter (fn [x] (call :mail x)) (take 2 xs))", 2],
      ["(loop [i 0] (when (< i (count xs)) (call :mail i) (recur (inc i))))", 3],
      ["(do (defn down [k] (when (> k 0) (call :mail k) (down (dec k)))) (down 4))", 4],
      ["(doseq [group (partition-all 2 xs)] (call :mail group))", 2],
      ["(map-indexed (fn [i x] (call :mail [i x])) (concat xs xs))", 6],
      ["(some (fn [x] (do (call :mail x) (= x 2))) xs)", 2],
      ["(every? (fn [x] (do (call :mail x) (= x 1))) xs)", 2],
      ["(doseq [x (filter odd? xs)] (call :mail x))", 2],
      ["(let [{:keys [a]} {:a [1 2]} [b & c] xs] (doseq [x (concat a c)] (call :mail x)))", 4],
      ["(doseq [x (range 5000)] (call :mail x))", 5000],
      ["(doseq [x (range 200000)] (call :mail x))", 200_000],
      ["(doseq [a (range 150) b (range 150) c (range 150)] (call :mail {}))", 3_375_000],
      ["(-> {:a 1} (update :a (fn [x] (do (call :mail x) 5))) (get :a) range count)", 1],
      ['(do (step "one" (call :mail {})) (parallel (call :mail {}) (call :mail {})) (call :host/sleep {:ms 5}))', 3],
      ["(apply (fn [a b] (call :mail [a b])) [1 2])", 1],
      ["(if (= (count xs) 3) (call :mail {}) (map (fn [x] (call :mail x)) xs))", 1],
      ["(cond (empty? xs) 1 (nil? flag) (do (call :mail 1) (call :mail 2)) :else 3)", 2],
    ];
    for (const [text, steps] of table)
      expect([text, (await body(text)).dimensions.steps]).toEqual([text, exactly(steps)]);
  });

  test("that may go two ways lies between them, and the dearer one is the bound", async () => {
    const { dimensions, about } = await body(
      "(if (:ok (call :mail {})) (do (call :search {}) (call :search {}) (call :search {}) (call :search {})) nil)",
    );
    expect(dimensions).toEqual({
      steps: { median: 3, upper: 5 },
      cost_usd: { median: 10_000_000, upper: 20_000_000 },
    });
    expect(about).toBe("the plan itself: about 3 tool calls, at most 5");
  });

  test("is not expected to fail: what is done then counts for the bound alone", async () => {
    const choice = '(if (:ok (call :mail {})) (call :search {}) (throw "no"))';
    expect((await body(choice)).dimensions.steps).toEqual(exactly(2));
    const handled = "(try (call :search {}) (catch e (do (call :mail e) (call :mail e))))";
    expect((await body(handled)).dimensions.steps).toEqual({ median: 1, upper: 3 });
    const sure = '(try (do (throw "x") (call :search {})) (catch e (call :mail e)) (finally (call :mail {})))';
    expect((await body(sure)).dimensions).toEqual({ steps: exactly(2) });
  });

  test("goes on with the others when one of several fails at the same time", async () => {
    const failing = (how: string) =>
      `(try (${how} (fn [x] (if (= x 1) (throw "no") (call :mail x))) xs) (catch e nil))`;
    expect((await body(failing("pmap"))).dimensions.steps).toEqual(exactly(2));
    expect((await body(failing("map"))).dimensions.steps).toEqual(exactly(0));
    const both = '(try (parallel (throw "no") (call :mail {})) (catch e (call :mail e)))';
    expect((await body(both)).dimensions.steps).toEqual(exactly(2));
  });

  test("may try again a few times", async () => {
    const { dimensions } = await body(
      "(loop [i 0] (let [answer (call :mail {})] (if (and (< i 2) (nil? (:ok answer))) (recur (inc i)) answer)))",
    );
    expect(dimensions.steps).toEqual({ median: 2, upper: 3 });
  });

  test("goes through no more than it takes, or lets through", async () => {
    const table: readonly (readonly [string, number])[] = [
      ["(doseq [x (take 4 (:hits (call :search {})))] (call :mail x))", 5],
      ["(doseq [x (filter (fn [x] (:good x)) (map (fn [x] (call :search x)) xs))] (call :mail x))", 6],
      ["(doseq [x (rest (take 4 (:hits (call :search {}))))] (call :mail x))", 4],
      ["(doseq [x (for [x xs :when (:a x)] x)] (call :mail x))", 3],
    ];
    for (const [text, upper] of table) {
      expect([text, (await body(text)).dimensions.steps?.upper]).toEqual([text, upper]);
    }
  });
});

describe("what cannot be known is left out, and it is said why", () => {
  test("a loop over an answer", async () => {
    const { dimensions, about } = await body(
      "(do (call :search {})\n(doseq [x (:hits (call :search {}))] (call :mail x)))",
    );
    expect(dimensions).toEqual({ cost_usd: exactly(10_000_000) });
    expect(about).toBe(
      "the plan itself: an unknown number of tool calls; what is gone through at 2:11 has no known length",
    );
  });

  test("a loop that ends when an answer says so", async () => {
    const { dimensions, about } = await body(
      "(loop [cursor nil all []] (let [page (call :search {:cursor cursor})] (if (nil? (:next page)) all (recur (:next page) (into all (:items page))))))",
    );
    expect(dimensions).toEqual({});
    expect(about).toContain("the loop at 1:40 has no known length");
  });

  test("a loop that only computes is nobody's concern", async () => {
    const { dimensions } = await body(
      "(do (defn total [node] (reduce + (:n node) (map total (:below node)))) (loop [x 0] (if (= x (:n flag)) x (recur (inc x)))) (total (call :search {})))",
      { xs: [], flag: { n: 100_000 } },
    );
    expect(dimensions).toEqual({ steps: exactly(1), cost_usd: exactly(5_000_000) });
  });

  test("functions that call each other without a known end", async () => {
    const { dimensions, about } = await body("(do (defn f [x] (if (:more (call :mail x)) (f x) x)) (f 1))");
    expect(dimensions).toEqual({});
    expect(about).toMatch(/how deep the functions at 1:\d+ call each other is not known/);
  });

  test("a function that only the answer chooses", async () => {
    const { dimensions, about } = await body("(map (if (call :mail {}) (fn [x] (call :search x)) (fn [x] x)) xs)");
    expect(dimensions).toEqual({});
    expect(about).toMatch(/which function is called at 1:\d+ is not known/);
  });

  test("a tool that does not say what it uses", async () => {
    const { dimensions, about } = await body("(do (call :search {}) (call :odd {}))");
    expect(dimensions).toEqual({ steps: exactly(2) });
    expect(about).toBe("the plan itself: 2 tool calls; odd does not say what it uses");
  });

  test("a tool whose quote depends on an answer", async () => {
    const tool = (name: string, args: Json) => {
      if (name !== "print") return {};
      const { pages } = args as { pages: number };
      return { cost_usd: pages * 0.01 };
    };
    const fine = await body("(call :print {:pages (count xs)})", { xs: [1, 2] }, { tool });
    expect(fine.dimensions).toEqual({ steps: exactly(1), cost_usd: exactly(20_000_000) });
    const { dimensions, about } = await body("(call :print {:pages (count (call :mail {}))})", {}, { tool });
    expect(dimensions).toEqual({ steps: exactly(2) });
    expect(about).toContain("what print uses depends on arguments that are not known yet");
  });

  test("a tool whose quote makes no sense, or throws", async () => {
    for (const tool of [() => ({ cots_usd: 1 }), () => ({ cost_usd: -1 })] as const) {
      expect((await body("(call :x {})", {}, { tool: tool as never })).dimensions).toEqual({ steps: exactly(1) });
    }
    const tool = () => {
      throw new Error("no");
    };
    expect((await body("(call :x {})", {}, { tool })).dimensions).toEqual({ steps: exactly(1) });
  });

  test("what burns in the sandbox and how long it takes", async () => {
    const tool = () => ({ fuel: 5, memory_peak_bytes: 7, storage_write_bytes: 9 });
    expect((await body("(call :x {})", {}, { tool })).dimensions).toEqual({
      steps: exactly(1),
      storage_write_bytes: exactly(9),
    });
  });
});

describe("a request to a model", () => {
  const ask = { messages: [{ role: "user", content: "3 things" }], max_tokens: 5 };
  const bytes = JSON.stringify(ask).length;

  test("is quoted when all of it is known", async () => {
    const { dimensions, about } = await body('(call :llm/ask {:prompt (str (count xs) " things") :max_tokens 5})');
    expect(dimensions).toEqual({
      steps: exactly(1),
      llm_input_tokens: exactly(bytes),
      llm_output_tokens: exactly(10),
      llm_tokens: exactly(bytes + 10),
    });
    expect(about).toBe("the plan itself: 1 model call");
  });

  test("is asked for once, however often it is made", async () => {
    const asked: Json[] = [];
    const model = async (request: Json) => {
      asked.push(request);
      return { llm_tokens: 7 };
    };
    const { dimensions } = await body("(doseq [x xs] (call :llm/chat {:messages [] :n 1}))", { xs: [1, 2] }, { model });
    expect([asked, dimensions.llm_tokens]).toEqual([[{ messages: [], n: 1 }], exactly(14)]);
  });

  test("depends on what is not known yet, or has no quote, or none of tokens", async () => {
    const later = await body("(call :llm/ask (str (:text (call :search {}))))");
    expect(later.dimensions).toEqual({ steps: exactly(2), cost_usd: exactly(5_000_000) });
    expect(later.about).toContain("what the model is asked at 1:40 is not known yet");
    const none = await body('(call :llm/ask "x")', {}, { model: async () => null });
    expect(none.dimensions).toEqual({ steps: exactly(1) });
    const model = async () => ({ cost_usd: 0.01 });
    expect((await body('(call :llm/ask "x")', {}, { model })).dimensions).toEqual({
      steps: exactly(1),
      cost_usd: exactly(10_000_000),
    });
  });
});

describe("a nested run", () => {
  const nested = (budget: string, text: string) => `(run :input {:xs xs} :inputs [xs] :budget ${budget} :body ${text})`;

  test("takes what is in it, and a step for its start", async () => {
    const { dimensions, about } = await body(
      `(map (fn [x] ${nested(":share", "(doseq [x xs] (call :search x))")}) xs)`,
    );
    expect(dimensions).toEqual({
      steps: exactly(12),
      subcalls: exactly(3),
      depth: exactly(1),
      cost_usd: exactly(45_000_000),
    });
    expect(about).toBe("the plan itself: 9 tool calls, 3 child runs");
    const twice = await body(nested(":share", nested(":share", "1")));
    expect(twice.dimensions).toMatchObject({ depth: exactly(2) });
    // What is below may be known from its past alone.
    expect(twice).not.toHaveProperty("most");
  });

  test("takes no more than its limits, which bound what is not known too", async () => {
    const loop = "(doseq [x (:hits (call :search {}))] (call :mail x))";
    const { dimensions, about } = await body(nested("{:steps 6}", loop));
    expect(dimensions).toMatchObject({ steps: { median: 5, upper: 7 }, cost_usd: exactly(5_000_000) });
    expect(about).not.toContain("known length");
    const known = await body(nested("{:steps 2}", "(doseq [x xs] (call :mail x))"));
    expect(known.dimensions.steps).toEqual(exactly(3));
    const warned = await body(nested("{:steps 6 :policies {:steps :soft-warn}}", loop));
    expect(warned.dimensions.steps).toBeUndefined();
  });

  test("may be known better by somebody else", async () => {
    const asked: Json[] = [];
    const program = async (name: string, input: Json) => {
      asked.push([name, input]);
      return { dimensions: { steps: { median: 4, upper: 9 } }, about: "history" };
    };
    const loop = "(doseq [x (:hits (call :search {}))] (call :mail x))";
    const { dimensions } = await body(nested(":share", loop), { xs: [1] }, { program });
    expect(dimensions.steps).toEqual({ median: 5, upper: 10 });
    expect(asked).toEqual([["plan/run.0", { xs: [1] }]]);
  });
});

describe("it comes to an end", () => {
  test("with plans that do not", async () => {
    const hostile = [
      "(loop [x 0] (recur (inc x)))",
      "(do (defn f [x] (f (inc x))) (f 0))",
      "(do (defn f [x] (do (call :mail x) (f x) (f x))) (f 0))",
      "(loop [x [1]] (recur (into x x)))",
      '(loop [x "ab"] (do (call :mail {}) (recur (str x x))))',
      "(call :mail (reduce (fn [a x] [a a]) 1 (range 60)))",
      "(= (reduce (fn [a x] [a a]) 1 (range 60)) (reduce (fn [a x] [a a]) 1 (range 60)))",
      "(doseq [a (range 199) b (range 199) c (range 199)] (call :mail {}))",
      "(map (fn [x] (map (fn [y] (call :mail [x y])) (range 100000))) (range 100000))",
      "(do (defn a [x] (if (call :mail x) (b x) (b x))) (defn b [x] (if (call :mail x) (a x) (a x))) (a 1))",
      `(do ${Array.from({ length: 30 }, (_, i) => `(defn f${i} [] (if (call :mail {}) ${i === 0 ? 1 : `(do (f${i - 1}) (f${i - 1}))`} 2))`).join(" ")} (f29))`,
    ];
    for (const text of hostile) {
      const { dimensions } = await body(text);
      for (const { median, upper } of Object.values(dimensions)) {
        expect([text, median <= upper && Number.isSafeInteger(upper)]).toEqual([text, true]);
      }
    }
  });

  test("with quotes that are asked for without end", async () => {
    let asked = 0;
    const model = async () => {
      asked++;
      return { llm_tokens: 1 };
    };
    await body('(doseq [x (range 200) y (range 20)] (call :llm/ask (str x " " y)))', {}, { model });
    expect(asked).toBeLessThanOrEqual(200);
  });
});
