import { type HostileProgram, LITTLE_FUEL } from "../hostile-program.js";

const language = "python";

/** Tampering with the interpreter itself. A program owns it, and breaks nobody's but its own; the next one gets a whole one. */
export const pythonTampering: readonly HostileProgram[] = [
  {
    name: "takes the builtins away",
    language,
    code: "import builtins\nfor name in list(vars(builtins)):\n    if name not in ('list', 'vars', 'delattr', 'builtins'): delattr(builtins, name)",
    ends: ["badly", "trap"],
  },
  {
    name: "replaces what the boot code could need",
    language,
    code: `
import builtins, io, json, linecache, os, sys, time, traceback, types
def wrong(*args, **more): raise SystemExit(77)
for module in (os, json, io, linecache, time, traceback, types):
    for name in dir(module):
        try: setattr(module, name, wrong)
        except BaseException: pass
json.encoder.JSONEncoder.encode = json.decoder.JSONDecoder.decode = wrong
builtins.isinstance = builtins.compile = builtins.exec = builtins.eval = builtins.print = builtins.open = builtins.int = wrong`,
    ends: ["well", "badly", "trap"],
  },
  {
    name: "empties the table of modules",
    language,
    code: "import sys\nsys.modules.clear()\nsys.path[:] = []\nsys.meta_path[:] = []\nsys.path_hooks[:] = []\nimport os",
    ends: ["badly", "trap"],
  },
  {
    name: "removes the standard streams",
    language,
    code: "import sys\nsys.stdout.close(); sys.stderr.close(); sys.stdin.close()\nsys.stdout = sys.stderr = sys.stdin = sys.__stdout__ = sys.__stderr__ = None\nraise ValueError",
    ends: ["well", "badly", "trap"],
  },
  {
    name: "looks down the stack for the host's own frames",
    language,
    code: `
import sys
frame, found = sys._getframe(), []
while frame is not None:
    found.append(frame.f_code.co_name)
    print([repr(value)[:2000] for space in (frame.f_locals, frame.f_globals) for value in list(space.values())])
    frame.f_trace = print
    try: frame.clear()
    except RuntimeError: pass
    frame = frame.f_back
print(len(found) > 0)`,
    ends: "well",
  },
  {
    name: "takes the boot code's closures apart",
    language,
    code: `
import gc, types
for thing in gc.get_objects() + [f for f in gc.get_referrers(print)]:
    if isinstance(thing, types.FunctionType) and "boot" in thing.__code__.co_filename:
        for cell in thing.__closure__ or ():
            try: cell.cell_contents = None
            except ValueError: pass
import sys
for cell in sys.modules["_serve"].__closure__: cell.cell_contents = None`,
    ends: ["badly", "trap"],
  },
  {
    name: "gives the boot code other code",
    language,
    code: `
import sys
def other():
    while True: pass
def make():
    names = [None] * len(serve.__closure__)
    source = "def outer():\\n" + "".join(f"  {n} = 0\\n" for n in serve.__code__.co_freevars)
    source += "  def inner():\\n" + "    " + ",".join(serve.__code__.co_freevars) + "\\n    while True: pass\\n  return inner"
    space = {}
    exec(source, space)
    return space["outer"]()
serve = sys.modules["_serve"]
serve.__code__ = make().__code__
print("replaced")`,
    options: { fuelBudget: LITTLE_FUEL },
    ends: "well",
    says: "replaced\n",
  },
  {
    name: "traces and profiles everything",
    language,
    code: "import sys\ndef trace(*args): raise KeyboardInterrupt\nsys.setprofile(trace)\nsys.settrace(trace)\n(lambda: 1)()",
    ends: ["badly", "trap"],
  },
  {
    name: "an error that lies about itself",
    language,
    code: `
class Liar(BaseException):
    __class__ = property(lambda self: SystemExit)
    code = property(lambda self: {}["x"])
    __traceback__ = property(lambda self: 5)
    def __str__(self): raise Liar()
    def __repr__(self): raise Liar()
    def __getattribute__(self, name): raise Liar
raise Liar()`,
    ends: ["badly", "trap"],
  },
  {
    name: "ends like an interruption",
    language,
    code: "import sys\nsys.excepthook = sys.unraisablehook = None\nsys.tracebacklimit = 'x'\nraise KeyboardInterrupt",
    ends: ["badly", "trap"],
  },
  {
    name: "code of random bytes",
    language,
    options: { fuelBudget: 300_000_000 },
    code: `
import random, types
random.seed(5)
def base(a=1, *b, **c):
    for x in [a, b, c]: yield x
for at in range(300):
    code = bytes(random.randrange(256) for _ in range(200))
    try: eval(base.__code__.replace(co_code=code, co_flags=64, co_stacksize=1))
    except BaseException: pass`,
    ends: ["well", "badly", "trap", "unreachable", "stack_overflow", "memory_limit", "out_of_fuel"],
  },
  {
    name: "code that reads constants far beyond its own",
    language,
    options: { fuelBudget: 300_000_000 },
    code: `
import opcode
load, extended, back = (opcode.opmap[name] for name in ("LOAD_CONST", "EXTENDED_ARG", "RETURN_VALUE"))
def read(index):
    code = bytes([opcode.opmap["RESUME"], 0, extended, index >> 24 & 255, extended, index >> 16 & 255, extended, index >> 8 & 255, load, index & 255, back, 0])
    return eval((lambda: 0).__code__.replace(co_code=code))
for index in (100, 5000, 1 << 20, (1 << 31) - 1):
    try: print(type(read(index)))
    except BaseException as error: pass`,
    ends: ["well", "badly", "trap", "unreachable", "stack_overflow", "out_of_fuel"],
  },
  {
    name: "a stack that is smaller than its code says",
    language,
    code: `
code = compile("f(" + ",".join("a" * 1 for _ in range(200)) + ")", "x", "eval")
try: eval(code.replace(co_stacksize=1), {"a": 1, "f": print})
except BaseException as error: pass
eval(code.replace(co_stacksize=2**30), {"a": 1, "f": print})`,
    ends: ["well", "badly", "trap", "unreachable", "memory_limit"],
  },
  {
    name: "an import hook that never finds",
    language,
    options: { fuelBudget: LITTLE_FUEL },
    code: `
import sys
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None): return __import__(name + "x")
sys.meta_path.insert(0, Finder)
import nothing`,
    ends: ["badly", "out_of_fuel", "trap", "stack_overflow"],
  },
  {
    name: "modules that import each other without an end",
    language,
    options: { fuelBudget: 300_000_000 },
    code: `
for at in range(100):
    with open(f"/app/m{at}.py", "w") as file:
        file.write(f"import sys\\nsys.modules.pop('m{(at + 1) % 100}', None)\\nimport m{(at + 1) % 100}\\n")
import m0`,
    ends: ["badly", "out_of_fuel", "trap", "stack_overflow"],
  },
  {
    name: "a pickle that calls",
    language,
    code: `
import pickle
for stream in (b"cos\\nsystem\\n(S'touch @outside@/escaped'\\ntR.", b"cbuiltins\\nopen\\n(S'/etc/passwd'\\ntR.", b"cposix\\n_exit\\n(I3\\ntR."):
    try: pickle.loads(stream)
    except (AttributeError, OSError, ImportError) as error: print(type(error).__name__)`,
    ends: "badly",
  },
  {
    name: "programs made of programs",
    language,
    options: { fuelBudget: LITTLE_FUEL },
    code: "source = 'exec(source)'\nexec(source)",
    ends: ["badly", "out_of_fuel", "trap", "stack_overflow"],
  },
  {
    name: "changes what numbers and texts are",
    language,
    code: `
import gc
for kind in (int, str, dict, list, type):
    for slots in gc.get_referents(kind.__dict__):
        if isinstance(slots, dict):
            try: slots["__add__"] = slots["__len__"] = slots["__getitem__"] = None
            except BaseException: pass
print(gc.collect() >= 0)`,
    ends: ["well", "badly", "trap", "unreachable"],
  },
  {
    name: "collects while it is collected",
    language,
    options: { fuelBudget: 300_000_000 },
    code: `
import gc
gc.set_threshold(1)
class Loop:
    def __init__(self): self.me = self
    def __del__(self): Loop(); gc.collect()
gc.callbacks.append(lambda *args: Loop())
gc.set_debug(gc.DEBUG_SAVEALL)
gc.unfreeze()
while True: Loop()`,
    ends: ["badly", "out_of_fuel", "trap", "stack_overflow", "memory_limit"],
  },
  {
    name: "limits that make no sense",
    language,
    code: `
import sys
for number in (-1, 0, 1, 5, 2**31 - 1, 2**31, 2**100):
    try: sys.setrecursionlimit(number)
    except (ValueError, OverflowError, RecursionError): pass
sys.setswitchinterval(1e-9)
sys.set_int_max_str_digits(0)
print(len(str(10**10_000)))`,
    ends: ["well", "badly", "trap"],
  },
];
