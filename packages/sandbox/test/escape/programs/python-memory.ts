import { deflateSync } from "node:zlib";
import type { HostileProgram } from "../hostile-program.js";

const language = "python";
const SMALL = { memoryLimit: 48 * 1024 * 1024 };
const FULL = ["badly", "memory_limit"] as const;

/** Everything that grows: memory, numbers, texts, and what is printed. */
export const pythonMemory: readonly HostileProgram[] = [
  {
    name: "a list that doubles",
    language,
    options: SMALL,
    code: "rows = [0]\nwhile True: rows += rows",
    ends: FULL,
  },
  {
    name: "a list that doubles, and holds on to it all",
    language,
    options: { ...SMALL, fuelBudget: 300_000_000 },
    code: `
held = []
while True:
    try: held.append(bytearray(1_000_000))
    except MemoryError: pass`,
    ends: ["out_of_fuel", "memory_limit"],
  },
  {
    name: "a text of a trillion characters",
    language,
    options: SMALL,
    code: `
for make in (lambda: "x" * 10**12, lambda: b"x" * (2**31 - 1), lambda: bytearray(2**31), lambda: [0] * 2**40, lambda: "x".zfill(2**31 - 1),
             lambda: "{:>2147483000}".format("x"), lambda: "%2147483000d" % 1, lambda: bytes(2**30), lambda: list(range(10**9))):
    try: print(len(make()))
    except (MemoryError, OverflowError, ValueError) as error: print("refused")`,
    ends: "well",
    says: "refused\n".repeat(9),
  },
  {
    name: "numbers without measure",
    language,
    options: { ...SMALL, fuelBudget: 200_000_000 },
    code: "number = 3\nwhile True: number = number * number",
    ends: ["out_of_fuel", ...FULL],
  },
  {
    name: "a power that is computed when it is compiled, and one that is shifted",
    language,
    options: { ...SMALL, fuelBudget: 200_000_000 },
    code: `
for make in (lambda: 1 << (1 << 40), lambda: int("9" * 5000), lambda: str(10 ** 5000), lambda: 10 ** 10 ** 10):
    try: print(make())
    except (MemoryError, OverflowError, ValueError) as error: print("refused")`,
    ends: ["out_of_fuel", ...FULL],
  },
  {
    name: "a bytearray that grows by steps",
    language,
    options: SMALL,
    code: "grown = bytearray()\nwhile True: grown.extend(bytes(500_000))",
    ends: FULL,
  },
  {
    name: "a small archive of a large nothing",
    language,
    options: { ...SMALL, files: { bomb: deflateSync(Buffer.alloc(64 * 1024 * 1024)) } },
    code: `
import zlib
with open("/app/bomb", "rb") as file: bomb = file.read()
print(len(bomb) < 100_000)
try: print(len(zlib.decompress(bomb)))
except MemoryError: print("refused")`,
    ends: ["well", "memory_limit"],
    says: "True\nrefused\n",
  },
  {
    name: "entities that hold entities",
    language,
    options: { ...SMALL, fuelBudget: 500_000_000 },
    code: `
import xml.parsers.expat
lines = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
document = f'<!DOCTYPE x [<!ENTITY e0 "ha">{lines}]><x>&e11;</x>'
xml.parsers.expat.ParserCreate().Parse(document, True)`,
    ends: ["badly", "out_of_fuel", "memory_limit"],
  },
  {
    name: "globals that fill the memory up to its end",
    language,
    options: { ...SMALL, autoPersistGlobals: true },
    code: `
held = []
try:
    while True: held.append(bytearray(100_000))
except MemoryError: pass
try:
    while True: held.append(bytearray(100))
except MemoryError: held = None`,
    ends: ["well", "badly", "memory_limit"],
  },
  {
    name: "standard output without an end",
    language,
    options: { fuelBudget: 300_000_000, limits: { stdout_bytes: 20_000 } },
    code: 'while True: print("x" * 1000)',
    ends: "out_of_fuel",
    truncated: ["stdout"],
  },
  {
    name: "standard error without an end",
    language,
    options: { fuelBudget: 300_000_000, limits: { stderr_bytes: 20_000 } },
    code: 'import sys\nwhile True: print("x" * 1000, file=sys.stderr)',
    ends: "out_of_fuel",
    truncated: ["stderr"],
  },
  {
    name: "both outputs at once, past Python's own buffers",
    language,
    options: { limits: { stdout_bytes: 1000, stderr_bytes: 1000 } },
    code: 'import os\nfor _ in range(50): os.write(1, b"\\xff" * 99_999); os.write(2, b"\\0" * 99_999)',
    ends: "well",
    truncated: ["stdout", "stderr"],
  },
  {
    name: "one line of a hundred million characters",
    language,
    options: { ...SMALL, fuelBudget: 500_000_000 },
    code: 'import sys\nfor _ in range(100): sys.stdout.write("x" * 1_000_000)',
    ends: ["well", "out_of_fuel", ...FULL],
    truncated: ["stdout"],
  },
  {
    name: "an error with a message of many megabytes",
    language,
    options: { limits: { stderr_bytes: 10_000 } },
    code: 'raise ValueError("x" * 5_000_000)',
    ends: "badly",
    truncated: ["stderr"],
  },
  {
    name: "a program that is larger than what it may print",
    language,
    options: { limits: { stderr_bytes: 1000 } },
    code: `${"x = 1\n".repeat(2000)}${"y = (".repeat(50)}`,
    ends: "badly",
  },
];
