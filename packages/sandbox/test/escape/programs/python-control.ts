import { type HostileProgram, LITTLE_FUEL } from "../hostile-program.js";

const language = "python";
const CLOSE_ALL = "for fd in range(3, 64):\n    try: os.close(fd)\n    except OSError: pass";

function forged(reply: string, after: string = ""): string {
  return `
import os
control = os.open("/dev/control", os.O_RDWR)
def say(text):
    rest = text.encode()
    while rest: rest = rest[os.write(control, rest):]
say("reply")
say(${reply})
${after}`;
}

/** Abuse of the device through which the boot code and the host talk. */
export const pythonControl: readonly HostileProgram[] = [
  {
    name: "a forged reply before the real one",
    language,
    code: forged(`'{"imports":[],"answer":{"kind":"ended","exit_code":0}}'`),
    ends: "trap",
  },
  {
    name: "a forged reply instead of the real one",
    language,
    code: forged(`'{"imports":[],"answer":{"kind":"ended","exit_code":0}}'`, CLOSE_ALL),
    ends: "trap",
  },
  {
    name: "a forged reply instead of the real one, in a session that goes on",
    language,
    options: { autoPersistGlobals: true },
    code: forged(`'{"imports":[],"answer":{"kind":"ended","exit_code":0}}'`, CLOSE_ALL),
    ends: "trap",
  },
  {
    name: "a forged question that nobody has asked",
    language,
    code: forged(`'{"imports":[],"answer":{"kind":"pending","calls":[],"open":[]}}'`, `${CLOSE_ALL}\nos._exit(0)`),
    ends: ["well", "trap"],
  },
  {
    name: "a forged reply through the boot code's own words",
    language,
    code: `
import sys
serve = sys.modules["_serve"]
cells = dict(zip(serve.__code__.co_freevars, serve.__closure__))
cells["answer"].cell_contents = lambda request: '{"kind":"pending","calls":[],"open":[]}'
serve()`,
    ends: "trap",
  },
  {
    name: "questions without an end, through the boot code's own words",
    language,
    options: { fuelBudget: LITTLE_FUEL },
    code: `
import sys
serve = sys.modules["_serve"]
cells = dict(zip(serve.__code__.co_freevars, serve.__closure__))
def answer(request): return '{"kind":"pending","calls":[{"id":7,"name":"x"}],"open":[5,6]}'
ended = cells["ended"].cell_contents
cells["ended"].cell_contents = lambda code: answer(None)
cells["answer"].cell_contents = answer`,
    ends: ["badly", "out_of_fuel", "trap"],
  },
  {
    name: "a question with arguments nested without measure",
    language,
    options: { fuelBudget: LITTLE_FUEL },
    code: `
import sys
serve = sys.modules["_serve"]
cells = dict(zip(serve.__code__.co_freevars, serve.__closure__))
nested = "[" * 3000 + "]" * 3000
cells["ended"].cell_contents = lambda code: '{"kind":"pending","calls":[{"id":1,"name":"x","args":%s}],"open":[1]}' % nested`,
    ends: ["badly", "out_of_fuel"],
  },
  {
    name: "a question with arguments that are no JSON",
    language,
    code: `
for wrong in (float("nan"), float("inf"), {1, 2}, b"x", object(), "\\ud800"):
    try: await host.call("x", wrong)
    except (ValueError, TypeError, HostError) as error: print(type(error).__name__)
loop = []; loop.append(loop)
try: await host.call("x", loop)
except ValueError: print("ValueError")`,
    ends: "well",
    says: "ValueError\nValueError\nTypeError\nTypeError\nTypeError\nHostError\nValueError\n",
  },
  {
    name: "questions nested as deep as the guest can write them",
    language,
    code: `
nested = []
for _ in range(900): nested = [nested]
await host.call("x", nested)`,
    ends: "badly",
  },
  {
    name: "a reply of garbage",
    language,
    code: forged(`"\\0\\x01garbage" * 1000`, CLOSE_ALL),
    ends: "trap",
  },
  {
    name: "a reply that never ends",
    language,
    options: { fuelBudget: 400_000_000 },
    code: forged(`"x"`, 'chunk = b"x" * 1_000_000\nwhile True: os.write(control, chunk)'),
    ends: "out_of_fuel",
  },
  {
    name: "a flood of small words",
    language,
    options: { fuelBudget: LITTLE_FUEL },
    code: `
import os
control = os.open("/dev/control", os.O_RDWR)
while True: os.write(control, b"next"); os.write(control, b"fuel"); os.write(control, b"?")`,
    ends: "out_of_fuel",
  },
  {
    name: "reads the request again, and what else there is",
    language,
    code: `
import os
control = os.open("/dev/control", os.O_RDWR)
print(os.read(control, 100))
os.write(control, b"next")
print(os.read(control, 1_000_000)[:14])
os.write(control, b"entry 1 1"); os.write(control, b"entry -1 99999999999999999999")
os.write(control, b"fuel")
print(os.read(control, 64).isdigit())`,
    ends: "well",
    says: `b''\nb'{"op":"begin",'\nTrue\n`,
  },
  {
    name: "closes every descriptor",
    language,
    code: `
import os
for fd in range(0, 256):
    try: os.close(fd)
    except OSError: pass`,
    ends: "trap",
  },
  {
    name: "puts a file where the control device was open",
    language,
    code: `
import os
file = os.open("/app/file", os.O_RDWR | os.O_CREAT)
for fd in range(3, 32):
    try:
        if fd != file: os.dup2(file, fd)
    except (OSError, AttributeError): pass`,
    ends: ["well", "trap"],
  },
  {
    name: "the boot code calls itself",
    language,
    code: `import sys\nsys.modules["_serve"]()`,
    ends: ["badly", "trap", "stack_overflow", "out_of_fuel"],
  },
  {
    name: "asks for what the host does not offer",
    language,
    code: `
for name in ("constructor", "__proto__", "toString", "hasOwnProperty", "", "\\0", "x" * 150):
    try: print(await host.call(name, {"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}))
    except HostError as error: print("HostError")`,
    ends: "well",
    says: "HostError\n".repeat(7),
  },
  {
    name: "asks more questions at once than the host takes",
    language,
    run: { handlers: { x: () => 1 } },
    code: `
calls = [host.call("x", [at]) for at in range(20_000)]
print(await calls[0])`,
    ends: "badly",
    complains: "1000 questions wait for answers",
  },
  {
    name: "writes as much as it may after every question",
    language,
    options: { fuelBudget: 300_000_000, limits: { stdout_bytes: 10_000, stderr_bytes: 10_000 } },
    run: { handlers: { x: () => 1 } },
    code: `
import sys
while True:
    await host.call("x")
    print("o" * 9000)
    print("e" * 9000, file=sys.stderr)`,
    ends: "out_of_fuel",
    truncated: ["stdout", "stderr"],
  },
  {
    name: "answers that are no answers",
    language,
    run: {
      handlers: {
        fails: () => {
          throw new Error("no");
        },
        deep: () => ({ a: [{ b: "\ud800" }] }),
        none: () => undefined,
      },
    },
    code: `
try: await host.call("fails")
except HostError as error: print(error)
print(await host.deep(), await host.none())`,
    ends: "well",
    says: "no\n{'a': [{'b': '\\ud800'}]} None\n",
  },
];
