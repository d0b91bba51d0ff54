import type { HostileProgram } from "../hostile-program.js";

const language = "python";
/** Either Python notices, or the bound on calls does, or the guest's own stack is full: its memory is given up then. */
const DEEP = ["badly", "stack_overflow", "memory_limit"] as const;
/** For those that catch what Python notices, or whom it does not hurt. */
const DEEP_OR_FINE = ["well", ...DEEP] as const;

function nested(how: string, count = 20_000): string {
  return `
import sys
sys.setrecursionlimit(2**31 - 1)
nested = []
for _ in range(${count}): nested = [nested]
${how}`;
}

/** Calls that call themselves, in Python and in the interpreter's own C. */
export const pythonRecursion: readonly HostileProgram[] = [
  { name: "a function", language, code: "def again(): again()\nagain()", ends: "badly", complains: "RecursionError" },
  {
    name: "a function, with the limit lifted",
    language,
    code: "import sys\nsys.setrecursionlimit(2**31 - 1)\ndef again(n): return again(n + 1) + 1\nagain(0)",
    options: { fuelBudget: 500_000_000 },
    ends: ["out_of_fuel", ...DEEP],
  },
  {
    name: "functions that call each other through C, within Python's own limit",
    language,
    code: "def again(n): return sorted([n], key=again)\nagain(1)",
    ends: ["badly", "stack_overflow"],
  },
  {
    name: "a function that catches its own end",
    language,
    options: { fuelBudget: 300_000_000 },
    code: "def again():\n    try: again()\n    finally: again()\nagain()",
    ends: ["out_of_fuel", ...DEEP],
  },
  {
    name: "attributes that look themselves up, with the limit lifted",
    language,
    code: "import sys\nsys.setrecursionlimit(2**31 - 1)\nclass Deep:\n    def __getattr__(self, name): return getattr(self, name)\nDeep().x",
    ends: DEEP,
  },
  {
    name: "comparisons, calls and texts that call themselves through C",
    language,
    code: `
import sys
sys.setrecursionlimit(2**31 - 1)
class Deep:
    def __repr__(self): return repr(self)
    def __eq__(self, other): return self == other
    def __call__(self): return self()
    def __hash__(self): return hash(self)
    def __iter__(self): return iter(self)
for use in (repr, hash, iter, lambda deep: deep(), lambda deep: deep == deep):
    try: use(Deep())
    except RecursionError: print("noticed")`,
    ends: DEEP_OR_FINE,
  },
  { name: "repr of nested lists", language, code: nested("repr(nested)"), ends: DEEP },
  { name: "json of nested lists", language, code: nested("import json\njson.dumps(nested)"), ends: DEEP },
  {
    name: "json of a nested text",
    language,
    code: 'import json, sys\nsys.setrecursionlimit(2**31 - 1)\njson.loads("[" * 200_000)',
    ends: DEEP,
  },
  { name: "pickle of nested lists", language, code: nested("import pickle\npickle.dumps(nested)"), ends: DEEP_OR_FINE },
  {
    name: "deepcopy of nested lists",
    language,
    code: nested("import copy\ncopy.deepcopy(nested)"),
    ends: DEEP_OR_FINE,
  },
  { name: "nested lists that are compared", language, code: nested("nested == [nested]"), ends: DEEP_OR_FINE },
  {
    name: "nested lists that go all at once",
    language,
    code: `${nested("del nested")}\nprint("gone")`,
    ends: "well",
    says: "gone\n",
  },
  {
    name: "nested tuples that are hashed",
    language,
    code: "nested = ()\nfor _ in range(20_000): nested = (nested,)\nhash(nested)",
    ends: DEEP,
  },
  {
    name: "iterators on iterators",
    language,
    code: "row = iter([1])\nfor _ in range(20_000): row = map(abs, row)\nnext(row)",
    ends: DEEP,
  },
  {
    name: "chains of chains",
    language,
    code: "import itertools\nrow = iter([1])\nfor _ in range(20_000): row = itertools.chain(row)\nnext(row)",
    ends: DEEP,
  },
  {
    name: "a source of nested brackets",
    language,
    code: 'compile("(" * 50_000 + ")" * 50_000, "deep", "eval")',
    ends: DEEP,
  },
  {
    name: "sources of nested everything",
    language,
    code: `
for source in ("-" * 90_000 + "1", "x." * 50_000 + "x", "not " * 50_000 + "1", "lambda: " * 20_000 + "1", "[" * 199 + "]" * 199,
               "a" + "[0]" * 50_000, "1" + "+1" * 50_000, "if 1:\\n" + "".join(" " * n + "if 1:\\n" for n in range(1, 101)) + " " * 101 + "0"):
    try: compile(source, "deep", "exec")
    except (RecursionError, MemoryError, SyntaxError) as error: print(type(error).__name__)`,
    ends: DEEP_OR_FINE,
  },
  {
    name: "a tree that is deeper than the compiler expects",
    language,
    code: `
import ast
tree = ast.Constant(1)
for _ in range(20_000): tree = ast.UnaryOp(ast.USub(), tree, lineno=1, col_offset=0)
compile(ast.fix_missing_locations(ast.Expression(ast.Constant(1))), "deep", "eval")
compile(ast.Expression(tree), "deep", "eval")`,
    ends: DEEP,
  },
  {
    name: "nested groups of a regular expression",
    language,
    code: 'import re, sys\nsys.setrecursionlimit(2**31 - 1)\nre.compile("(" * 5000 + ")" * 5000)',
    ends: ["out_of_fuel", ...DEEP_OR_FINE],
  },
  {
    name: "exceptions that cause each other",
    language,
    options: { limits: { stderr_bytes: 10_000 } },
    code: "error = ValueError()\nfor _ in range(1000):\n    last = ValueError()\n    last.__cause__ = error\n    error = last\nraise error",
    ends: ["out_of_fuel", ...DEEP],
    truncated: ["stderr"],
  },
  {
    name: "an instance check through nested tuples",
    language,
    code: "kinds = int\nfor _ in range(20_000): kinds = (kinds,)\nisinstance('', kinds)",
    ends: DEEP,
  },
  {
    name: "unpickles a tower",
    language,
    code: 'import pickle\npickle.loads(b"(" * 100_000 + b"t" * 100_000 + b".")\npickle.loads(b"]" * 100_000 + b"a" * 99_999 + b".")',
    ends: DEEP_OR_FINE,
  },
  {
    name: "signatures, partials and properties that wrap themselves",
    language,
    code: `
import functools, sys
sys.setrecursionlimit(2**31 - 1)
wrapped = print
for _ in range(20_000): wrapped = functools.partial(wrapped); wrapped.x = 1
repr(wrapped)
wrapped()`,
    ends: DEEP_OR_FINE,
  },
];
