import { describe, expect, test } from "vitest";
import { Bench } from "./fixture.js";

describe("a program", () => {
  test("ends with 0, and its figures are told", async () => {
    const ran = await new Bench().run(`console.log(6 * 7)`);

    expect(ran).toMatchObject({ outcome: { kind: "ended", exit_code: 0 }, out: "42\n", err: "", state: "kept" });
    expect(ran.fuel_consumed).toBeGreaterThan(0);
    expect(ran.memory_bytes % 65_536).toBe(0);
  });

  test("that throws ends with 1 and says why on stderr", async () => {
    const { outcome, err } = await new Bench().run(`function f() { null.x; }\nf();`, { name: "/app/main.js" });

    expect(outcome).toEqual({ kind: "ended", exit_code: 1 });
    expect(err).toMatch(
      /^TypeError: cannot read property 'x' of null\n {4}at f \(\/app\/main\.js:1:\d+\)\n {4}at <eval>/,
    );
  });

  test.for([
    [`throw "text"`, "'text'\n"],
    [`throw undefined`, "undefined\n"],
    [`throw { code: 1 }`, "{ code: 1 }\n"],
    [`await 1; throw new Error("late")`, /^Error: late\n {4}at <eval>/],
    [`setTimeout(() => { throw new Error("timer"); }, 1)`, /^Error: timer\n/],
    [`Promise.reject(new Error("lost"))`, /^Unhandled promise rejection: Error: lost\n/],
    [`queueMicrotask(() => { throw new Error("micro"); })`, /Error: micro\n/],
    [`let x = ;`, /^SyntaxError: .*\n {4}at <main>:1:9\n/],
  ] as const)("%s is told on stderr", async ([code, expected]) => {
    const { outcome, err } = await new Bench().run(code);

    expect(outcome).toEqual({ kind: "ended", exit_code: 1 });
    if (typeof expected === "string") expect(err).toBe(expected);
    else expect(err).toMatch(expected);
  });

  test("may look at a rejection late, but not too late", async () => {
    const { outcome } = await new Bench().run(`const p = Promise.reject(1); await null; p.catch(() => {});`);

    expect(outcome).toEqual({ kind: "ended", exit_code: 0 });
  });

  test("that waits for nothing ends with 13", async () => {
    const { outcome, err } = await new Bench().run(`await new Promise(() => {}); console.log("never")`);

    expect(outcome).toEqual({ kind: "ended", exit_code: 13 });
    expect(err).toContain("top-level await");
  });

  test("drains all promises and timers before it ends", async () => {
    const out = await new Bench().print(`
      setTimeout(() => console.log("timeout"), 5);
      const every = setInterval(() => { console.log("interval"); clearInterval(every); }, 1);
      Promise.resolve().then(() => console.log("micro")).then(() => console.log("micro 2"));
      (async () => { await null; console.log("async"); })();
      console.log("sync");
    `);

    expect(out).toBe("sync\nmicro\nasync\nmicro 2\ninterval\ntimeout\n");
  });

  test("has its timers called in the order in which they are due, and not those it has cleared", async () => {
    const out = await new Bench().print(`
      const delays = Array.from({ length: 300 }, (_, index) => ((index * 7919) % 97) + 1);
      const fired = [];
      const timers = delays.map((delay, index) => setTimeout((...args) => fired.push(args), delay, delay, index));
      for (let index = 0; index < timers.length; index += 3) clearTimeout(timers[index]);
      clearTimeout(undefined); clearTimeout(12); clearTimeout({});
      setTimeout(() => {
        const expected = delays.map((delay, index) => [delay, index]).filter(([, index]) => index % 3 !== 0);
        expected.sort(([a, i], [b, j]) => a - b || i - j);
        console.log(fired.length, JSON.stringify(fired) === JSON.stringify(expected));
      }, 1000);
    `);

    expect(out).toBe("200 true\n");
  });

  test("gets its arguments and its input", async () => {
    const out = await new Bench().print(
      `import * as std from "std";
       console.log(scriptArgs, std.in.getline(), std.in.getline(), std.in.getline(), std.in.readAsString());`,
      { argv: ["main.js", "--flag"], stdin: new TextEncoder().encode("one\ntwo") },
    );

    expect(out).toBe("[ 'main.js', '--flag' ] one two null \n");
  });

  test("is cut off at the limit of its output, and does not notice", async () => {
    const { out, truncated, outcome } = await new Bench().run(
      `console.log("é".repeat(100)); console.log("x".repeat(1e6)); console.error("y")`,
      { outputBytes: 101 },
    );

    expect(out).toBe("é".repeat(50));
    expect(truncated).toBe(true);
    expect(outcome).toEqual({ kind: "ended", exit_code: 0 });
  });
});

describe("a dialogue", () => {
  const bench = new Bench();

  test.for([
    ["1 + 1", "2\n"],
    ["const x = { a: [1] }", ""],
    ["x", "{ a: [ 1 ] }\n"],
    ["await Promise.resolve('done')", "'done'\n"],
    ["undefined", ""],
  ] as const)("shows the value of %s", async ([code, expected]) => {
    expect(await bench.print(code, { interactive: true })).toBe(expected);
  });

  test.for(["if (", "function f() {\n  return 1", "`abc", "/* x", "({", "let a =", "class A {\n"])(
    "wants more after %j",
    async (code) => {
      expect((await bench.run(code, { interactive: true })).outcome).toEqual({ kind: "incomplete" });
    },
  );

  test("is left when a statement says so, and a program that is none leaves nothing but itself", async () => {
    const code = "(await import('std')).exit(3)";
    expect((await bench.run(code, { interactive: true })).outcome).toEqual({
      kind: "ended",
      exit_code: 3,
      exited: true,
    });
    expect((await bench.run(code)).outcome).toEqual({ kind: "ended", exit_code: 3 });
  });

  test.for(["a b", "let let", "}", `"abc`])("does not want more after %j", async (code) => {
    expect((await bench.run(code, { interactive: true })).outcome).toEqual({ kind: "ended", exit_code: 1 });
  });
});

describe("what a program leaves behind", () => {
  test("lives on: names, modules, prototypes", async () => {
    const bench = new Bench({ "/app/counter.js": "export let n = 0; export const up = () => ++n;" });
    await bench.print(
      `let a = 1; var b = 2; function f() { return a + b; } globalThis.c = 3; String.prototype.twice = 2;`,
    );
    await bench.print(`import { up } from "./counter.js"; up(); up();`);

    expect(await bench.print(`console.log(f(), c, "".twice)`)).toBe("3 3 2\n");
    expect(await bench.print(`import { up } from "./counter.js"; console.log(up());`)).toBe("3\n");
  });

  test.for([
    ["const x = 1", ["const x = 2", "let x = 2", "var x = 2", "function x() {}", "class x {}"], []],
    ["let x = 1", ["const x = 2", "let x = 2", "var x = 2", "function x() {}", "class x {}"], ["x = 2"]],
    ["class x {}", ["const x = 2", "let x = 2", "var x = 2", "function x() {}", "class x {}"], ["x = 2"]],
    ["var x = 1", ["const x = 2", "let x = 2", "class x {}"], ["var x = 2", "function x() {}", "x = 2"]],
    ["function x() {}", ["const x = 2", "let x = 2", "class x {}"], ["var x = 2", "function x() {}", "x = 2"]],
    ["globalThis.x = 1", [], ["globalThis.x = 2", "var x = 2"]],
    ["const x = null.y", ["const x = 2", "var x = 2", "x"], ["{ const x = 2; }"]],
    ["const x = 1", ["x = 2"], ["{ const x = 2; }", "import 'std'; const x = 2;"]],
  ] as const)("after %s takes some declarations of the same name and not others", async ([first, refused, taken]) => {
    const after = async (next: string) => {
      const bench = new Bench();
      await bench.run(first);
      const { outcome } = await bench.run(`${next}; console.log("ran");`);
      return outcome.kind === "ended" && outcome.exit_code === 0;
    };
    for (const next of refused) expect([next, await after(next)]).toEqual([next, false]);
    for (const next of taken) expect([next, await after(next)]).toEqual([next, true]);
  });

  test("is gone with persist: false, but for its files", async () => {
    const bench = new Bench({}, { persist: false });
    await bench.print(`import * as std from "std"; globalThis.a = 1; std.writeFile("kept.txt", "kept");`);

    const out = await bench.print(`import * as std from "std"; console.log(typeof a, std.loadFile("kept.txt"));`);

    expect(out).toBe("undefined kept\n");
  });

  test("is gone after a reset", async () => {
    const bench = new Bench();
    await bench.print(`globalThis.a = 1`);

    bench.guest.reset();

    expect(await bench.print(`console.log(typeof a)`)).toBe("undefined\n");
  });

  test("is as before when a program was stopped", async () => {
    const bench = new Bench();
    await bench.print(`let a = 1;`);

    const stopped = await bench.run(`a = 2; while (true) {}`, { fuel: 10_000_000 });

    expect(stopped).toMatchObject({ outcome: { kind: "trapped", reason: "out_of_fuel" }, state: "rolled_back" });
    expect(stopped.fuel_consumed).toBe(10_000_000);
    expect(await bench.print(`console.log(a)`)).toBe("1\n");
  });

  test("does not include jobs and timers that an exit has cut off", async () => {
    const bench = new Bench();
    const { outcome, out } = await bench.run(`
      import * as std from "std";
      setTimeout(() => console.log("timer"), 1);
      Promise.resolve().then(() => console.log("job"));
      try { std.exit(7); } catch { console.log("caught"); } finally { console.log("finally"); }
    `);

    expect([outcome, out]).toEqual([{ kind: "ended", exit_code: 7 }, ""]);
    expect(await bench.print(`console.log("next"); await null;`)).toBe("next\n");
  });
});

describe("fuel", () => {
  const CODE = `
    const list = Array.from({ length: 500 }, (_, i) => ({ i, t: Math.random(), d: Date.now() }));
    list.sort((a, b) => a.t - b.t); console.log(JSON.stringify(list).length, new Map(list.map((x) => [x.i, x])).size);
    await null; setTimeout(() => console.log(performance.now()), 50);
  `;

  test("and output are the same every time with a fixed clock and a seed", async () => {
    const [first, second] = [await new Bench().run(CODE), await new Bench().run(CODE)];

    expect(second).toEqual(first);
  });

  test("is told to its hook now and then while it grows", async () => {
    const seen: number[] = [];
    const { fuel_consumed } = await new Bench().run(`for (let i = 0; i < 1e6; i++);`, { onSlice: (n) => seen.push(n) });

    expect(seen.length).toBeGreaterThan(3);
    expect([...seen].sort((a, b) => a - b)).toEqual(seen);
    expect(seen.at(-1)).toBeLessThan(fuel_consumed);
  });

  test("other seeds give other numbers", async () => {
    const [first, second] = ["one", "two"].map((seed) => new Bench({}, { random: { kind: "seeded", seed } }));

    expect(await first?.print("console.log(Math.random())")).not.toBe(
      await second?.print("console.log(Math.random())"),
    );
  });

  test("a program that is not run from the start is stopped where the budget ends, twice the same", async () => {
    const bench = new Bench();
    const run = async () => (await bench.run(`for (let i = 0; ; i++) globalThis.i = i;`, { fuel: 5_000_000 })).outcome;

    expect(await run()).toEqual(await run());
  });
});

test("options that cannot be are refused", () => {
  expect(() => new Bench({}, { memoryLimitBytes: 5 })).toThrow(/memoryLimitBytes is 5; give/);
  expect(() => new Bench({}, { memoryLimitBytes: Number.NaN })).toThrow(/memoryLimitBytes is NaN/);
});
