import { describe, expect, test } from "vitest";
import { Stopped } from "../../src/wasm/outcome.js";
import { newGuest, pythonParts, run } from "./parts.js";

const parts = await pythonParts();
const ENDED = { kind: "ended", exit_code: 0 };

describe("a Python guest", () => {
  test("runs a program from the image, and burns the same fuel every time", () => {
    const [first, second] = [newGuest(parts), newGuest(parts)].map((guest) => run(guest, "print(sum(range(1000)))"));
    expect(first).toMatchObject({ outcome: ENDED, out: "499500\n", err: "" });
    expect(first?.fuel_consumed).toBeGreaterThan(100_000);
    expect(second?.fuel_consumed).toBe(first?.fuel_consumed);
  });

  test("keeps globals, imports and open files from one program to the next", () => {
    const guest = newGuest(parts);
    run(guest, "import decimal\nx = decimal.Decimal('0.1')\nf = open('a.txt', 'w+')\nf.write('one two')\nf.seek(4)");
    expect(run(guest, "print(x * 3, f.read())").out).toBe("0.3 two\n");
  });

  test("shows a traceback with the program's own lines, and nothing of ours", () => {
    const { outcome, err } = run(newGuest(parts), "def f():\n    return 1 / 0\n\nf()\n");
    expect(outcome).toEqual({ kind: "ended", exit_code: 1 });
    expect(err).toContain('  File "<program>", line 2, in f\n    return 1 / 0\n');
    expect(err).not.toContain("boot.py");
    expect(run(newGuest(parts), "import nosuch").err).toBe(
      `Traceback (most recent call last):
  File "<program>", line 1, in <module>
    import nosuch
ModuleNotFoundError: No module named 'nosuch'
`,
    );
    expect(run(newGuest(parts), "a b").err).toMatch(/^ {2}File "<program>", line 1\n {4}a b\n.*SyntaxError/s);
  });

  test.each([
    ["import sys; sys.exit(3)", 3, ""],
    ["import sys; sys.exit()", 0, ""],
    ["import sys; sys.exit('no')", 1, "no\n"],
    ["raise SystemExit(300)", 300 & 0xff, ""],
    ["import os; os._exit(7)", 7, ""],
    ["raise KeyboardInterrupt", 1, expect.stringContaining("KeyboardInterrupt")],
  ])("ends as %s says", (code, exit_code, err) => {
    expect(run(newGuest(parts), code)).toMatchObject({ outcome: { kind: "ended", exit_code }, err });
  });

  test("is stopped when its fuel is used up, with and without except", () => {
    for (const code of [
      "while True: pass",
      "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
    ]) {
      const { outcome, fuel_consumed } = run(newGuest(parts), code, 50_000_000);
      expect(outcome).toMatchObject({ kind: "trapped", reason: "out_of_fuel" });
      expect(fuel_consumed).toBe(50_000_000);
    }
  });

  test.each([
    "pass",
    "await host.call('x')",
    "print(sum(range(1000)))",
    "def f(n):\n    return n and f(n - 1)\nf(300)",
    "import json\njson.dumps([[[[1]]]])",
    "raise SystemExit(3)",
    "import os\nos._exit(3)",
  ])("comes as far with the fuel that it needs as with more, and not with a unit less: %j", (code) => {
    const whole = run(newGuest(parts), code);
    const { outcome, fuel_consumed } = run(newGuest(parts), code, whole.fuel_consumed);
    expect({ outcome, fuel_consumed }).toEqual({ outcome: whole.outcome, fuel_consumed: whole.fuel_consumed });
    const less = whole.fuel_consumed - 1;
    expect(run(newGuest(parts), code, less)).toMatchObject({
      outcome: { reason: "out_of_fuel", message: expect.stringContaining(`the fuel budget of ${less} is used up`) },
      fuel_consumed: less,
    });
  });

  test("takes any amount of fuel that can be counted", () => {
    expect(run(newGuest(parts), "pass", Number.MAX_SAFE_INTEGER).outcome).toEqual(ENDED);
  });

  test("that was stopped has printed what it printed", () => {
    expect(run(newGuest(parts), "print('so far')\nwhile True: pass", 50_000_000).out).toBe("so far\n");
  });

  test("is stopped by whoever is asked after a slice", () => {
    const stop = () => {
      throw new Stopped("timeout", "enough");
    };
    const { outcome } = newGuest(parts).begin({ code: "while True: pass" }, { fuel: 1e9, onSlice: stop });
    expect(outcome).toEqual({ kind: "trapped", reason: "timeout", message: "enough" });
  });

  test("may be given more fuel while it runs", () => {
    const guest = newGuest(parts);
    const code = "n = 0\nfor i in range(200000): n += i\nprint(n)";
    const whole = run(newGuest(parts), code).fuel_consumed;
    let asked = 0;
    const onSlice = () => {
      if (asked++ === 0) guest.extend(whole);
    };
    const { outcome, fuel_consumed } = guest.begin({ code }, { fuel: Math.round(whole / 2), onSlice });
    expect(outcome).toEqual(ENDED);
    expect(fuel_consumed).toBe(whole);
  });

  test("can look at its own memory, which hooks into whatever asks for some", () => {
    const code = `import tracemalloc
before = bytearray(1000)
tracemalloc.start()
kept = [bytearray(100) for _ in range(500)] + ["x" * at for at in range(200)]
now, peak = tracemalloc.get_traced_memory()
[largest, *_] = tracemalloc.take_snapshot().statistics("lineno")
del kept
freed, _ = tracemalloc.get_traced_memory()
tracemalloc.stop()
after = [bytearray(100) for _ in range(500)]
print(now > 70_000, peak >= now, largest.traceback[0].lineno, freed < now - 60_000, tracemalloc.get_traced_memory())
`;
    expect(run(newGuest(parts), code)).toMatchObject({ outcome: ENDED, out: "True True 4 True (0, 0)\n", err: "" });
  });

  test("reports the packages it has loaded, each with its fuel, and no part of the standard library", () => {
    const guest = newGuest(parts);
    guest.host.vfs.mkdir("/app/heavy");
    const text = new TextEncoder();
    guest.host.vfs.writeFile("/app/heavy/__init__.py", text.encode("import json, heavy.part\nx = sum(range(10000))"));
    guest.host.vfs.writeFile("/app/heavy/part.py", text.encode("y = 1"));
    const first = run(guest, "import heavy, csv");
    expect(first.imports).toEqual([{ name: "heavy", fuel: expect.any(Number), loaded: true }]);
    expect(first.imports[0]?.fuel).toBeGreaterThan(1_000_000);
    expect(run(guest, "import heavy").imports).toEqual([]);
    expect(run(guest, "import nosuch").imports).toEqual([{ name: "nosuch", fuel: expect.any(Number), loaded: false }]);
  });

  test("says when a statement of a dialogue needs more lines, and shows values", () => {
    const guest = newGuest(parts);
    const ask = (code: string) => guest.begin({ code, interactive: true }, { fuel: 1e9, onSlice: () => {} }).outcome;
    expect(ask("for i in range(2):\n")).toEqual({ kind: "incomplete" });
    expect(ask("for i in range(2):\n    i\n\n")).toEqual(ENDED);
    expect(ask("x = 4\n")).toEqual(ENDED);
    expect(ask("if x:\n    y = 1")).toEqual({ kind: "incomplete" });
    expect(ask("if x:\n    y = 1\nelse:\n    y = 2\n")).toEqual(ENDED);
    expect(ask("exit()\n")).toEqual({ kind: "ended", exit_code: 0, exited: true });
    expect(ask("raise SystemExit(3)\n")).toEqual({ kind: "ended", exit_code: 3, exited: true });
    expect(ask("raise ValueError\n")).toEqual({ kind: "ended", exit_code: 1 });
    expect(ask("await host.call('a')\n")).toMatchObject({ kind: "pending" });
    expect(guest.host.stdout.text()).toBe("0\n1\n");
  });
});

const MORE = { fuel: 5_000_000_000, onSlice: () => {} };

describe("await host.call()", () => {
  test("stands still, and goes on in another guest, as often as one likes", () => {
    const guest = newGuest(parts);
    const code = `
notes = []
for i in range(2):
    try:
        notes.append(await host.call("llm", {"prompt": i}))
    except HostError as error:
        notes.append(f"failed: {error}")
print(notes)
`;
    expect(run(guest, code).outcome).toEqual({
      kind: "pending",
      calls: [{ id: 1, name: "llm", args: { prompt: 0 } }],
      open: [1],
    });
    const saved = guest.save({ memory: true });
    for (const who of ["one", "two"]) {
      const copy = newGuest(parts, saved);
      expect(copy.resume({ id: 1, value: who }, MORE).outcome).toMatchObject({ kind: "pending", open: [2] });
      expect(copy.resume({ id: 2, error: "rate limit" }, MORE).outcome).toEqual(ENDED);
      expect(copy.host.stdout.text()).toBe(`['${who}', 'failed: rate limit']\n`);
    }
  });

  test("raises a refusal with what the host says about it, which can be told from a failure", () => {
    const guest = newGuest(parts);
    const code = `
import copy, pickle
for i in range(3):
    try:
        await host.call("x")
    except host.Refused as error:
        print(isinstance(error, HostError), error, error.code, error.dimension, error.data)
        print(repr(copy.copy(error)), pickle.loads(pickle.dumps(error)).data == error.data)
    except HostError as error:
        print("failed", error)
`;
    run(guest, code);
    const data = { code: "budget_exhausted", dimension: "cost_usd", remaining: [0] };
    guest.resume({ id: 1, error: "no budget left", data }, MORE);
    guest.resume({ id: 2, error: "no", data: { code: 5 } }, MORE);
    expect(guest.resume({ id: 3, error: "broken" }, MORE).outcome).toEqual(ENDED);
    expect(guest.host.stdout.text()).toBe(
      "True no budget left budget_exhausted cost_usd " +
        "{'code': 'budget_exhausted', 'dimension': 'cost_usd', 'remaining': [0]}\n" +
        "Refused('no budget left') True\n" +
        "True no None None {'code': 5}\nRefused('no') True\nfailed broken\n",
    );
    const uncaught = newGuest(parts);
    run(uncaught, "await host.call('x')");
    uncaught.resume({ id: 1, error: "no", data: {} }, MORE);
    expect(uncaught.host.stderr.text()).toMatch(/\nhost\.Refused: no\n$/);
  });

  test.each(["", "import host\n"])("has names of their own for what agents call most, %j", (first) => {
    const code = `${first}calls = [
    host.llm({"prompt": "hi"}), host.tool("search", {"query": "x"}), host.tool("now"),
    host.spawn("child.py", {"n": 1}, {"budget": {"steps": 3}, "program": "other"}), host.spawn("child.py"),
    host.sleep(50), host.budget(), host.anything(1, 2),
]
for call in calls: await call`;
    const { outcome } = run(newGuest(parts), code);
    expect(outcome.kind === "pending" && outcome.calls.map(({ name, args }) => [name, args])).toEqual([
      ["llm", { prompt: "hi" }],
      ["tool", { name: "search", args: { query: "x" } }],
      ["tool", { name: "now", args: null }],
      ["spawn", { program: "child.py", input: { n: 1 }, budget: { steps: 3 } }],
      ["spawn", { program: "child.py", input: null }],
      ["sleep", { ms: 50 }],
      ["budget", {}],
      ["anything", [1, 2]],
    ]);
  });

  test("works with asyncio.run, several at once, and timers in between", () => {
    const guest = newGuest(parts);
    const code = `
import asyncio

async def one(i):
    answer = await host.call("m", i)
    await asyncio.sleep(0.001)
    return answer

async def main():
    print(await asyncio.gather(one(1), one(2)))
    try:
        await asyncio.wait_for(asyncio.sleep(5), 0.001)
    except asyncio.TimeoutError:
        print("timeout")

asyncio.run(main())
`;
    expect(run(guest, code).outcome).toMatchObject({ kind: "pending", open: [1, 2] });
    expect(guest.resume({ id: 2, value: "b" }, MORE).outcome).toEqual({ kind: "pending", calls: [], open: [1] });
    expect(guest.resume({ id: 1, value: "a" }, MORE).outcome).toEqual(ENDED);
    expect(guest.host.stdout.text()).toBe("['a', 'b']\ntimeout\n");
  });

  test("inside of asyncio.run in a function says what to write instead", () => {
    const code = "import asyncio\ndef f():\n  async def m(): await host.call('x')\n  asyncio.run(m())\nf()";
    const { outcome, err } = run(newGuest(parts), code);
    expect(outcome).toEqual({ kind: "ended", exit_code: 1 });
    expect(err).toContain("write `await main()` at the top of the program");
  });

  test("refuses an answer to what was not asked", () => {
    const guest = newGuest(parts);
    run(guest, "await host.call('x')");
    expect(guest.resume({ id: 9, value: 1 }, MORE).outcome).toEqual({ kind: "ended", exit_code: 1 });
  });
});

describe("a saved guest", () => {
  test("goes on with globals, a half consumed generator and open files", () => {
    const guest = newGuest(parts);
    run(guest, "g = (i * i for i in range(5)); next(g); next(g)\nf = open('/tmp/x', 'w+'); f.write('abc'); f.seek(1)");
    const copy = newGuest(parts, guest.save({ memory: true }));
    expect(run(copy, "print(list(g), f.read())").out).toBe("[4, 9, 16] bc\n");
  });

  test("of another build is refused", () => {
    const state = newGuest(parts).save({ memory: true });
    expect(() => newGuest(parts, { ...state, image: "another" })).toThrow("saved with another build");
  });

  test("without its memory starts from the image, with its files", () => {
    const guest = newGuest(parts);
    run(guest, "x = 1\nopen('kept.txt', 'w').write('yes')\nleft_open = open('kept.txt')");
    const state = guest.save({ memory: false });
    expect(run(newGuest(parts, state), "print(open('kept.txt').read(), 'x' in globals())").out).toBe("yes False\n");
  });

  test("without its memory has nothing open: files that have lost their name are gone, and counted no more", () => {
    const guest = newGuest(parts);
    const files = guest.save({ memory: true }).host.vfs.files;
    run(guest, "import os\nfor i in range(5):\n    os.open('x', os.O_CREAT | os.O_RDWR)\n    os.unlink('x')");
    expect(guest.save({ memory: true }).host.vfs.files).toBe(files + 5);
    expect(guest.save({ memory: false }).host.vfs).toMatchObject({ files });
  });
});
