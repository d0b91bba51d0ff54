import { type HostileProgram, LITTLE_FUEL, SHORT } from "../hostile-program.js";

const language = "python";
const options = { fuelBudget: LITTLE_FUEL };

/** What never ends: by itself, or because it refuses to. */
export const pythonLoops: readonly HostileProgram[] = [
  { name: "a loop", language, options, code: "while True: pass", ends: "out_of_fuel" },
  {
    name: "a loop that catches everything",
    language,
    options,
    code: "while True:\n    try:\n        while True: pass\n    except BaseException: continue",
    ends: "out_of_fuel",
  },
  {
    name: "a loop that goes on in the end",
    language,
    options,
    code: "try:\n    while True: pass\nfinally:\n    while True: pass",
    ends: "out_of_fuel",
  },
  {
    name: "generators that feed each other",
    language,
    options,
    code: "def feed(source):\n    while True: yield from source()\ndef more():\n    yield 1\nsum(feed(more))",
    ends: "out_of_fuel",
  },
  {
    name: "a loop in C over a range",
    language,
    options,
    code: "sum(range(10**15))",
    ends: "out_of_fuel",
  },
  {
    name: "a search in C that finds nothing",
    language,
    options,
    code: "import itertools, collections\ncollections.deque(itertools.repeat(None), maxlen=0)",
    ends: "out_of_fuel",
  },
  {
    name: "a power that takes for ever",
    language,
    options,
    code: "pow(3, 10**8, 10**5000 + 1); pow(7, 10**30000, 10**30000 + 1)",
    ends: "out_of_fuel",
  },
  {
    name: "a regular expression that tries everything",
    language,
    options,
    code: 'import re\nre.match(r"(a+)+$", "a" * 40 + "b")',
    ends: "out_of_fuel",
  },
  {
    name: "a regular expression with counts in counts",
    language,
    options,
    code: 'import re\nre.match("(?:" * 20 + "a{0,60000}" + "){0,60000}" * 20 + "b", "a" * 50_000)',
    ends: ["badly", "out_of_fuel", "stack_overflow"],
  },
  {
    name: "keys that all have the same hash",
    language,
    options,
    code: "class Key:\n    def __hash__(self): return 1\n{Key() for _ in range(10**6)}",
    ends: "out_of_fuel",
  },
  {
    name: "an order that changes while it is sorted",
    language,
    options,
    code: `
class Odd:
    def __lt__(self, other):
        rows.append(Odd()); return True
rows = [Odd() for _ in range(1000)]
while True:
    try: rows.sort()
    except ValueError: pass`,
    ends: "out_of_fuel",
  },
  {
    name: "a loop when an object goes",
    language,
    options,
    code: "class Last:\n    def __del__(self):\n        while True: pass\nlast = Last()\ndel last",
    ends: "out_of_fuel",
  },
  {
    name: "objects that come back when they go",
    language,
    options,
    code: `
class Phoenix:
    def __del__(self): held.append(Phoenix())
held = [Phoenix()]
while True: held.pop()`,
    ends: "out_of_fuel",
  },
  {
    name: "an output that never stops flushing",
    language,
    options,
    code: "import sys\nclass Stuck:\n    def write(self, text): pass\n    def flush(self):\n        while True: pass\nsys.stdout = Stuck()",
    ends: "out_of_fuel",
  },
  {
    name: "an error that never stops telling its name",
    language,
    options,
    code: "class Endless(Exception):\n    def __str__(self):\n        while True: pass\nraise Endless()",
    ends: "out_of_fuel",
  },
  {
    name: "an exit that never says its code",
    language,
    options,
    code: "class Leave(SystemExit):\n    @property\n    def code(self):\n        while True: pass\nraise Leave()",
    ends: "out_of_fuel",
  },
  {
    name: "work for the end of the interpreter",
    language,
    options,
    code: "import atexit\ndef work():\n    while True: pass\natexit.register(work)\nprint('registered')",
    ends: "well",
    says: "registered\n",
  },
  {
    name: "sleeps for ever",
    language,
    run: { timeout: SHORT },
    code: "import time\ntime.sleep(10**8)",
    ends: "timeout",
  },
  {
    name: "sleeps again whenever it is woken",
    language,
    run: { timeout: SHORT },
    code: "import time\nwhile True:\n    try: time.sleep(0.001)\n    except BaseException: pass",
    ends: "timeout",
  },
  {
    name: "sleeps longer than numbers go",
    language,
    run: { timeout: SHORT },
    code: `
import time
for how in (-1, float("nan"), float("inf"), 1e300, 2**63):
    try: time.sleep(how)
    except (ValueError, OverflowError, OSError): print("refused")
time.sleep(9_000_000_000)`,
    ends: ["badly", "timeout"],
  },
  {
    name: "waits for something that never comes, with asyncio",
    language,
    code: "import asyncio\nasync def main(): await asyncio.get_running_loop().create_future()\nasyncio.run(main())",
    ends: "badly",
  },
  {
    name: "asyncio without a pause",
    language,
    options,
    code: "import asyncio\nasync def main():\n    while True: await asyncio.sleep(0)\nasyncio.run(main())",
    ends: "out_of_fuel",
  },
  {
    name: "waits for somebody to type",
    language,
    code: "try: input('name? ')\nexcept EOFError: print('nobody')\nimport sys\nprint(repr(sys.stdin.read()), repr(open(0).read()))",
    ends: "well",
    says: "name? nobody\n'' ''\n",
  },
  {
    name: "stops in the debugger",
    language,
    code: "breakpoint()",
    ends: "badly",
  },
  {
    name: "burns its time and never its fuel",
    language,
    options: { fuelBudget: Number.MAX_SAFE_INTEGER },
    run: { timeout: SHORT },
    code: "while True: pass",
    ends: "timeout",
  },
];
