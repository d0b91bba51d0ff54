import { describe, expect, test } from "vitest";
import { SnapshotRefused } from "../../src/javascript/snapshot.js";
import { Bench, image } from "./fixture.js";

describe("host.call", () => {
  test("stands still until it has its answer", async () => {
    const bench = new Bench();
    const asked = await bench.run(
      `const answer = await host.call("llm", { prompt: "hi", list: [1, null, true] }); console.log(answer);`,
    );

    expect(asked.outcome).toEqual({
      kind: "pending",
      calls: [{ id: 1, name: "llm", args: { prompt: "hi", list: [1, null, true] } }],
      open: [1],
    });
    const ended = await bench.resume([{ id: 1, value: { text: "hello", deep: [{}] } }]);
    expect(ended).toMatchObject({ outcome: { kind: "ended", exit_code: 0 }, out: "{ text: 'hello', deep: [ {} ] }\n" });
    expect(await bench.print(`console.log(answer.text)`)).toBe("hello\n");
  });

  test("throws the host's error where it waits", async () => {
    const bench = new Bench();
    await bench.run(
      `try { await host.call("x"); } catch (error) { console.log(error instanceof Error, error.message); }`,
    );

    expect((await bench.resume([{ id: 1, error: "no budget left" }])).out).toBe("true no budget left\n");
  });

  test("throws a refusal with what the host says about it, which can be told from a failure", async () => {
    const bench = new Bench();
    await bench.run(`
      Object.defineProperty(Object.prototype, "code", { get: () => "forged", set: () => {}, configurable: true });
      for (let i = 0; i < 3; i++) {
        try { await host.call("x"); } catch (error) {
          console.log(error instanceof HostRefusedError, error instanceof HostError && error instanceof Error, String(error), error.code, error.dimension);
          if (error.data) console.log(JSON.stringify(error.data));
        }
      }
      delete Object.prototype.code;`);
    const data = { code: "budget_exhausted", dimension: "cost_usd", remaining: [0] };
    const first = await bench.resume([{ id: 1, error: "no budget left", data }]);
    expect(first.out).toBe(
      `true true HostRefusedError: no budget left budget_exhausted cost_usd\n${JSON.stringify(data)}\n`,
    );
    const second = await bench.resume([{ id: 2, error: "no", data: { code: 5 } }]);
    expect(second.out).toBe(`true true HostRefusedError: no null null\n{"code":5}\n`);
    expect((await bench.resume([{ id: 3, error: "broken" }])).out).toMatch(/^false true HostError: broken /);
  });

  test("has names of their own for what agents call most", async () => {
    const bench = new Bench();
    const { outcome } = await bench.run(`
      host.llm({ prompt: "hi" });
      host.tool("search", { query: "x" });
      host.tool("now");
      host.spawn("child.py", { n: 1 }, { budget: { steps: 3 }, program: "other" });
      host.spawn("child.py");
      host.sleep(50);
      host.budget();`);
    const calls = outcome.kind === "pending" ? outcome.calls.map(({ name, args }) => [name, args]) : [];
    expect(calls).toEqual([
      ["llm", { prompt: "hi" }],
      ["tool", { name: "search", args: { query: "x" } }],
      ["tool", { name: "now", args: null }],
      ["spawn", { program: "child.py", input: { n: 1 }, budget: { steps: 3 } }],
      ["spawn", { program: "child.py", input: null }],
      ["sleep", { ms: 50 }],
      ["budget", {}],
    ]);
  });

  test("waits for several at once, and takes the answers in any order", async () => {
    const bench = new Bench();
    const code = `
      const all = await Promise.all([1, 2, 3].map(async (n) => (await host.call("n", n)) + (await host.call("again", n))));
      console.log(all);`;

    const first = await bench.run(code);
    expect(first.outcome).toMatchObject({
      kind: "pending",
      calls: [{ args: 1 }, { args: 2 }, { args: 3 }],
      open: [1, 2, 3],
    });
    const second = await bench.resume([{ id: 2, value: "b" }]);
    expect(second.outcome).toEqual({ kind: "pending", calls: [{ id: 4, name: "again", args: 2 }], open: [1, 3, 4] });
    const third = await bench.resume([
      { id: 4, value: "B" },
      { id: 3, value: "c" },
      { id: 1, value: "a" },
    ]);
    expect(third.outcome).toMatchObject({ kind: "pending", open: [5, 6] });
    const last = await bench.resume([
      { id: 6, value: "A" },
      { id: 5, value: "C" },
    ]);
    expect(last.out).toBe("[ 'aA', 'bB', 'cC' ]\n");
  });

  test("lets timers that are due run first, and others wait for the answer", async () => {
    const bench = new Bench();
    const first = await bench.run(`
      setTimeout(() => console.log("later"), 1000);
      host.call("x").then((value) => console.log("answer", value));`);

    expect([first.outcome.kind, first.out]).toEqual(["pending", ""]);
    expect((await bench.resume([{ id: 1, value: 1 }])).out).toBe("answer 1\nlater\n");
  });

  test.for([
    [`host.call()`, "TypeError: host.call needs a name of at most 200 characters"],
    [`host.call("x".repeat(201))`, "TypeError: host.call needs a name"],
    [`host.call({ toString() { return "x"; } })`, "TypeError: host.call needs a name"],
    [`host.call("x", () => 1)`, "TypeError: the arguments of host.call have to be JSON values"],
    [`host.call("x", 1n)`, "TypeError: "],
    [`const a = {}; a.a = a; await host.call("x", a)`, "TypeError: circular reference"],
    [`host.call("x", "y".repeat(2e6))`, "RangeError: the arguments of host.call have 2000002 characters"],
    [`host.call("x", JSON.parse("[".repeat(70) + "]".repeat(70)))`, "TypeError: the arguments of host.call are nested"],
    [
      `host.call("x", JSON.parse('{"a": {"__proto__": {"b": 1}}}'))`,
      "TypeError: the arguments of host.call have a key named __proto__",
    ],
    [`host.call("x", Array(200000).fill(0))`, "TypeError: the arguments of host.call have more than 100000 parts"],
    [`host.call("x", { get a() { throw new Error("getter"); } })`, "Error: getter"],
    [`host.call("x", { toJSON() { return undefined; } })`, "TypeError: the arguments of host.call have to be JSON"],
    [`await Promise.all(Array.from({ length: 1001 }, () => host.call("x")))`, "RangeError: more than 1000 calls wait"],
  ] as const)("refuses %s", async ([code, message]) => {
    const bench = new Bench();
    const { outcome, err } = await bench.run(code);

    expect(outcome).toEqual({ kind: "ended", exit_code: 1 });
    expect(err).toContain(message);
    expect(await bench.print(`console.log("fine")`)).toBe("fine\n");
  });

  test("answers that nobody waits for are refused, and so is a second program", async () => {
    const bench = new Bench();
    await expect(bench.resume([])).rejects.toThrow("no program waits for answers");
    await bench.run(`await host.call("x")`);

    await expect(bench.resume([{ id: 9, value: 1 }])).rejects.toThrow("no call with the id 9");
    await expect(bench.run(`1`)).rejects.toThrow("a program waits for answers; resume it, or cancel it first");
    bench.guest.cancel();
    expect(await bench.print(`console.log("on")`)).toBe("on\n");
  });
});

describe("a snapshot", () => {
  const PROGRAM = `
    import * as std from "std";
    const file = std.open("notes", "w+"); file.puts("before\\n");
    const secret = Math.random();
    function* numbers() { yield 1; yield 2; yield 3; }
    const left = numbers(); left.next();
    let answer;
    try { answer = await host.call("llm", secret); } catch (error) { answer = "failed: " + error.message; }
    file.puts("after " + answer + "\\n"); file.seek(0, std.SEEK_SET);
    console.log(file.readAsString(), left.next().value, Math.random() - secret);
  `;

  test("holds a program that waits; it goes on elsewhere, more than once, and each time alike", async () => {
    const bench = new Bench();
    const asked = await bench.run(PROGRAM);
    expect(asked.outcome.kind).toBe("pending");
    const saved = bench.guest.save();

    const go = async (answer: { value: unknown } | { error: string }) => {
      const other = new Bench({ "/app/notes": "before\n" }, {}, saved);
      expect(other.guest.pending).toBe(true);
      return other.resume([{ id: 1, ...answer }]);
    };
    const [first, again, failed] = [await go({ value: "yes" }), await go({ value: "yes" }), await go({ error: "no" })];

    expect(first.out).toMatch(/^before\nafter yes\n 2 -?0\.\d+/);
    expect(again).toEqual(first);
    expect(failed.out).toMatch(/^before\nafter failed: no\n 2 /);
    expect((await bench.resume([{ id: 1, value: "yes" }])).out).toBe(first.out);
  });

  test("holds globals, modules and the clock of a guest at rest", async () => {
    const files = { "/app/m.js": "export let n = 0; export const up = () => ++n;" };
    const bench = new Bench(files);
    await bench.print(
      `import { up } from "./m.js"; import * as os from "os"; up(); globalThis.kept = new Map([[1, up]]); os.sleep(5000);`,
    );

    const other = new Bench(files, {}, bench.guest.save());

    expect(await other.print(`console.log(kept.get(1)(), Date.now() >= 1700000005000)`)).toBe("2 true\n");
  });

  test("of a program that waits knows what to go back to when that is stopped", async () => {
    const bench = new Bench();
    await bench.print(`globalThis.a = "before"`);
    await bench.run(`globalThis.a = "during"; await host.call("x"); while (true);`);

    const other = new Bench({}, {}, bench.guest.save());
    const stopped = await other.resume([{ id: 1, value: null }], { fuel: 1_000_000 });

    expect(stopped).toMatchObject({ outcome: { kind: "trapped", reason: "out_of_fuel" }, state: "rolled_back" });
    expect(await other.print(`console.log(a)`)).toBe("before\n");
  });

  test("of a new guest is small, and a little program adds little", async () => {
    const bench = new Bench();
    expect(bench.guest.save().length).toBeLessThan(1000);
    await bench.print(`let a = [1, 2, 3]`);

    expect(bench.guest.save().length).toBeLessThan(100_000);
  });

  test("can be saved again after it was restored, without having run", async () => {
    const bench = new Bench();
    await bench.print(`globalThis.a = 1`);

    const saved = new Bench({}, {}, bench.guest.save()).guest.save();

    expect(await new Bench({}, {}, saved).print(`console.log(a)`)).toBe("1\n");
  });

  test("that is damaged, forged or of another engine is refused", async () => {
    const bench = new Bench();
    await bench.run(`await host.call("x")`);
    const saved = bench.guest.save();
    const restore = (bytes: Uint8Array) => () => new Bench({}, {}, bytes);

    expect(restore(saved.slice(0, 100))).toThrow(SnapshotRefused);
    expect(restore(new Uint8Array())).toThrow(SnapshotRefused);
    expect(restore(new TextEncoder().encode("nonsense that is long enough"))).toThrow(SnapshotRefused);
    const text = Buffer.from(saved).toString("latin1");
    const changed = (from: string | RegExp, to: string) => restore(Buffer.from(text.replace(from, to), "latin1"));
    expect(changed(image().hash, "0".repeat(64))).toThrow("another version of the engine");
    expect(changed(/"main":\d{7}/, '"main":9999999')).toThrow(SnapshotRefused);
    expect(changed(/"sizes":\[\d\d/, '"sizes":[-5')).toThrow(SnapshotRefused);
    expect(restore(saved.map((byte, index) => (index > saved.length - 500 ? byte ^ 255 : byte)))).toThrow(
      SnapshotRefused,
    );
  });

  test("with garbled memory harms nobody: its guest is stopped, or does something else", async () => {
    const bench = new Bench();
    await bench.run(
      `globalThis.list = Array.from({ length: 5000 }, (_, i) => ({ i })); await host.call("x"); console.log(list.length);`,
    );
    const { pages } = (await import("../../src/javascript/snapshot.js")).readSnapshot(
      bench.guest.save(),
      image().hash,
      1000,
    );
    for (let seed = 1; seed <= 8; seed++) {
      const bytes = pages.bytes.map((byte, index) => ((index * seed * 7919) % 101 === 0 ? byte ^ seed : byte));
      const { writeSnapshot } = await import("../../src/javascript/snapshot.js");
      const forged = writeSnapshot({
        image: image().hash,
        clock: { realtimeNs: 0n, monotonicNs: 0n },
        main: 1_300_000,
        open: [{ id: 1, name: "x", args: null }],
        pages: { ...pages, bytes },
        settled: null,
      });
      const victim = new Bench({}, {}, forged);
      const { outcome } = await victim.resume([{ id: 1, value: 1 }], { fuel: 50_000_000 });
      expect(["ended", "trapped", "pending"]).toContain(outcome.kind);
      victim.guest.reset();
      expect(await victim.print(`console.log("alive")`)).toBe("alive\n");
    }
  });
});
