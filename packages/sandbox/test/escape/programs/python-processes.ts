import { ATTEMPT, type HostileProgram } from "../hostile-program.js";

const language = "python";

/** What a system offers beside files: processes, threads, signals, sockets, foreign code. There is none of it in there. */
export const pythonProcesses: readonly HostileProgram[] = [
  {
    name: "forks and executes",
    language,
    code: `${ATTEMPT}
attempt(lambda: os.fork())
attempt(lambda: os.forkpty())
attempt(lambda: os.execv("/bin/sh", ["sh", "-c", "touch @outside@/escaped"]))
attempt(lambda: os.posix_spawn("/bin/sh", ["sh"], {}))
attempt(lambda: os.spawnl(os.P_WAIT, "/bin/sh", "sh"))
attempt(lambda: os.kill(1, 9))
attempt(lambda: os.kill(os.getppid(), 9))
attempt(lambda: os.setuid(0))
attempt(lambda: os.chroot("/"))
attempt(lambda: os.mkfifo("/app/pipe"))`,
    ends: "well",
    says: "refused AttributeError\n".repeat(10),
  },
  {
    name: "asks a shell",
    language,
    code: `${ATTEMPT}
attempt(lambda: os.system("touch @outside@/escaped"))
attempt(lambda: os.popen("id").read())
def run():
    import subprocess
    return subprocess.run(["id"], capture_output=True)
attempt(run)`,
    ends: "well",
    says: "refused AttributeError\nrefused OSError\nrefused OSError\n",
  },
  {
    name: "foreign code",
    language,
    code: `${ATTEMPT}
for name in ("ctypes", "_ctypes", "cffi", "mmap", "fcntl", "resource", "_posixsubprocess", "termios", "_testcapi", "js", "pyodide", "wasmtime"):
    attempt(__import__, name)`,
    ends: "well",
  },
  {
    name: "the network",
    language,
    code: `
def attempt(what):
    try: print("did", what())
    except (OSError, ImportError, AttributeError) as error: print("refused")
import socket
attempt(lambda: socket.socket())
attempt(lambda: socket.create_connection(("127.0.0.1", 80), 1))
attempt(lambda: socket.getaddrinfo("localhost", 80))
attempt(lambda: socket.gethostname())
attempt(lambda: socket.socketpair())
attempt(lambda: socket.socket(fileno=3))
attempt(lambda: __import__("urllib.request").request.urlopen("http://127.0.0.1/"))
attempt(lambda: __import__("urllib.request").request.urlopen("file://@outside@/canary.txt").read())
attempt(lambda: __import__("http.client").client.HTTPConnection("127.0.0.1").connect())
attempt(lambda: __import__("ssl"))`,
    ends: "well",
  },
  {
    name: "threads",
    language,
    code: `
import threading, _thread
for start in (lambda: threading.Thread(target=print).start(), lambda: _thread.start_new_thread(print, ()), lambda: threading.Timer(0, print).start()):
    try: print("did", start())
    except RuntimeError: print("refused")`,
    ends: "well",
    says: "refused\nrefused\nrefused\n",
  },
  {
    name: "a lock that is never released",
    language,
    options: { fuelBudget: 200_000_000 },
    run: { timeout: 500 },
    code: "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
    ends: ["well", "badly", "timeout", "out_of_fuel", "trap", "unreachable"],
  },
  {
    name: "other processes, and pools of them",
    language,
    code: `
def attempt(what):
    try: print("did", what())
    except (OSError, ImportError, AttributeError, RuntimeError) as error: print("refused")
attempt(lambda: __import__("multiprocessing").Process(target=print).start())
attempt(lambda: __import__("multiprocessing.pool").pool.ThreadPool(2))
attempt(lambda: list(__import__("concurrent.futures").futures.ThreadPoolExecutor(2).map(print, [1])))
attempt(lambda: list(__import__("concurrent.futures").futures.ProcessPoolExecutor(2).map(print, [1])))`,
    ends: ["well", "badly"],
  },
  {
    name: "signals and alarms",
    language,
    code: `${ATTEMPT}
import signal
attempt(lambda: signal.alarm(1))
attempt(lambda: signal.setitimer(signal.ITIMER_REAL, 0.001))
attempt(lambda: signal.pause())
attempt(lambda: signal.signal(signal.SIGINT, lambda *_: print("caught")))
attempt(lambda: signal.raise_signal(signal.SIGTERM))`,
    ends: ["well", "badly", "trap", "unreachable"],
  },
  {
    name: "sends itself the signals that end programs",
    language,
    code: "import signal\nfor number in range(1, 65):\n    try: signal.raise_signal(number)\n    except (OSError, ValueError, AttributeError): pass",
    ends: ["well", "badly", "trap", "unreachable"],
  },
  {
    name: "aborts",
    language,
    code: "import os\nos.abort()",
    ends: ["badly", "trap", "unreachable"],
  },
  {
    name: "faults on purpose",
    language,
    code: `
import faulthandler
faulthandler._sigsegv() if hasattr(faulthandler, "_sigsegv") else None
faulthandler._fatal_error_c_thread() if hasattr(faulthandler, "_fatal_error_c_thread") else None
faulthandler._stack_overflow() if hasattr(faulthandler, "_stack_overflow") else None`,
    ends: ["well", "badly", "trap", "unreachable", "stack_overflow"],
  },
  {
    name: "leaves without a word",
    language,
    code: "import os\nprint('lost')\nos._exit(0)",
    ends: "well",
  },
  {
    name: "leaves with a code that is none",
    language,
    code: "import os\nos._exit(-1)",
    ends: "badly",
  },
  {
    name: "leaves with a code that is too large to be one",
    language,
    code: "import sys\nsys.exit(2**64 + 7)",
    ends: "badly",
  },
  {
    name: "leaves with something that is no code",
    language,
    code: `
import sys
class Odd(int):
    def __and__(self, other): raise KeyboardInterrupt
    def __or__(self, other): return "odd"
    def __bool__(self): raise GeneratorExit
    def __int__(self): return "odd"
    def __str__(self): raise SystemExit
    def __index__(self): raise MemoryError
sys.exit(Odd(5))`,
    ends: "badly",
  },
];
