import { describe, expect, test } from "vitest";
import { Pty } from "./pty.js";

/** Types lines one by one, and waits after each until what it leads to stands at the end of the screen. */
async function type(pty: Pty, steps: readonly (readonly [line: string, shown: string])[]): Promise<void> {
  for (const [line, shown] of steps) {
    pty.press(`${line}\r`);
    await pty.hears(new RegExp(`${plain(line)}\\r\\r\\n${plain(shown)}$`));
  }
}

/** A pattern that fits this text alone. */
function plain(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

describe("a dialogue of bursar exec", () => {
  test("in Python takes blocks of many lines, shows values, and remembers", async () => {
    const pty = new Pty(["exec"], {});
    await pty.hears(/^python in a sandbox; end with Ctrl-D.*>>> $/s);
    await type(pty, [
      ["1 + 1", "2\r\n>>> "],
      ["def f(n):", "... "],
      ["    n = n * 7", "... "],
      ["    return n", "... "],
      ["", ">>> "],
      ["if f(6) == 42:", "... "],
      ["    print('yes')", "... "],
      ["else:", "... "],
      ["    print('no')", "... "],
      ["", "yes\r\n>>> "],
      ["text = '''a", "... "],
      ["", "... "],
      ["b'''", ">>> "],
      ["text", "'a\\n\\nb'\r\n>>> "],
    ]);
    pty.press("1 / 0\r");
    await pty.hears(/ZeroDivisionError: division by zero\r\n>>> $/);
    pty.press("\x04");
    expect(await pty.ended).toBe(0);
  });

  test("in JavaScript has std and os at hand, and ends as a statement says", async () => {
    const pty = new Pty(["exec", "--language", "javascript"], {});
    await pty.hears(/> $/);
    await type(pty, [
      ["const f = (n) => {", "… "],
      ["", "… "],
      ["return n * 7", "… "],
      ["}", "> "],
      ["f(6)", "42\r\n> "],
      ["os.getcwd()", "[ '/app', 0 ]\r\n> "],
    ]);
    pty.press("std.exit(3)\r");
    expect(await pty.ended).toBe(3);
  });

  test.each([
    ["exit()", 0],
    ["raise SystemExit(4)", 4],
    ["import os; os._exit(5)", 5],
  ])("ends with %s", async (line, code) => {
    const pty = new Pty(["exec"], {});
    await pty.hears(/>>> $/);
    pty.press(`${line}\r`);
    expect(await pty.ended).toBe(code);
  });

  test("goes on after Ctrl-C: what runs is stopped, and what was typed is dropped", async () => {
    const pty = new Pty(["exec", "--fuel", "1000T", "--timeout", "1h"], {});
    await pty.hears(/>>> $/);
    await type(pty, [
      ["kept = 1", ">>> "],
      ["while True: kept = print('going', end='\\n' if kept else '')", "... "],
    ]);
    pty.press("\r");
    await pty.hears(/going\r\n/);
    pty.press("\x03");
    await pty.hears(/\^C: it was stopped, and left nothing behind\r\n>>> $/);
    pty.press("def half(");
    await pty.hears(/def half\($/);
    pty.press("\x03");
    await pty.hears(/def half\(\^C\r\n[^\n]*>>> $/);
    await type(pty, [["kept", "1\r\n>>> "]]);
    pty.press("\x04");
    expect(await pty.ended).toBe(0);
  });

  test("goes on after a statement that ran out of fuel, and says what to do", async () => {
    const pty = new Pty(["exec", "--fuel", "50M"], {});
    await pty.hears(/>>> $/);
    await type(pty, [
      ["kept = 1", ">>> "],
      ["while True: pass", "... "],
    ]);
    pty.press("\r");
    await pty.hears(/Solution 2: Create session with higher fuel budget.*>>> $/s);
    await type(pty, [["kept", "1\r\n>>> "]]);
    pty.press("\x04");
    expect(await pty.ended).toBe(0);
  });
});
