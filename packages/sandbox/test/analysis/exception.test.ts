import { expect, test } from "vitest";
import { exceptionsIn } from "../../src/analysis/exception.js";

const python = (...lines: readonly string[]) => exceptionsIn(lines.join("\n"), "python");
const names = (...lines: readonly string[]) => python(...lines).map(({ name }) => name);

test("the last exception counts: those before were handled", () => {
  expect(python("FileNotFoundError: '/etc/passwd'", "trying something else", "ValueError: 7")).toEqual([
    { name: "ValueError", message: "7" },
  ]);
});

test("those that led to it count too, the last one first", () => {
  expect(
    names(
      "Traceback (most recent call last):",
      "    open('/etc/passwd')",
      "FileNotFoundError: '/etc/passwd'",
      "",
      "During handling of the above exception, another exception occurred:",
      "",
      "Traceback (most recent call last):",
      "    raise Trouble",
      "app.Trouble: cannot start",
      "",
      "The above exception was the direct cause of the following exception:",
      "",
      "Traceback (most recent call last):",
      "    main()",
      "RuntimeError",
    ),
  ).toEqual(["RuntimeError", "app.Trouble", "FileNotFoundError"]);
});

test("an exception in a destructor ends nothing", () => {
  expect(
    names(
      "    x()",
      "OSError: [Errno 58] Not supported",
      "Exception ignored in: <function __del__>",
      "Traceback (most recent call last):",
      "    y()",
      "AttributeError: no attribute",
      "sys:1: RuntimeWarning: coroutine 'm' was never awaited",
    ),
  ).toEqual(["OSError"]);
});

test("behind a traceback any name is an exception, elsewhere only what is called like one", () => {
  expect(names("    re.match('(', '')", "re.error: missing )")).toEqual(["re.error"]);
  expect(names("INFO: done", "Note: nothing", "7Error: no", "an Error: no", "Errors", "Error.")).toEqual([]);
});

test("in JavaScript frames follow, and what stands behind them is no exception", () => {
  expect(exceptionsIn("TypeError: a\n    at f (main.js:1:2)\nbye: 1\n", "javascript")).toEqual([
    { name: "TypeError", message: "a" },
  ]);
});

test("only the tail of a long text is read, from its first whole line on", () => {
  const noise = "x".repeat(1_000_000);

  expect(names(noise, "ValueError: 7")).toEqual(["ValueError"]);
  expect(names("ValueError: 7", noise)).toEqual([]);
  expect(names(`${noise}ValueError: 7`, "bye")).toEqual([]);
  expect(python(`ValueError: ${noise.slice(0, 10_000)}`)[0]?.message).toHaveLength(1_999);
});

test("a chain without an end is cut", () => {
  const link = "ValueError: 7\nDuring handling of the above exception, another exception occurred:\n";

  expect(names(link.repeat(500), "TypeError")).toHaveLength(16);
});
