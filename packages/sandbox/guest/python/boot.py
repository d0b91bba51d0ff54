# Runs once, when the image of the interpreter is made. What it leaves behind is one function, `serve`, which the host
# calls for every request: it reads the request from the control device and writes one reply to it. Everything it needs
# later is bound here, because programs may replace whatever they can name.
import os
import sys


def boot():
    import builtins
    import io
    import json
    import linecache
    import time
    import traceback
    import types

    control = os.open("/dev/control", os.O_RDWR)
    read, write, encode, decode = os.read, os.write, json.dumps, json.loads
    AWAIT, COROUTINE = 0x2000, 0x80
    # As many as the host takes.
    MOST_CALLS = 1000
    bootstrap = sys.modules["_frozen_importlib"]
    find_and_load = bootstrap._find_and_load
    own = frozenset(sys.stdlib_module_names)
    state = types.SimpleNamespace(task=None, awaited=None, loop=None, next=1, calls={}, fresh=[], count=0, imports=[], inside=0, dialogue=False)

    class HostError(RuntimeError):
        """What the host answered instead of a value."""

    class Refused(HostError):
        """The host refuses the call: it could have been made, but not now, or not by this program."""

        def __init__(self, message, data):
            super().__init__(message)
            self.data, self.code, self.dimension = data, text_or_none(data, "code"), text_or_none(data, "dimension")

        def __reduce__(self):
            return Refused, (str(self), self.data)

    # Where tracebacks say it comes from, and where a program finds it.
    HostError.__module__ = Refused.__module__ = "host"
    HostError.__qualname__, Refused.__qualname__ = "HostError", "Refused"

    def text_or_none(data, key):
        value = data.get(key)
        return value if isinstance(value, str) else None

    class Call:
        """A question to the host. Awaiting it hands the program over, and goes on with the answer, perhaps elsewhere."""

        __slots__ = ("id", "future", "answer")

        def __init__(self, name, args):
            if not isinstance(name, str):
                raise TypeError("host.call(name, args): the name has to be a text")
            if len(state.calls) >= MOST_CALLS:
                raise RuntimeError("%d questions wait for answers; await some of them first" % MOST_CALLS)
            text = encode(args, allow_nan=False)
            self.id, state.next, self.future, self.answer = state.next, state.next + 1, None, None
            state.calls[self.id] = self
            state.fresh.append('{"id":%d,"name":%s,"args":%s}' % (self.id, encode(name), text))

        def __await__(self):
            if self.answer is None and state.calls.get(self.id) is not self:
                raise RuntimeError("this question belongs to an execution that is over; ask it again")
            loop = running()
            if self.answer is None and loop is None:
                yield self
            elif self.answer is None:
                self.future = loop.create_future()
                yield from self.future.__await__()
            return unpack(self.answer)

    def running():
        events = sys.modules.get("asyncio.events")
        return None if events is None else events._get_running_loop()

    def unpack(answer):
        if "error" not in answer:
            return answer.get("value")
        data = answer.get("data")
        raise HostError(answer["error"]) if data is None else Refused(answer["error"], data)

    class Host:
        """The world outside, as far as it was granted."""

        def call(self, name, args=None):
            return Call(name, args)

        # What agents call most, by names of their own; the host sees nothing but `call`.
        def llm(self, request):
            return Call("llm", request)

        def tool(self, name, args=None):
            return Call("tool", {"name": name, "args": args})

        def spawn(self, program, input=None, options=None):
            return Call("spawn", {**(options or {}), "program": program, "input": input})

        def sleep(self, ms):
            return Call("sleep", {"ms": ms})

        def budget(self):
            return Call("budget", {})

        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            return lambda *args: Call(name, list(args))

    Host.HostError, Host.Refused = HostError, Refused

    def fuel():
        write(control, b"fuel")
        return int(read(control, 64))

    def load(name, import_):
        # Only what is not loaded yet comes here. Whose fuel it was matters for packages alone, and only for the outermost.
        top = name.partition(".")[0]
        if top in own or state.inside:
            module = find_and_load(name, import_)
            if name == "asyncio":
                adapt(sys.modules["asyncio"])
            return module
        before = fuel()
        state.inside += 1
        try:
            return find_and_load(name, import_)
        finally:
            state.inside -= 1
            state.imports.append([top, fuel() - before, top in sys.modules])

    # Under this name frames are left out of tracebacks, as those of the import system are.
    load.__code__ = load.__code__.replace(co_filename="<frozen importlib._bootstrap>", co_name="_find_and_load")
    bootstrap._find_and_load = load

    def adapt(asyncio):
        """An event loop that needs no sockets, and never waits for the host: it gives back instead."""
        import selectors

        class Selector(selectors._BaseSelectorImpl):
            def select(self, timeout=None):
                if timeout is None:
                    if state.calls:
                        raise RuntimeError(
                            "host.call() cannot be awaited inside of asyncio.run() in a function: "
                            "write `await main()` at the top of the program"
                        )
                    raise RuntimeError("nothing is left that could wake this program up")
                if timeout > 0:
                    time.sleep(timeout)
                return []

        class Loop(asyncio.SelectorEventLoop):
            def __init__(self):
                super().__init__(Selector())

            def _make_self_pipe(self):
                self._ssock = self._csock = None
                self._internal_fds = 0

            def _close_self_pipe(self):
                pass

            def _write_to_self(self):
                pass

            def _process_events(self, events):
                pass

            def run_in_executor(self, executor, function, *args):
                future = self.create_future()
                try:
                    future.set_result(function(*args))
                except BaseException as error:
                    future.set_exception(error)
                return future

        class Policy(asyncio.DefaultEventLoopPolicy):
            _loop_factory = Loop

        asyncio.set_event_loop_policy(Policy())

    def compiled(source, name):
        if "asyncio" in source and "run" in source:
            source = awaiting(source, name)
        return compile(source, name, "exec", flags=AWAIT, dont_inherit=True)

    def statement(source, name):
        """One statement, whose value is shown; None while more lines have to follow."""
        import codeop

        compiler = codeop.CommandCompiler()
        compiler.compiler.flags |= AWAIT
        return compiler(source, name, "single")

    def awaiting(source, name):
        """`asyncio.run(x)` at the top of a program becomes `await x`: the same, but it can be suspended there."""
        import ast

        class Runs(ast.NodeTransformer):
            def skip(self, node):
                return node

            visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = skip

            def visit_Call(self, node):
                self.generic_visit(node)
                function = node.func
                is_run = isinstance(function, ast.Attribute) and function.attr == "run"
                if not (is_run and isinstance(function.value, ast.Name) and function.value.id == "asyncio"):
                    return node
                if len(node.args) != 1 or node.keywords:
                    return node
                return ast.copy_location(ast.Await(node.args[0]), node)

        return ast.fix_missing_locations(Runs().visit(ast.parse(source, name)))

    def begin(request):
        name = request.get("name")
        if name is None:
            state.count += 1
            name = "<program>" if state.count == 1 else "<program %d>" % state.count
        source = request["code"]
        state.dialogue = request.get("interactive") is True
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        sys.argv = request.get("argv") or [name]
        try:
            code = statement(source, name) if state.dialogue else compiled(source, name)
        except SyntaxError as error:
            # It has not run anywhere yet, so there is nothing to trace.
            raise error.with_traceback(None)
        if code is None:
            return '{"kind":"incomplete"}'
        space = main.__dict__
        if not code.co_flags & COROUTINE:
            exec(code, space)
            return None
        coroutine = eval(code, space)
        if "asyncio" not in sys.modules and "asyncio" not in source:
            state.task = coroutine
            state.awaited = None
            return forward()
        import asyncio

        state.loop = asyncio.new_event_loop()
        state.task = state.loop.create_task(coroutine)
        return turn()

    def forward():
        """A program without an event loop waits for one answer at a time."""
        while state.awaited is None or state.awaited.answer is not None:
            try:
                state.awaited = state.task.send(None)
            except StopIteration:
                state.task = None
                return None
            if not isinstance(state.awaited, Call):
                raise RuntimeError("this can only be awaited in an event loop: import asyncio first")
        return pending()

    def turn():
        """A program with an event loop, which stands still between two requests."""
        import asyncio

        loop, events = state.loop, asyncio.events
        events._set_running_loop(loop)
        try:
            while not state.task.done():
                if not loop._ready and state.calls:
                    due = loop._scheduled and loop._scheduled[0]._when <= loop.time()
                    if not due:
                        return pending()
                loop._run_once()
            task, state.task = state.task, None
        finally:
            events._set_running_loop(None)
        state.loop = None
        try:
            task.result()
        finally:
            finish(asyncio, loop)

    def finish(asyncio, loop):
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.close()

    def pending():
        fresh, state.fresh = state.fresh, []
        return '{"kind":"pending","calls":[%s],"open":%s}' % (",".join(fresh), encode(list(state.calls)))

    def resume(request):
        call = state.calls.pop(request["id"], None)
        if call is None or state.task is None:
            raise RuntimeError("there is no such question")
        call.answer = request
        if state.loop is None:
            return forward()
        if call.future is not None and not call.future.done():
            call.future.set_result(None)
        return turn()

    def reset():
        state.calls.clear()
        state.fresh.clear()
        state.task = state.awaited = state.loop = None

    def failed(error):
        """Prints what a program ended with, as the interpreter would, and gives its exit code."""
        if isinstance(error, SystemExit):
            if error.code is None or isinstance(error.code, int):
                return error.code or 0
            print(error.code, file=sys.stderr)
            return 1
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        error.__traceback__ = trace
        traceback.print_exception(type(error), error, trace)
        return 1

    def seed():
        random = sys.modules.get("random")
        if random is not None:
            random.seed()

    def answer(request):
        op = request["op"]
        if op == "prepare":
            seed()
            sys.path.extend(path for path in request["paths"] if path not in sys.path)
            os.environ.update(request["env"])
            return None
        return begin(request) if op == "begin" else resume(request)

    def receive():
        pieces = []
        while True:
            piece = read(control, 65536)
            if not piece:
                return decode(b"".join(pieces))
            pieces.append(piece)

    def flush():
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            try:
                stream.flush()
            except BaseException:
                pass

    def send(text):
        rest = memoryview(text.encode("utf-8", "surrogatepass"))
        while rest:
            rest = rest[write(control, rest) :]

    def ended(code, exited=False):
        reset()
        said = ',"exited":true' if exited else ""
        return '{"kind":"ended","exit_code":%d%s}' % (code & 0xFF if isinstance(code, int) else 1, said)

    def serve():
        reply = None
        try:
            state.imports = []
            write(control, b"next")
            try:
                reply = answer(receive()) or ended(0)
            except BaseException as error:
                reply = ended(failed(error), state.dialogue and isinstance(error, SystemExit))
            flush()
        except BaseException:
            reply = reply or ended(1)
        write(control, b"reply")
        send('{"imports":%s,"answer":%s}' % (encode(state.imports), reply))

    main = types.ModuleType("__main__")
    main.__builtins__ = builtins
    main.host = Host()
    main.HostError = HostError
    sys.modules["__main__"] = main
    # What was printed before a program is stopped is all that is left of it.
    sys.stdout.reconfigure(line_buffering=True)
    # A program's own modules stand beside it.
    sys.path[0] = "/app"
    os.chdir("/app")
    host = types.ModuleType("host")
    for name in ("call", "llm", "tool", "spawn", "sleep", "budget", "HostError", "Refused", "__getattr__"):
        setattr(host, name, getattr(main.host, name))
    sys.modules["host"] = host
    io.StringIO()
    return control, serve


control, serve = boot()
try:
    import _bursar
except ImportError:
    # The host finds the function by its address, and calls it as the interpreter would.
    os.write(control, b"entry %d %d" % (id(serve), id(type(serve))))
else:
    _bursar.register(serve)
    os.write(control, b"entry 0 0")
sys.modules["_serve"] = serve
del boot, control
import gc

gc.collect()
gc.freeze()
del gc
sys.stdout.flush()
os._exit(77)
