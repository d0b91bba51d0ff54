import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { bursar, MAIN } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-exec-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("bursar exec", () => {
  test("runs a program, and says on the side what it has burnt", () => {
    const { status, stdout, stderr } = bursar(["exec", "-c", "import sys; print(6 * 7, sys.argv)", "--", "a", "b"]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "42 ['-c', 'a', 'b']\n" });
    expect(stderr).toMatch(/^── [\d.]+[kM] of 10B fuel, [\d.]+ %, \d+ ms\n$/);
  });

  test("runs scripts in both languages, with files, and ends as they do", () => {
    const [python, javascript, data] = ["a.py", "b.mjs", "data.txt"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(data, "some data");
    writeFileSync(python, "import sys\nprint(open('data.txt').read())\nsys.exit(3)");
    writeFileSync(javascript, "import * as std from 'std';\nconsole.log(std.loadFile('/app/data.txt'));");
    expect(bursar(["exec", python, "--file", data, "--quiet"])).toMatchObject({
      status: 3,
      stdout: "some data\n",
      stderr: "",
    });
    expect(bursar(["exec", javascript, "--file", data, "--quiet"])).toMatchObject({ status: 0, stdout: "some data\n" });
  });

  test.each([
    ["python", "import sys\nprint('out')\nprint('err', file=sys.stderr)\nwhile True: pass"],
    ["javascript", "console.log('out'); console.error('err'); for (;;);"],
  ])("shows what a program in %s prints while it runs", async (language, code) => {
    const args = ["exec", "-c", code, "--language", language, "--fuel", "1000T", "--timeout", "1h", "--quiet"];
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    try {
      const texts = await Promise.all([child.stdout, child.stderr].map(firstLine));
      expect(texts).toEqual(["out\n", "err\n"]);
      expect(child.exitCode).toBeNull();
    } finally {
      child.kill("SIGINT");
      await once(child, "exit");
    }
  });

  test.each(["stdout", "stderr"] as const)("gives %s that is no text to a pipe byte for byte", (stream) => {
    const code = `import sys; [sys.${stream}.buffer.write(bytes(range(256))) for _ in range(3000)]`;
    const args = ["exec", "-c", code, "--quiet", "--fuel", "100T"];
    const { status, [stream]: written } = spawnSync(process.execPath, [MAIN, ...args], { maxBuffer: 1 << 24 });
    expect(status).toBe(0);
    const wanted = Buffer.from(Uint8Array.from({ length: 3000 * 256 }, (_, index) => index));
    expect(written.equals(wanted)).toBe(true);
  });

  test.each([
    ["stdout", "print('x' * 5_000_000)"],
    ["stderr", "import sys; sys.stderr.write('x' * 5_000_000)"],
  ] as const)("gives all of %s to a file or a pipe, and says where it was cut", (stream, code) => {
    const whole = bursar(["exec", "-c", code, "--quiet"]);
    expect([whole.status, whole[stream].replace("\n", "").length]).toEqual([0, 5_000_000]);
    const cut = bursar(["exec", "-c", code, "--quiet", "--output", "1"]);
    expect(cut.status).toBe(153);
    expect(cut.stderr).toContain(`${stream} was cut after 1.0 MiB; allow more with --output <MiB>`);
    const failing = bursar(["exec", "-c", `${code}\nraise SystemExit(3)`, "--quiet", "--output", "1"]);
    expect([failing.status, failing.stderr]).toEqual([3, expect.stringContaining(`${stream} was cut`)]);
    const json = bursar(["exec", "-c", code, "--json", "--output", "1"]);
    expect(json.status).toBe(153);
    expect(JSON.parse(json.stdout).metadata[`${stream}_truncated`]).toBe(true);
  });

  test("shows nothing but the result with --json, and everything before a program was stopped", () => {
    const code = "import sys\nprint('out')\nprint('err', file=sys.stderr)\nwhile True: pass";
    const json = bursar(["exec", "-c", code, "--fuel", "50M", "--json"]);
    expect(json.stderr).toBe("");
    expect(JSON.parse(json.stdout)).toMatchObject({ stdout: "out\n", stderr: "err\n" });
    const plain = bursar(["exec", "-c", code, "--fuel", "50M", "--quiet"]);
    expect(plain).toEqual({ status: 137, stdout: "out\n", stderr: "err\n" });
  });

  test.each([
    ["python", "x = bytearray(100_000_000)", 1],
    ["javascript", "new Uint8Array(100_000_000)", 137],
  ])("a program in %s that is short of memory ends as the help says", (language, code, exit_code) => {
    const { status, stdout } = bursar(["exec", "-c", code, "--language", language, "--memory", "64", "--json"]);
    expect(status).toBe(exit_code);
    expect(JSON.parse(stdout)).toMatchObject({ metadata: { error_guidance: { error_type: "MemoryExhausted" } } });
    const { stdout: help } = bursar(["exec", "--help"]);
    expect(help).toMatch(
      /137 {2}it ran out of fuel, or of memory; but where Python raises a\s+MemoryError, .* with 1 /,
    );
  });

  test("gives the result as JSON, and guidance when the fuel is used up", () => {
    const { status, stdout } = bursar(["exec", "-c", "while True: pass", "--fuel", "50M", "--json"]);
    expect(status).toBe(137);
    expect(JSON.parse(stdout)).toMatchObject({
      success: false,
      fuel_consumed: 50_000_000,
      metadata: { trap_reason: "out_of_fuel", error_guidance: { error_type: "OutOfFuel" } },
    });
    const { stderr } = bursar(["exec", "-c", "while True: pass", "--fuel", "50M"]);
    expect(stderr).toContain("Solution 2: Create session with higher fuel budget");
  });

  test.each([
    [["exec", "x.py", "-c", "1"], "give either a script or -c"],
    [["exec", "-c", "1", "--fuel", "much"], "--fuel is much; allowed: an amount such as 500M"],
    [["exec", "-c", "1", "--timeout", "soon"], "--timeout is soon; allowed: a time such as 500ms"],
    [["exec", "-c", "1", "--memory", "1"], "--memory is 1; allowed: 32 to 4096"],
    [["exec", "-c", "1", "--output", "lots"], "--output is lots; allowed: 1 to 1024"],
    [["exec", "-c", "1", "--language", "perl"], "--language is perl; allowed: python, javascript"],
    [["exec", "-c", "1", "--feul", "1"], "did you mean --fuel?"],
    [["exec", "x.ts"], "x.ts ends in .ts, which is no language of the sandbox; allowed: .py, .js, .mjs"],
    [["exec", "x.constructor"], "say --language python or --language javascript"],
    [["exec", "some.python.txt"], "ends in .txt"],
  ])("%s is refused", (args, message) => {
    expect(bursar(args)).toMatchObject({ status: 2, stderr: expect.stringContaining(message) });
  });

  test("takes a script of any name in the language it is told, and of no ending for Python", () => {
    const [typed, bare, loud] = ["c.ts", "bare", "D.MJS"].map((name) => join(folder, name)) as [string, string, string];
    writeFileSync(typed, "console.log(1)");
    writeFileSync(bare, "print(2)");
    writeFileSync(loud, "console.log(3)");
    expect(bursar(["exec", typed, "--language", "javascript", "--quiet"]).stdout).toBe("1\n");
    expect(bursar(["exec", bare, "--quiet"]).stdout).toBe("2\n");
    expect(bursar(["exec", loud, "--quiet"]).stdout).toBe("3\n");
  });

  test.each([
    ["python", "while True: pass"],
    ["python", "import time\ntime.sleep(3600)"],
    ["javascript", "for (;;);"],
  ])("ends with 124 when its time is over, and says what to do: %s, %j", (language, code) => {
    const args = ["exec", "--language", language, "-c", code, "--fuel", "1000T", "--timeout", "400ms"];
    const { status, stderr } = bursar(args);
    expect(status).toBe(124);
    expect(stderr).toContain("Execution ran longer than its time limit of 0.4 s");
    const json = bursar([...args, "--json"]);
    expect(json.status).toBe(124);
    expect(JSON.parse(json.stdout)).toMatchObject({
      success: false,
      exit_code: 124,
      metadata: { trap_reason: "timeout", error_guidance: { error_type: "Timeout" } },
    });
  });

  test("ends with 130 when it is interrupted, as its help says", async () => {
    const args = ["exec", "-c", "print('out')\nwhile True: pass", "--fuel", "1000T", "--timeout", "1h", "--quiet"];
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "ignore"] });
    await firstLine(child.stdout);
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
    expect(bursar(["exec", "--help"]).stdout).toContain("130  it was interrupted");
  });

  test.each([
    [["--fuel", "99999999999B"], 2, "fuelBudget is 99999999999000000000; allowed: "],
    [["--timeout", "30d"], 2, "timeout is 2592000000; allowed: "],
    [["--package", "numpy-of-nobody"], 1, "to add it: bursar packages add"],
  ])("says in one line what the sandbox does not take: %j", (flags, code, message) => {
    const told = bursar(["exec", "-c", "print(1)", ...flags]);
    expect(told).toMatchObject({ status: code, stdout: "", stderr: expect.stringContaining(message) });
    expect(told.stderr).not.toContain("    at ");
    const { status, stdout } = bursar(["exec", "-c", "print(1)", "--json", ...flags]);
    expect(status).toBe(code);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { message: expect.stringContaining(message) } });
  });

  test("names a script that is not there", () => {
    const { status, stderr } = bursar(["exec", join(folder, "none.py")]);
    expect(status).toBe(1);
    expect(stderr).toContain("cannot be read (ENOENT); check its name");
  });
});

async function firstLine(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const piece of stream) {
    text += piece.toString();
    if (text.includes("\n")) break;
  }
  return text;
}
