import type { Answer, HostCall, Turn } from "@bursar/sandbox";
import { afterAll, describe, expect, test } from "vitest";
import { compilePlan } from "../../packages/bursar/src/plans/plans.js";
import { Bench } from "./fixture.js";

const bench = new Bench();
afterAll(() => bench[Symbol.asyncDispose]());

describe("a call", () => {
  test("of a tool hands over its argument and gives back the answer", async () => {
    const { value, asked } = await bench.run(
      `(run :inputs [who] :body
         (let [answer (call :mail/send {:to who :tags #{:a :b} :deep {:n nil}})]
           [(:id answer) (call "other tool") (call :third [1])]))`,
      {
        input: { who: "anna" },
        tools: { "mail/send": () => ({ id: 7 }), "other tool": () => null, third: (args: unknown) => args },
      },
    );

    expect(value).toEqual([7, null, [1]]);
    expect(asked.map(({ args }) => args)).toEqual([
      { name: "mail/send", args: { to: "anna", tags: ["a", "b"], deep: { n: null } } },
      { name: "other tool", args: {} },
      { name: "third", args: [1] },
    ]);
  });

  test("of a model, of sleep and of the budget go to the host's own functions", async () => {
    const { value, asked } = await bench.run(
      `(run :body [(call :llm/ask "hi")
                   (call :llm/ask {:prompt "hi" :system "be brief" :max_tokens 5})
                   (call :llm/chat {:model "m" :messages [{:role "user" :content "x"}]})
                   (call :host/sleep {:ms 10})
                   (:steps (call :host/budget))])`,
      { handlers: { llm: () => "answer", sleep: () => null, budget: () => ({ steps: 5 }) } },
    );

    expect(value).toEqual(["answer", "answer", "answer", null, 5]);
    expect(asked).toEqual([
      { name: "llm", args: { messages: [{ role: "user", content: "hi" }] } },
      {
        name: "llm",
        args: {
          max_tokens: 5,
          messages: [
            { role: "system", content: "be brief" },
            { role: "user", content: "hi" },
          ],
        },
      },
      { name: "llm", args: { model: "m", messages: [{ role: "user", content: "x" }] } },
      { name: "sleep", args: { ms: 10 } },
      { name: "budget", args: {} },
    ]);
  });

  test("can stand anywhere, also in functions that others call", async () => {
    const tools = { twice: (n: number) => 2 * n, odd: (n: number) => n % 2 === 1 };
    const table: readonly (readonly [string, unknown])[] = [
      ["(map (fn [x] (call :twice x)) [1 2])", [2, 4]],
      ["(filter (fn [x] (call :odd x)) [1 2 3])", [1, 3]],
      ["(reduce (fn [a x] (+ a (call :twice x))) 0 [1 2])", 6],
      ["(sort-by (fn [x] (- (call :twice x))) [1 3 2])", [3, 2, 1]],
      ["(group-by (fn [x] (str (call :odd x))) [1 2])", { true: [1], false: [2] }],
      ["(some (fn [x] (call :odd x)) [2 3])", true],
      ["(update {:a 1} :a (fn [x] (call :twice x)))", { a: 2 }],
      ["(apply (fn [x y] (+ x (call :twice y))) [1 2])", 5],
      ["(for [x [1 2] :when (call :odd x) :let [y (call :twice x)]] [x y])", [[1, 2]]],
      ["(loop [x 1] (if (< x 50) (recur (call :twice x)) x))", 64],
      ["(let [f (fn [x] (call :twice x)) g (fn [y] (f y))] (g (g 1)))", 4],
      ["(do (defn f [g x] (g x)) [(f inc 1) (f (fn [x] (call :twice x)) 5) (f :a {:a 1})])", [2, 10, 1]],
      ["(do (defn a [n] (if (= n 0) (call :twice 1) (b (dec n)))) (defn b [n] (a n)) (a 3))", 2],
      ["(map (if (call :odd 1) inc dec) [1])", [2]],
      ["(map map [inc (fn [x] (call :twice x))] [[1] [2]])", [[2], [4]]],
      [
        "[(and (call :odd 1) (call :odd 2)) (or (call :odd 2) (call :twice 2)) (if (not (call :odd 2)) 1 2)]",
        [false, 4, 1],
      ],
      ["(cond (call :odd 2) 1 (call :odd 1) 2 :else 3)", 2],
      ["{(str (call :twice 1)) #{(call :twice 2)}}", { 2: [4] }],
      ["(-> 1 (->> (call :twice)) inc)", 3],
      ["(let [{:keys [a] :or {a (call :twice 4)}} {}] a)", 8],
      ["((fn [{:keys [a] :or {a (call :twice 4)}}] a) {})", 8],
      ["(try (call :none 1) (catch e (call :twice 3)) (finally (call :twice 1)))", 6],
      ["((fn again [n] (if (> n 20) n (again (call :twice n)))) 3)", 24],
      ["(pmap (fn [x] (call :twice x)) (range 100))", Array.from({ length: 100 }, (_, n) => 2 * n)],
    ];
    const values = (await bench.evaluate(`[${table.map(([text]) => text).join("\n")}]`, { tools })) as unknown[];

    expect(table.map(([text], index) => [text, values[index]])).toEqual(table);
  });

  test("that fails or is refused can be caught, with what the host said", async () => {
    const session = await bench.session();
    const { code } = compilePlan(`(run :body
      (try (call :mail/send {})
        (catch :budget_exhausted e (assoc (select-keys e [:message :dimension :line :column]) :left (:left (:data e))))))`);

    let turn = await session.begin(code);
    turn = await answered(turn, () => ({ value: {} }), session);
    turn = await answered(
      turn,
      () => ({ error: "no steps left", data: { code: "budget_exhausted", dimension: "steps", left: 0 } }),
      session,
    );

    expect(pending(turn)[0]).toMatchObject({
      name: "result",
      args: { message: "no steps left", dimension: "steps", line: 2, column: 12, left: 0 },
    });
    await session.destroy();
  });
});

describe("a step", () => {
  test("is marked at both ends, also when it fails", async () => {
    const { value, asked } = await bench.run(`(run :body
  (do (step "one" (step (str "t" "wo") 5))
      (try (step "bad" (/ 1 0)) (catch e (:message e)))))`);

    expect(value).toBe("division by zero");
    expect(asked.map(({ args }) => args)).toEqual([
      { id: 1, name: "one", line: 2, column: 7, phase: "begin" },
      { id: 2, name: "two", line: 2, column: 19, phase: "begin" },
      { id: 2, name: "two", line: 2, column: 19, phase: "end" },
      { id: 1, name: "one", line: 2, column: 7, phase: "end" },
      { id: 3, name: "bad", line: 3, column: 12, phase: "begin" },
      { id: 3, name: "bad", line: 3, column: 12, phase: "end", error: "division by zero" },
    ]);
  });
});

describe("branches", () => {
  const BRANCHES = `(run :body (let [[a b c] (parallel (call :a) (+ 1 (call :b)) 3)] [a b c]))`;

  test("are all asked at once, and a late one holds up nobody else", async () => {
    const session = await bench.session();
    let turn = await answered(await session.begin(compilePlan(BRANCHES).code), () => ({ value: {} }), session);
    expect(pending(turn).map(({ args }) => args)).toEqual([
      { name: "a", args: {} },
      { name: "b", args: {} },
    ]);
    const [first, second] = pending(turn);

    turn = await session.resume({ id: second?.id ?? 0, value: 1 });
    expect(turn).toMatchObject({ kind: "pending", open: [first?.id] });
    turn = await session.resume({ id: first?.id ?? 0, value: "late" });

    expect(pending(turn)[0]?.args).toEqual(["late", 2, 3]);
    await session.destroy();
  });

  test("are all awaited before the first failure of the text counts", async () => {
    const order: string[] = [];
    const tools = {
      fail: async (name: string) => {
        order.push(name);
        throw new Error(`no ${name}`);
      },
      slow: async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        order.push("slow");
      },
    };
    const { stderr, asked } = await bench.run(
      `(run :body\n (parallel (do (call :slow) (call :fail "first"))\n (call :fail "second")))`,
      { tools },
    );

    expect(stderr).toContain("test.rtfs:2:29 no first");
    expect(order).toEqual(["second", "slow", "first"]);
    expect(asked).toHaveLength(3);
  });

  test("of pmap are at most 64 at a time, in order, and none begins after a failure", async () => {
    let open = 0;
    let most = 0;
    const tools = {
      work: async (n: number) => {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setImmediate(resolve));
        open--;
        if (n === 70 || n === 80) throw new Error(`no ${n}`);
        return n;
      },
    };
    const { stderr, asked } = await bench.run("(run :body (pmap (fn [n] (call :work n)) (range 500)))", { tools });

    expect(stderr).toContain("test.rtfs:1:26 no 70");
    expect(most).toBeLessThanOrEqual(64);
    expect(asked.length).toBeLessThan(200);
  });
});

describe("a nested run", () => {
  const TEXT = `(run :body
  (let [topic "bolts"]
    (map (fn [n] (run :name "child" :budget {:steps 3 :policies {:steps :hard-stop}} :input {:n n :topic topic}
                   :inputs [n topic]
                   :body (str topic n (run :budget :share :body input))))
         [1 2])))`;

  test("is asked for by its number, with its input and its budget", async () => {
    const plan = compilePlan(TEXT);
    const { value, asked } = await bench.runPlan(plan, { handlers: { spawn: () => "done" } });

    expect(value).toEqual(["done", "done"]);
    expect(asked[1]).toEqual({
      name: "spawn",
      args: {
        program: { kind: "child", index: 0 },
        input: { n: 2, topic: "bolts" },
        name: "child",
        grant: { kind: "given" },
        limits: { steps: 3 },
        policies: { steps: "hard_stop" },
      },
    });
  });

  test("is a plan itself, and so is what it runs", async () => {
    const [child] = compilePlan(TEXT).children;
    const [grandchild] = child?.children ?? [];
    const { value, asked } = await bench.runPlan(child ?? { code: "" }, {
      input: { n: 1, topic: "nuts" },
      handlers: { spawn: () => "!" },
    });

    expect(value).toBe("nuts1!");
    expect(asked[0]?.args).toMatchObject({ program: { kind: "child", index: 0 }, input: {}, grant: { kind: "share" } });
    expect((await bench.runPlan(grandchild ?? { code: "" }, { input: 5 })).value).toBe(5);
  });

  test("that fails is an error where it stands", async () => {
    const refused = { spawn: () => Promise.reject(new Error("child failed: out of steps")) };
    const { stderr, exit_code } = await bench.run("(run :body\n  (run :budget :share :body 1))", { handlers: refused });

    expect([stderr.trim(), exit_code]).toEqual(["[PlanError: test.rtfs:2:3 child failed: out of steps]", 1]);
  });
});

describe("a plan that waits", () => {
  test("is saved and goes on elsewhere, with everything it knew", async () => {
    const { code } = compilePlan(`(run :inputs [names] :body
      (let [seen (map upper-case names)
            greet (fn [greeting] (map (fn [n] (str greeting " " n (call :punctuation {:of n}))) seen))]
        (loop [round 0 all []]
          (if (< round 2) (recur (inc round) (conj all (greet (str "hi" round)))) all))))`);
    const session = await bench.session();
    let turn = await answered(await session.begin(code), () => ({ value: { names: ["a", "b"] } }), session);
    turn = await answered(turn, () => ({ value: "!" }), session);

    const saved = await session.save();
    await session.destroy();
    const other = await bench.restore(saved);
    const [asked] = pending(turn);
    expect(asked?.args).toEqual({ name: "punctuation", args: { of: "B" } });
    for (let left = 3; left > 0; left--) turn = await answered(turn, () => ({ value: "?" }), other);

    expect(pending(turn)[0]).toMatchObject({
      name: "result",
      args: [
        ["hi0 A!", "hi0 B?"],
        ["hi1 A?", "hi1 B?"],
      ],
    });
    await other.destroy();
  });
});

describe("an error names its line and column:", () => {
  test.for([
    ['(+ 1 "a")', '2:1 + takes numbers, and got "a"'],
    ["(+ 1\n (* 2 nil))", "3:2 * takes numbers, and got nil"],
    ["(/ 1 (- 2 2))", "2:1 division by zero"],
    ["(quot 1 0)", "2:1 division by zero"],
    ["(mod 1.5 2)", "2:1 mod takes whole numbers, and got 1.5"],
    ["(+ 9007199254740991 1)", "2:1 the result is too large to be exact"],
    ["(* 94906267 94906267)", "2:1 the result is too large to be exact"],
    ["(* 1.5e300 1.5e300)", "2:1 the result is too large for a number"],
    ["(/ 1e300 1e-300)", "2:1 the result is too large for a number"],
    ["(inc 9007199254740991)", "2:1 the result is too large to be exact"],
    ['(< 1 "2")', '2:1 < takes numbers, and got "2"'],
    ['(sort [1 "a"])', '2:1 1 and "a" have no order'],
    ["(get [1] :a)", '2:1 a vector is looked into by number, and not by "a"'],
    ["(get 5 :a)", "2:1 nothing can be looked up in 5"],
    ["(get {:a 1} 1)", "2:1 the keys of a map are texts and keywords, and this one is 1"],
    ["(:a 5)", "2:1 nothing can be looked up in 5"],
    ["(assoc {} 1 2)", "2:1 the keys of a map are texts"],
    ["(assoc [] 1 2)", "2:1 the vector has no place 1"],
    ["(assoc {} :a 1 :b)", "2:1 assoc takes keys and values in turn"],
    ["(nth [1] 1)", "2:1 there are 1 elements, and no number 1"],
    ["(count 5)", "2:1 count goes through vectors, maps and texts, and got 5"],
    ["(map inc 5)", "2:1 map goes through vectors, maps and texts, and got 5"],
    ["(map 5 [1])", "2:1 map needs a function, and got 5"],
    ["(map (fn [a b] a) [1])", "2:1 the function takes 2 arguments, and map gives it 1"],
    ["(map inc [1 nil])", "2:6 inc takes numbers, and got nil"],
    ["(let [f (first [5])]\n (f 1))", "3:2 the call needs a function, and got 5"],
    ["(let [f (first [inc])]\n (f))", "3:2 the function takes 1 arguments, and the call gives it 0"],
    ["(reduce (fn [a b] a) [])", "2:1 reduce of nothing needs a first value"],
    ["(range 10000000)", "2:1 range would give 10000000 elements; at most 1000000 are allowed"],
    ["(repeat 10000000 1)", "2:1 repeat would give 10000000 elements"],
    ["(range 1 2 0)", "2:1 range cannot go on in steps of 0"],
    ["(upper-case 5)", "2:1 upper-case takes texts, and got 5"],
    ['(subs "abc" 2 9)', "2:1 the text has 3 characters, none from 2 to 9"],
    ['(replace "a" "" "b")', "2:1 replace cannot look for an empty text"],
    ['(parse-json "{")', "2:1 this text is not JSON"],
    ["(let [x 1] #{x 1})", "2:12 the set holds an element twice"],
    ["(let [k :a] {k 1 :a 2})", '2:13 the key "a" is given twice'],
    ["(let [[a] 5] a)", "2:7 a pattern in [ ] goes through vectors, maps and texts, and got 5"],
    ["(let [{:keys [a]} [1]] a)", "2:7 a pattern in { } takes a map, and got a vector"],
    ['(throw "enough")', "2:1 enough"],
    ["(throw 5)", "2:1 throw takes a map, and got 5"],
    ["(throw {:code 5})", "2:1 throw takes a text, or a map with a text as :message"],
    ["inc", "1:1 a function cannot leave the plan"],
    ["[(fn [x] x)]", "1:1 a function cannot leave the plan"],
    ["{:then (fn [x] x)}", "2:1 a function cannot be kept under the key then"],
    ["(assoc {} :then inc)", "2:1 a function cannot be kept under the key then"],
    ["(call :a {:f inc})", "2:1 a function cannot leave the plan"],
    ['(call :llm/ask {:promt "x"})', "2:1 llm/ask takes a text, or a map with a text as :prompt"],
    ['(call :llm/chat "x")', '2:1 llm/chat takes a map such as {:messages […]}, and got "x"'],
    ["(call :host/sleep 5)", "2:1 host/sleep takes a map, and got 5"],
    ["(call :host/sleep {:ms -1})", "2:1 host/sleep takes a map such as {:ms 1000}"],
    ["(step (first [5]) 1)", "2:1 step takes texts, and got 5"],
    ["(do (defn f [n]\n  (+ 1 (f n))) (f 1))", "3:8 functions call each other too deeply; use loop and recur"],
    ["(to-json (reduce (fn [a x] [a]) [] (range 100)))", "2:1 the value is nested more than 60 deep"],
    ['(assoc {} "__proto__" 1)', "1:1 a key cannot be called __proto__"],
    ["(apply + (range 100000))", "2:1 apply hands over at most 1000 arguments, and not 100000; see reduce"],
  ] as const)("%s", async ([body, problem]) => {
    const { stderr, exit_code } = await bench.run(`(run :body\n${body})`);

    expect(exit_code).toBe(1);
    expect(stderr).toContain(`[PlanError: test.rtfs:${problem}`);
    expect(stderr).not.toContain("<main>");
  });

  test("also the missing input, and a host that gives none", async () => {
    const missing = await bench.run("(run :inputs [a\n b] :body a)", { input: { a: 1 } });
    expect(missing.stderr).toContain("[PlanError: test.rtfs:2:2 the input has no b]");

    const none = await bench.run("(run :body 1)", { handlers: { input: () => Promise.reject(new Error("no input")) } });
    expect(none.stderr).toContain("[PlanError: test.rtfs:1:1 no input]");
  });

  test("and memory that has run out is the sandbox's to tell", async () => {
    const { exit_code } = await bench.run('(run :body (loop [a "abc"] (recur (str a a))))');

    expect(exit_code).toBe(137);
  });
});

test("what a plan prints is its output", async () => {
  const { stdout, value } = await bench.run('(run :body (println "a" 1 nil [2] "%d"))');

  expect([stdout, value]).toEqual(["a 1  [2] %d\n", null]);
});

test("what comes from outside changes nothing but itself", async () => {
  const input = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2, "then": "x", "length": 0}');
  const table: readonly (readonly [string, unknown])[] = [
    ["(:constructor input)", 2],
    ["(:polluted input)", null],
    ["(:polluted (merge {} input))", null],
    ["(:polluted (assoc input :a 1))", null],
    ["(:polluted {})", null],
    ["(count input)", 4],
    ["(:then (merge {} input))", "x"],
  ];

  expect(await bench.evaluate(`[${table.map(([text]) => text).join(" ")}]`, { input })).toEqual(
    table.map(([, value]) => value),
  );
});

function pending(turn: Turn): readonly HostCall[] {
  if (turn.kind !== "pending") throw new Error(`ended: ${turn.result.stderr}`);
  return turn.calls;
}

type Reply = { readonly value: unknown } | { readonly error: string; readonly data?: Record<string, unknown> };

/** Answers the first question that was asked. */
async function answered(
  turn: Turn,
  reply: (call: HostCall) => Reply,
  session: { resume(answer: Answer): Promise<Turn> },
): Promise<Turn> {
  const [call] = pending(turn);
  if (call === undefined) throw new Error("nothing was asked");
  return session.resume({ id: call.id, ...reply(call) });
}
