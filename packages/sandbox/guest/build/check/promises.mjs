import { readFileSync } from "node:fs";
import { BuildFailure, EXIT_CODES } from "../failure.mjs";
import { ABSENT_MODULES, EXPORTS, HOME, PROMISED_MODULES } from "../settings.mjs";
import { runGuest } from "./run-guest.mjs";
import { createFolder } from "./tree.mjs";
import { withStdlib } from "./with-stdlib.mjs";

const PROMISES = readFileSync(new URL("promises.py", import.meta.url));
const REENTRY = readFileSync(new URL("reentry.py", import.meta.url));
const PROMISED = "1 modules compression database hashes accelerated recursion overflow tracing";
const BOOTED_EXIT_CODE = 77;

/** Runs the finished guest and gives what is true of it; a promise it does not keep is a failure. */
export function tryGuest(wasm, stdlib) {
  const module = new WebAssembly.Module(wasm);
  const exported = WebAssembly.Module.exports(module).map(({ name }) => name);
  expect([...exported].sort(), [...EXPORTS].sort(), "what the module exports");
  const spaces = new Set(WebAssembly.Module.imports(module).map((each) => each.module));
  expect([...spaces], ["wasi_snapshot_preview1"], "what the module imports from");
  expect(WebAssembly.Module.customSections(module, "name").length, 0, "the number of name sections");
  expect(globalCount(wasm), 1, "the number of globals, of which the stack pointer is the only one,");

  const promises = runGuest(module, {
    args: ["python", "-I", "/check.py", PROMISED_MODULES.join(",")],
    root: withStdlib(stdlib, PROMISES),
  });
  expect(promises.stderr, "", "stderr");
  expect(promises.stdout.trim().split("\n"), PROMISED.split(" "), "the promises kept");
  expect(promises.exitCode, 0, "the exit code");
  checkReentry(module, stdlib);
  checkDevelopment(module, stdlib);

  const program = "import sys; print(*sys.builtin_module_names); print(sys.version.split()[0]); print(sys.prefix)";
  const about = runGuest(module, { args: ["python", "-I", "-c", program], root: withStdlib(stdlib, PROMISES) });
  const [builtins = "", version = "", prefix = ""] = about.stdout.split("\n");
  expect(prefix, HOME, "sys.prefix");
  const present = ABSENT_MODULES.filter((name) => builtins.split(" ").includes(name));
  expect(present, [], "modules that should be absent");
  return {
    version,
    builtins: builtins.split(" ").sort(),
    initialMemoryBytes: initialMemoryBytes(module),
    stackPointer: 0,
  };
}

/** A booted interpreter can be called again and again, also after a run that raised, and shows no frames of its past. */
function checkReentry(module, stdlib) {
  const guest = runGuest(module, { args: ["python", "-I", "/check.py"], root: withStdlib(stdlib, REENTRY) });
  expect(guest.exitCode, BOOTED_EXIT_CODE, "the exit code of the boot code");
  expect(guest.stdout, "register() wants a callable, not int\n", "what the boot code says");
  const results = [1, 2, 3, 4].map(() => guest.instance.exports.bursar_run());
  expect(results, [0, 0, -1, 0], "what bursar_run gives");
  expect(guest.said("stdout"), "run 1 1\nrun 2 1\nrun 4 1\n", "what the runs say");
  expect(/ValueError: on purpose/.test(guest.said("stderr")), true, "that an exception is reported");
}

/** With hooks around everything that asks for memory, from the start: they find what was overwritten, and give up then. */
function checkDevelopment(module, stdlib) {
  const program =
    "import json, sys; print(sys.flags.dev_mode, json.loads(json.dumps([{'a': 'b' * 1000}] * 500))[499]['a'][:3])";
  const args = ["python", "-I", "-X", "dev", "-c", program];
  const { exitCode, stdout, stderr } = runGuest(module, { args, root: withStdlib(stdlib, PROMISES) });
  expect([exitCode, stdout, stderr], [0, "True bbb\n", ""], "what it does with debug hooks");
}

/** What a snapshot has to keep besides the memory. */
function globalCount(wasm) {
  const GLOBALS = 6;
  let position = 8;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = wasm[position++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (position < wasm.length) {
    const section = wasm[position++];
    const size = number();
    if (section === GLOBALS) return number();
    position += size;
  }
  return 0;
}

function initialMemoryBytes(module) {
  const root = createFolder();
  const { instance } = runGuest(module, { args: ["python", "--version"], root });
  return instance.exports.memory.buffer.byteLength;
}

function expect(actual, expected, what) {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  throw new BuildFailure(
    `the guest was built, but ${what} should be ${JSON.stringify(expected)} and is ${JSON.stringify(actual)}`,
    EXIT_CODES.failed,
  );
}
