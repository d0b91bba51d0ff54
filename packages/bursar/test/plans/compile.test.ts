import fc from "fast-check";
import { parseSync } from "oxc-parser";
import { describe, expect, test } from "vitest";
import { defineDimension } from "../../src/core/dimension.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { compilePlan, type Plan, PlanError, planErrorAt, planProgram, revivePlan } from "../../src/plans/plans.js";
import type { Program } from "../../src/ports/program.js";

function refusal(text: string): PlanError {
  try {
    compilePlan(text, { file: "p.rtfs" });
  } catch (error) {
    if (error instanceof PlanError) return error;
    throw error;
  }
  throw new Error(`was compiled: ${text.slice(0, 200)}`);
}

const within = (body: string) => `(run :body\n${body})`;

describe("a plan", () => {
  const TEXT = `(run
  :name "weekly"
  :inputs [topic]
  :budget {:steps 100
           :cost-usd 1.0
           :wall-clock nil
           :policies {:cost-usd :approval-required :steps :soft_warn}}
  :session-budget-limits {:steps 200 :storage_write_bytes 10}
  :body (do
    (call :mail/send {:to topic})
    (call :web/search {})
    (call :mail/send {})
    (call "a tool" [1])
    (call :llm/ask "hi")
    (run :name :inner :budget {:fraction 0.5 :steps 3 :policies {:steps :hard-stop}} :input {:a topic}
      :body (call :inner/tool))
    (run :budget :share :body 1)))`;

  test("tells what its host has to know", () => {
    const plan = compilePlan(TEXT, { file: "weekly.rtfs" });

    expect(plan).toMatchObject({
      file: "weekly.rtfs",
      name: "weekly",
      inputs: [{ name: "topic", required: true }],
      tools: ["mail/send", "web/search", "a tool"],
      effects: ["llm/ask"],
      mentions: { "mail/send": { line: 10, column: 11 }, "llm/ask": { line: 14, column: 11 } },
      budget: {
        grant: { kind: "given" },
        limits: { steps: 100, cost_usd: 1, wall_clock_ms: null },
        limitPositions: { steps: { line: 4, column: 12 }, wall_clock_ms: { line: 6, column: 12 } },
        policies: { cost_usd: "approval_required", steps: "soft_warn" },
        policyPositions: { cost_usd: { line: 7, column: 23 } },
      },
      session: {
        limits: { steps: 200, storage_write_bytes: 10 },
        limitPositions: { steps: { line: 8, column: 27 } },
      },
      children: [
        {
          name: "inner",
          tools: ["inner/tool"],
          budget: {
            grant: { kind: "fraction", fraction: 0.5 },
            limits: { steps: 3 },
            policies: { steps: "hard_stop" },
          },
        },
        { name: null, budget: { grant: { kind: "share" }, limits: {}, policies: {} }, tools: [], children: [] },
      ],
    });
  });

  test("that says nothing about itself leaves everything to its host", () => {
    expect(compilePlan("(run :body 1)")).toMatchObject({
      file: "<plan>",
      name: null,
      inputs: [],
      budget: null,
      session: null,
      tools: [],
      effects: [],
      children: [],
    });
  });

  test("gives the same program for the same text", () => {
    expect(compilePlan(TEXT)).toEqual(compilePlan(TEXT));
    expect(compilePlan(TEXT, { file: "a" }).code).not.toBe(compilePlan(TEXT, { file: "b" }).code);
  });

  test("may name dimensions of the caller's own", () => {
    const dimensions = STANDARD.with(defineDimension({ id: "emails_sent", kind: "sum" }));
    const text = "(run :budget {:emails-sent 3} :body 1)";

    expect(compilePlan(text, { dimensions }).budget?.limits).toEqual({ emails_sent: 3 });
    expect(refusal(text).message).toContain(":emails-sent is not a dimension");
  });

  test("is revived with the same dimensions, and so are the runs in it", () => {
    const dimensions = STANDARD.with(defineDimension({ id: "emails_sent", kind: "sum" }));
    const text = "(run :budget {:emails-sent 3} :body (run :budget {:emails-sent 1} :body 1))";
    const sandbox = () => Promise.reject(new Error("nothing is executed here"));
    const kept = planProgram(compilePlan(text, { dimensions }), sandbox).children?.[0] as Program;

    expect(revivePlan(kept, sandbox, { dimensions })?.digest).toBe(kept.digest);
  });

  test("wants what its pattern says", () => {
    const { inputs } = compilePlan('(run :inputs {:keys [a b] :or {b 1} c :see d "the d" :as all} :body 1)');

    expect(inputs).toEqual(["a", "b", "see", "the d"].map((name) => ({ name, required: false })));
  });

  test("is the place later errors point at", () => {
    const plan = compilePlan("(run :body\n  (call :mail/sent {}))", { file: "m.rtfs" });
    const error = planErrorAt(plan, plan.mentions["mail/sent"] ?? { line: 0, column: 0 }, "nobody offers mail/sent");

    expect(error.message).toBe("m.rtfs:2:9 nobody offers mail/sent\n  2 |   (call :mail/sent {}))\n    |         ^");
  });
});

describe("refused with its place is", () => {
  test.for([
    ["", "1:1", "there is no plan in this text"],
    ["[1]", "1:1", "this is not a run"],
    ["(do 1)", "1:1", "this is not a run; a plan is one (run :budget {…} :body (do …))"],
    ["(run :body 1) (run :body 2)", "1:15", "a plan is one run, and this is a second form"],
    ["(run)", "1:1", "the run has no :body"],
    ["(run :body)", "1:6", ":body has no value behind it"],
    ["(run (do 1))", "1:6", "(do 1) stands where a keyword should"],
    ["(run :bdy 1)", "1:6", "a run has no :bdy; did you mean :body?"],
    ["(run :body 1 :body 2)", "1:14", ":body is given twice"],
    ["(run :name 1 :body 2)", "1:12", "1 is no name for a run"],
    ["(run :input {} :body 2)", "1:6", "a run that stands alone has no :input"],
    ["(run :session_budget_limits {} :session-budget-limits {} :body 1)", "1:32", "is given twice"],
    ["(run :inputs x :body 2)", "1:14", ":inputs takes names in [ ]"],
    ["(run :inputs [x x] :body 2)", "1:17", "x is bound twice"],
    ["(run :inputs [if] :body 2)", "1:15", "if is a form of the language"],
    ["(run :budget 5 :body 1)", "1:14", "5 is no budget"],
    ["(run :budget :share :body 1)", "1:14", "only a nested run can share a budget"],
    ["(run :budget {:stepz 5} :body 1)", "1:15", ":stepz is not a dimension; did you mean :steps?"],
    ["(run :budget {:polices {}} :body 1)", "1:15", "did you mean :policies?"],
    ["(run :budget {:fraction 0.5} :body 1)", "1:15", ":fraction is not a dimension"],
    ["(run :budget {:qqqqqq 5} :body 1)", "1:15", "there are :steps, :wall-clock-ms,"],
    ['(run :budget {"steps" 5} :body 1)', "1:15", '"steps" is no dimension'],
    ["(run :budget {:steps -1} :body 1)", "1:22", ":steps is -1; allowed: a whole number from 0"],
    ["(run :budget {:steps 1.5} :body 1)", "1:22", ":steps is 1.5; allowed: a whole number"],
    ["(run :budget {:cost-usd 1e-10} :body 1)", "1:25", "smaller than the smallest unit"],
    ["(run :budget {:cost-usd 1e9} :body 1)", "1:25", "allowed: a number from 0 to 9000000"],
    ["(run :budget {:steps (+ 1 2)} :body 1)", "1:22", "(+ 1 2) is no limit for :steps"],
    ["(run :budget {:steps true} :body 1)", "1:22", "true is no limit for :steps"],
    ["(run :budget {:wall-clock 1 :wall_clock_ms 2} :body 1)", "1:29", "says wall_clock_ms a second time"],
    ["(run :budget {:policies 1} :body 1)", "1:25", "1 holds no policies"],
    ["(run :budget {:policies {:steps :hardstop}} :body 1)", "1:33", "did you mean :hard-stop?"],
    ["(run :budget {:policies {:stps :hard-stop}} :body 1)", "1:26", "did you mean :steps?"],
    ["(run :budget {:policies {:steps :hard-stop :steps :soft-warn}} :body 1)", "1:44", "was given at 1:26 already"],
    ["(run :session-budget-limits {:policies {}} :body 1)", "1:30", ":policies is not a dimension"],
    ["(run :session-budget-limits 3 :body 1)", "1:29", "3 holds no limits"],
  ] as const)("%s", ([text, place, problem]) => {
    expect(refusal(text).message).toContain(`p.rtfs:${place} `);
    expect(refusal(text).message).toContain(problem);
  });

  test.for([
    ["unknwn", "2:1", "unknwn is not known"],
    ["(reduc + [1])", "2:2", "reduc is not known; did you mean reduce?"],
    ["(let [total 1] totl)", "2:16", "totl is not known; did you mean total?"],
    ["(whn true 1)", "2:2", "did you mean when?"],
    ["(case 1 2)", "2:2", "case is not known; write (cond (= x 1) …)"],
    ["(Math/abs 1)", "2:2", "Math/abs is not known"],
    ["(constructor)", "2:2", "constructor is not known"],
    ["(__proto__ 1)", "2:2", "__proto__ is not known"],
    ["if", "2:1", "if is a form, and no value"],
    ["()", "2:1", "() does nothing"],
    ["(1 2)", "2:2", "1 cannot be called"],
    ['("a" {})', "2:2", '"a" cannot be called'],
    ["([1] 0)", "2:2", "[1] cannot be called"],
    ["{1 2}", "2:2", "1 cannot be the key of a map"],
    ['{:a 1 "a" 2}', "2:7", 'the key "a" is given twice; :a and "a" are the same key'],
    ["(inc)", "2:1", "inc takes 1 argument, and 0 are given"],
    ["(get {} :a 1 2)", "2:1", "get takes 2 to 3 arguments, and 4 are given"],
    ["(-)", "2:1", "- takes 1 or more arguments, and 0 are given"],
    ["(:a)", "2:1", ":a as a function takes 1 to 2 arguments, and 0 are given"],
    ["(do (defn f [a b] a)\n (f 1))", "3:2", "f takes 2 arguments, and 1 is given"],
    ["(let [f (fn [a & b] a)] (f))", "2:25", "f takes 1 or more arguments, and 0 are given"],
    ["(do (defn f [] (g 1))\n (defn g [] 1))", "2:16", "g takes 0 arguments, and 1 is given"],
    ["((fn f [a] (f)) 1)", "2:12", "f takes 1 argument, and 0 are given"],
    ["((fn [] 1) 2)", "2:1", "the function takes 0 arguments, and 1 is given"],
    ["(-> 1 (get))", "2:7", "get takes 2 to 3 arguments, and 1 is given"],
    ["(-> 1 2)", "2:7", "a value cannot go through 2"],
    ["(->)", "2:1", "-> needs a value to begin with"],
    ["(if)", "2:1", "if takes 2 to 3 arguments, and 0 are given"],
    ["(when)", "2:1", "when needs a condition"],
    ["(when 1)", "2:1", "when has nothing to do"],
    ["(cond)", "2:1", "cond has nothing to choose from"],
    ["(cond true)", "2:7", "this condition has no value behind it"],
    ["(cond :else 1 true 2)", "2:15", "nothing can follow :else"],
    ["(cond :els 1)", "2:7", "this condition is always true; write :else"],
    ["(let)", "2:1", "let takes names and values in [ ], and got nothing"],
    ["(let (a 1) a)", "2:6", "let takes names and values in [ ], and got (a 1)"],
    ["(let [a] a)", "2:7", "a has no value"],
    ["(let [a 1])", "2:1", "let has nothing to do"],
    ["(let [1 2] 3)", "2:7", "1 is not a name"],
    ["(let [a/b 2] 3)", "2:7", "a/b cannot be bound"],
    ["(let [[a a] 2] 3)", "2:10", "a is bound twice"],
    ["(let [[a & b c] 2] 3)", "2:14", "nothing can follow the rest"],
    ["(let [[a &] 2] 3)", "2:7", "a name is missing at the end"],
    ["(let [{:kyes [a]} 2] 3)", "2:8", "a pattern has no :kyes; did you mean :keys?"],
    ["(let [{:keys a} 2] 3)", "2:14", ":keys takes names in [ ]"],
    ["(let [{:keys [a] :or {b 1}} 2] 3)", "2:25", ":or has b, which the pattern does not bind"],
    ["(let [{a 1} 2] 3)", "2:10", "1 is no key"],
    ["(fn)", "2:1", "the parameters are missing"],
    ["(fn [x])", "2:1", "the function has nothing to do"],
    ["(fn ([x] 1) ([x y] 2))", "2:5", "a function has one list of parameters"],
    ["(fn [x x] 1)", "2:8", "x is bound twice"],
    ["(fn [x &] 1)", "2:5", "a name is missing behind &"],
    ["(fn [& a b] 1)", "2:10", "nothing can follow the rest of the arguments"],
    ["(fn let [x] 1)", "2:5", "let is a form of the language"],
    ["(+ 1 (def a 2))", "2:6", "a definition cannot stand here"],
    ["(do (def a 1) (def a 2))", "2:20", "a is defined already"],
    ["(do (def))", "2:5", "def takes 2 arguments, and 0 are given"],
    ["(do (defn) 1)", "2:5", "defn needs a name"],
    ["(do (def a b) (def b 1))", "2:12", "b is not known"],
    ["(recur)", "2:1", "recur is not the last thing here"],
    ["(loop [a 1] (inc (recur 2)))", "2:18", "recur is not the last thing here"],
    ["(loop [a 1] (recur 1 2))", "2:13", "recur takes 1 argument, and 2 are given"],
    ["(loop [a 1] (try (recur 1) (catch e 1)))", "2:18", "recur is not the last thing here"],
    ["(loop [a 1 a 2] 1)", "2:12", "a is bound twice"],
    ["(for [] 1)", "2:1", "for has nothing to go through"],
    ["(for [:when true] 1)", "2:7", "for begins with a name and a list"],
    ["(for [x [] :while 1] 1)", "2:12", "for has no :while; it knows :when and :let"],
    ["(try 1)", "2:1", "try has no catch"],
    ["(try (catch e 1))", "2:1", "try has nothing to do"],
    ["(try 1 (catch))", "2:8", "catch needs a name"],
    ["(try 1 (catch e 1) (catch :a e 1))", "2:20", "the catch before takes all errors"],
    ["(try 1 (finally 1) (catch e 1))", "2:20", "nothing can follow finally"],
    ["(try 1 (catch e 1) 2)", "2:20", "only catch and finally can follow catch"],
    ["(catch e 1)", "2:1", "this belongs into a try"],
    ["(call)", "2:1", "call takes 1 to 2 arguments, and 0 are given"],
    ["(call (str :a) {})", "2:7", "(str :a) does not name a capability"],
    ['(call "" {})', "2:7", "the name of a capability has 1 to 200 characters"],
    ["(call :llm/chatt {})", "2:7", "the host has no :llm/chatt; did you mean :llm/chat?"],
    ["(call :host/budgets {})", "2:7", "did you mean :host/budget?"],
    ["(step)", "2:1", "step needs a name"],
    ["(step :a 1)", "2:7", ":a is no name of a step"],
    ['(step "a")', "2:1", "step has nothing to do"],
    ["(parallel)", "2:1", "parallel has nothing to do"],
    ["(run :body 1)", "2:1", "a nested run needs a :budget"],
    ["(run :budget {:fraction 2} :body 1)", "2:25", "2 is no fraction"],
    ["(run :budget :share :session_budget_limits {} :body 1)", "2:21", "a nested run has no :session_budget_limits"],
    ["(let [a 1] (run :budget :share :body a))", "2:38", "hand it over with :input {:a a}"],
    [`(+ ${"1 ".repeat(1001)})`, "2:1", "more than 1000 arguments"],
    [`(-> 1 ${"inc ".repeat(101)})`, "2:", "nested more than 100 deep"],
  ] as const)("%s", ([body, place, problem]) => {
    const { message } = refusal(within(body));

    expect(message).toContain(`p.rtfs:${place}`);
    expect(message).toContain(problem);
  });
});

/** Whatever a plan holds, what is made of it is a program of the same few words. */
function expectProgram({ code, children }: Plan): void {
  const { errors, program } = parseSync("plan.mjs", code);

  expect(errors).toEqual([]);
  expect(program.body).toHaveLength(2);
  for (const child of children) expectProgram(child);
}

test("only what waits for the host is compiled to wait", () => {
  const body = (text: string) => {
    const { code } = compilePlan(within(text));
    return code.slice(code.indexOf("const $main"), code.indexOf("try {\n  await host.call"));
  };
  const waits = (text: string) => (body(text).match(/await/g) ?? []).length;

  expect(waits("(do (defn a [n] (if (= n 0) 1 (b (dec n)))) (defn b [n] (a n)) (map a [1 2]))")).toBe(0);
  expect(waits("(let [f (fn [x] (* x x)) g (fn [x] (f x))] (reduce (fn [s x] (+ s (g x))) 0 (sort-by :a [])))")).toBe(
    0,
  );
  expect(waits("(do (defn a [n] (b n)) (defn b [n] (call :t)) (defn c [n] n) (map c [(a 1)]))")).toBe(3);
  expect(waits("(fn [f] (f 1))")).toBe(1);
});

describe("no text of a plan becomes code:", () => {
  const NASTY = [
    "*/",
    "`$" + "{x}`",
    '");throw 1;//',
    "\u2028",
    "</script>",
    "\\",
    "'",
    "\n",
    "__proto__",
    "/*@1*/",
    "$fail",
    "use strict",
  ];
  const anyText = fc
    .oneof(fc.constantFrom(...NASTY), fc.string({ unit: "binary", maxLength: 30 }))
    .filter((each) => !/\p{Cs}/u.test(each));
  const quote = (text: string) =>
    `"${[...text].map((each) => (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}"\\]/u.test(each) && each.length === 1 ? `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}` : each)).join("")}"`;

  test("not of its texts, keys, names of capabilities and steps, or of its file", () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (a, b, file) => {
        const name = a.trim() === "" ? "x" : a;
        const text = `(run :name ${quote(name)} :body (fn [& xs] ${quote(a)} {${quote(a)} ${quote(b)}}
          (call ${quote(name)} ${quote(b)}) (step ${quote(b)} 1)
          (try 1 (catch ${quote(a)} e 2))
          (run :name ${quote(name)} :budget :share :body ${quote(b)})))`;

        expectProgram(compilePlan(text, { file }));
      }),
      { numRuns: 300 },
    );
  });

  test("not of its names", () => {
    const name = fc.stringMatching(/^[a-zA-Z*!_?$%&=<>][a-zA-Z0-9.*+!_?$%=<>:#-]{0,12}$/);
    const words = fc.constantFrom(
      "await",
      "return",
      "arguments",
      "eval",
      "host",
      "$fail",
      "v0_input",
      "t0",
      "this",
      "NaN",
    );
    fc.assert(
      fc.property(fc.oneof(name, words), (each) => {
        const text = `(run :body (let [${each} 1 f (fn [${each}] ${each})] (for [${each} [1]] (f ${each}))))`;
        try {
          expectProgram(compilePlan(text));
        } catch (error) {
          if (!(error instanceof PlanError)) throw error;
          expect(error.message).toMatch(/is a form of the language|cannot be bound|not a name|nothing can follow/);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("any list of words", () => {
  const words =
    'run do let if when cond and or fn def defn loop recur for doseq try catch finally call step parallel -> ->> + map reduce get :a :body :budget :keys :or :as :when :let :else & _ x y input 1 "t" nil [ ] ( ) { } [ ] ( ) ( ) ( )'.split(
      " ",
    );

  test("is compiled to a program, or refused", () => {
    let compiled = 0;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 14 }), (parts) => {
        try {
          expectProgram(compilePlan(`(run :body (do ${parts.join(" ")}))`));
          compiled++;
        } catch (error) {
          if (!(error instanceof PlanError)) throw error;
        }
      }),
      { numRuns: 5000 },
    );
    expect(compiled).toBeGreaterThan(10);
  });
});
