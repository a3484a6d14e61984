"""Loads the imports of a script once and forks: each child runs the script as `python script` would.

    python [options] fork-helper.py SCRIPT [ARGUMENT...]

Each line of stdin starts a child: `ID OWNER STDIN STDOUT STDERR JOINS LIMITS`. The child gets these descriptors of the process
OWNER. It joins the control groups JOINS (hexadecimal paths, separated by commas) and sets the LIMITS (`LETTER:SOFT:HARD,…`).
The first lines of stdout are `imported PATH` (hexadecimal), for each file of a module that the script brings, and `ready`, or only
`refused REASON`. The others are `started ID PID`, `failed ID REASON`, `ended ID exit CODE` and `ended ID signal NUMBER`. The end of stdin, or SIGTERM, ends all children and then the helper.
"""
_template = dict(globals())
import sys

_known = set(sys.modules)
import _signal
import gc
import os
import resource
import select

# The script must import these modules itself: its folder may have a module of the same name.
for _name in set(sys.modules) - _known:
    del sys.modules[_name]

ONLY_AST = 0x400  # ast.PyCF_ONLY_AST
GRACE_SECONDS = 1.0
# The letters of a shell's ulimit, with the system's limit and the size of the shell's unit.
LIMITS = {
    "f": (resource.RLIMIT_FSIZE, 512),
    "d": (resource.RLIMIT_DATA, 1024),
    "t": (resource.RLIMIT_CPU, 1),
    "n": (resource.RLIMIT_NOFILE, 1),
}
IGNORED_BY_US = (_signal.SIGTERM, _signal.SIGCHLD, _signal.SIGINT)


class Refused(Exception):
    """The message says why the script cannot be forked."""


def main_dict(file):
    """The names in `__main__` before a script runs."""
    names = dict(_template, __file__=file, __doc__=None)
    names["__builtins__"] = sys.modules["builtins"]
    names["__loader__"] = sys.modules["_frozen_importlib_external"].SourceFileLoader("__main__", file)
    if "__annotations__" in names:
        names["__annotations__"] = {}
    return names


def new_main(file):
    module = type(sys)("__main__")
    module.__dict__.clear()
    module.__dict__.update(main_dict(file))
    sys.modules["__main__"] = module
    return module


def set_up(script, arguments):
    """Sets up `sys` as for `python script arguments`; returns `__file__`."""
    own_folder = os.path.dirname(os.path.realpath(__file__))
    if sys.path and os.path.realpath(sys.path[0] or ".") == own_folder:
        sys.path[0] = os.path.dirname(os.path.realpath(script))
    if hasattr(sys, "orig_argv"):
        sys.orig_argv.remove(__file__)
    sys.argv[:] = [script, *arguments]
    if os.path.isabs(script) or sys.version_info < (3, 9):
        return script
    return os.path.join(os.getcwd(), script)


def imports_of(tree):
    """The imports before any other code of the script, and all of the standard library."""
    standard = getattr(sys, "stdlib_module_names", ())
    is_first = True
    for node in tree.body:
        found = list(imports_in(node))
        if found and kind_of(node) in ("Import", "ImportFrom", "Try"):
            for name, parts in found:
                if is_first or (name.partition(".")[0] in standard and not is_local(name)):
                    yield name, parts
        elif not is_inert(node):
            is_first = False


def imports_in(node):
    if kind_of(node) == "Import":
        for alias in node.names:
            yield alias.name, ()
    elif kind_of(node) == "ImportFrom" and not node.level and node.module != "__future__":
        yield node.module, tuple(alias.name for alias in node.names)
    elif kind_of(node) == "Try" and all(is_inert(part) or kind_of(part).startswith("Import") for part in node.body):
        for part in node.body:
            yield from imports_in(part)


def is_inert(node):
    """Whether the node cannot affect later imports: definitions, docstrings, constants, imports."""
    if kind_of(node) in ("Import", "ImportFrom", "Pass"):
        return True
    if kind_of(node) in ("FunctionDef", "AsyncFunctionDef"):
        return not node.decorator_list
    if kind_of(node) in ("Expr", "Assign"):
        return kind_of(node.value) == "Constant"
    return False


def is_local(name):
    path = os.path.join(sys.path[0], name.partition(".")[0])
    return os.path.exists(path) or os.path.exists(path + ".py")


def kind_of(node):
    return type(node).__name__


def import_once(tree):
    for name, parts in imports_of(tree):
        try:
            __import__(name, {"__name__": "__main__", "__package__": None}, None, parts, 0)
        except BaseException:
            return  # The script raises the error itself, in each child.


def imported_files():
    """The files of modules, except those of Python and of installed packages."""
    standard = os.path.dirname(os.__file__)
    for module in list(sys.modules.values()):
        path = module.__dict__.get("__file__") if isinstance(module, type(sys)) else None
        if not isinstance(path, str) or path.startswith(standard) or "-packages/" in path:
            continue
        while not os.path.exists(path) and path not in ("", "/"):
            path = os.path.dirname(path)  # It is inside an archive.
        yield os.path.abspath(path)


def descriptors():
    found = {}
    for entry in os.listdir("/proc/self/fd"):
        try:
            found[int(entry)] = os.readlink("/proc/self/fd/" + entry)
        except OSError:
            pass
    return found


def count_threads():
    return len(os.listdir("/proc/self/task"))


def check_forkable(before, printed, unread):
    """Raises Refused if the imports had effects that every process needs for itself."""
    if "threading" in sys.modules and sys.modules["threading"].active_count() > 1:
        raise Refused("its imports start threads, which no fork inherits")
    if count_threads() > 1:
        # Some libraries end their threads before a fork and restart them afterwards.
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        if count_threads() > 1:
            raise Refused("its imports start threads, which no fork inherits")
    try:
        os.waitpid(-1, os.WNOHANG)
        raise Refused("its imports start processes")
    except ChildProcessError:
        pass
    opened = [path for fd, path in descriptors().items() if before.get(fd) != path]
    if any(path.startswith("/dev/shm/") or not path.startswith(("/dev/", "/proc/")) for path in opened):
        raise Refused("its imports leave files or connections open, which all of its processes would share")
    with open("/proc/self/maps") as maps:
        if any(line.split(None, 2)[1][1::2] == "ws" for line in maps):  # Such as `rw-s`: writable, shared.
            raise Refused("its imports map memory that all of its processes would share")
    if any(_signal.getitimer(kind)[0] for kind in (_signal.ITIMER_REAL, _signal.ITIMER_VIRTUAL, _signal.ITIMER_PROF)):
        raise Refused("its imports start a timer, which no fork inherits")
    sys.stdout.flush()
    if os.fstat(printed).st_size > 0:
        raise Refused("its imports print to stdout")
    if os.lseek(unread, 0, os.SEEK_CUR) != 0:
        raise Refused("its imports read stdin")


def prepare(script, arguments):
    """Imports and compiles; returns the code, `__file__`, and the signal handlers and mask that the imports have set."""
    if sys.version_info < (3, 8):
        raise Refused("Python %d.%d is too old: 3.8 is needed" % sys.version_info[:2])
    file = set_up(script, arguments)
    with open(script, "rb") as stream:
        source = stream.read()
    try:
        code = compile(source, file, "exec", 0, True)
        tree = compile(source, file, "exec", ONLY_AST, True)
    except (SyntaxError, ValueError) as problem:
        raise Refused("it cannot be compiled: %s" % problem)
    printed, unread = os.memfd_create("stdout"), os.memfd_create("stdin")
    os.write(unread, b"\n")
    os.lseek(unread, 0, os.SEEK_SET)
    os.dup2(printed, 1)
    os.dup2(unread, 0)
    new_main(file)
    before = descriptors()
    import_once(tree)
    check_forkable(before, printed, unread)
    for fd in (printed, unread):
        os.close(fd)
    handlers = {number: _signal.getsignal(number) for number in IGNORED_BY_US}
    gc.collect()
    if hasattr(gc, "freeze"):
        gc.freeze()
    return code, file, (handlers, _signal.pthread_sigmask(_signal.SIG_UNBLOCK, IGNORED_BY_US))


def restrain(joins, limits):
    """Joins control groups and sets hard limits. A stricter existing limit stays."""
    try:
        for path in [] if joins == "-" else joins.split(","):
            fd = os.open(bytes.fromhex(path), os.O_WRONLY)
            os.write(fd, b"0")
            os.close(fd)
        for entry in [] if limits == "-" else limits.split(","):
            option, soft, hard = entry.split(":")
            kind, unit = LIMITS[option]
            allowed = resource.getrlimit(kind)[1]
            least = [int(each) * unit for each in (soft, hard)]
            if allowed != resource.RLIM_INFINITY:
                least = [min(each, allowed) for each in least]
            resource.setrlimit(kind, tuple(least))
    except (OSError, ValueError) as problem:
        os.write(2, ("signalbox: the system does not let it set its limits: %s\n" % problem).encode())
        os._exit(125)


class Helper:
    def __init__(self, requests, reports, signals):
        self.requests, self.reports = requests, reports
        self.handlers, self.mask = signals
        self.children = {}
        self.buffer = b""
        self.is_ending = False
        self.wakes, self.waker = os.pipe()
        for fd in (self.wakes, self.waker):
            os.set_blocking(fd, False)
        _signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        _signal.signal(_signal.SIGCHLD, lambda number, frame: None)
        _signal.signal(_signal.SIGTERM, self.end)
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)

    def end(self, number=None, frame=None):
        self.is_ending = True

    def report(self, *words):
        text = " ".join(str(word) for word in words).replace("\n", " ")
        view = (text + "\n").encode("utf-8", "replace")
        try:
            while view:
                view = view[os.write(self.reports, view):]
        except OSError:
            self.is_ending = True

    def serve(self):
        """Returns True in each child, with its streams in place; ends the process otherwise."""
        poller = select.poll()
        poller.register(self.requests, select.POLLIN)
        poller.register(self.wakes, select.POLLIN)
        while not self.is_ending:
            ready = [fd for fd, _ in poller.poll()]
            if self.wakes in ready:
                os.read(self.wakes, 4096)
                self.reap()
            if self.requests in ready and self.read_requests():
                return True
        self.end_children()
        os._exit(0)

    def reap(self):
        while self.children:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            number = self.children.pop(pid, None)
            if number is None:
                continue
            if os.WIFSIGNALED(status):
                self.report("ended", number, "signal", os.WTERMSIG(status))
            else:
                self.report("ended", number, "exit", os.WEXITSTATUS(status))

    def read_requests(self):
        part = os.read(self.requests, 1 << 20)
        if not part:
            self.is_ending = True
            return False
        *lines, self.buffer = (self.buffer + part).split(b"\n")
        return any(self.start(*line.decode().split(" ")) for line in lines)

    def start(self, number, owner, *standard):
        """Forks a child; returns True in the child."""
        *standard, joins, limits = standard
        opened = []
        try:
            for fd, flags in zip(standard, (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)):
                opened.append(os.open("/proc/%s/fd/%s" % (owner, fd), flags))
            opened.extend(os.pipe())
            _signal.pthread_sigmask(_signal.SIG_BLOCK, IGNORED_BY_US)
            pid = os.fork()
        except OSError as problem:
            _signal.pthread_sigmask(_signal.SIG_UNBLOCK, IGNORED_BY_US)
            for fd in opened:
                os.close(fd)
            self.report("failed", number, problem.strerror)
            return False
        if pid == 0:
            self.become_child(opened, joins, limits)
            return True
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, IGNORED_BY_US)
        try:
            os.setpgid(pid, pid)
        except OSError:
            pass  # The child has already done it.
        self.children[pid] = number
        self.report("started", number, pid)
        # The child may run only after its start was reported.
        os.write(opened[4], b"g")
        for fd in opened:
            os.close(fd)
        return False

    def become_child(self, opened, joins, limits):
        os.setpgid(0, 0)
        _signal.set_wakeup_fd(-1)
        for number, handler in self.handlers.items():
            _signal.signal(number, handler)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, self.mask)
        go, going = opened[3:]
        os.close(going)
        if not os.read(go, 1):
            os._exit(1)  # The helper has ended without reporting this child.
        for fd in (self.requests, self.reports, self.wakes, self.waker, go):
            os.close(fd)
        for target, fd in enumerate(opened[:3]):
            os.dup2(fd, target)
            os.close(fd)
        restrain(joins, limits)
        numpy = sys.modules.get("numpy.random")
        if numpy is not None:
            numpy.seed()

    def end_children(self):
        self.reap()
        self.signal_children(_signal.SIGTERM)
        poller = select.poll()
        poller.register(self.wakes, select.POLLIN)
        for _ in range(int(GRACE_SECONDS * 20)):
            if not self.children:
                return
            if poller.poll(50):
                os.read(self.wakes, 4096)
            self.reap()
        self.signal_children(_signal.SIGKILL)

    def signal_children(self, number):
        for pid in self.children:
            try:
                os.killpg(pid, number)
            except OSError:
                pass


def ends_in_c(names):
    """Whether the modules have C code outside the standard library, which may act at exit."""
    if "ctypes" in names or "_ctypes" in names:
        return True
    paths = [getattr(sys.modules.get(name), "__file__", None) or "" for name in names]
    return any(path.endswith((".so", ".pyd")) and "lib-dynload" not in path for path in paths)


def ends_quickly():
    """Whether only Python code may act at exit."""
    # Reading a module copies its memory page, so modules from before the fork are not checked again.
    return not imported_ends_in_c and (
        len(sys.modules) == len(imported) or not ends_in_c(set(sys.modules) - imported)
    )


def take_apart():
    """Shuts down as Python does, but only tears down what this child has created."""
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    if "atexit" in sys.modules:
        sys.modules["atexit"]._run_exitfuncs()
    # Before the garbage collection, which might lose buffered data in reference cycles.
    flush_files()
    sys.modules.pop("__main__", None)
    gc.collect()
    flush_files()
    sys.stdout.flush()
    sys.stderr.flush()


def flush_files():
    """Flushes files that were opened since the fork: text layers first, then their byte buffers."""
    made = gc.get_objects()
    for kinds in (("TextIOWrapper",), ("BufferedWriter", "BufferedRandom")):
        for file in made:
            if kind_of(file) in kinds and not file.closed and file.writable():
                file.flush()


def run(code, names):
    """Runs the script and returns its exit status. Tracebacks do not contain this frame."""
    try:
        exec(code, names)
    except SystemExit as end:
        if end.code is None or type(end.code) is int:
            return 0 if end.code is None else end.code & 0xFF
        raise
    except BaseException as problem:
        kind, trace = type(problem), problem.__traceback__.tb_next
        problem.__traceback__ = trace
        sys.last_type, sys.last_value, sys.last_traceback = kind, problem, trace
        if hasattr(sys, "last_exc") or sys.version_info >= (3, 12):
            sys.last_exc = problem
        sys.excepthook(kind, problem, trace)
        if isinstance(problem, KeyboardInterrupt):
            take_apart()
            _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
            os.kill(os.getpid(), _signal.SIGINT)
        sys.exit(1)
    return 0


def begin():
    """Serves until a child has to run; returns its code and names."""
    requests, reports = os.dup(0), os.dup(1)
    os.set_inheritable(requests, False)
    os.set_inheritable(reports, False)
    try:
        code, file, signals = prepare(sys.argv[1], sys.argv[2:])
    except (Refused, OSError) as reason:
        os.write(reports, ("refused %s\n" % str(reason).replace("\n", " ")).encode("utf-8", "replace"))
        os._exit(0)
    global imported, imported_ends_in_c
    imported = frozenset(sys.modules)
    imported_ends_in_c = ends_in_c(imported)
    helper = Helper(requests, reports, signals)
    for path in imported_files():
        helper.report("imported", os.fsencode(path).hex())
    helper.report("ready")
    helper.serve()
    return code, new_main(file).__dict__


_code, _names = begin()
_status = run(_code, _names)
del _code, _names
if ends_quickly():
    try:
        take_apart()
        os._exit(_status)
    except BaseException:
        pass  # The interpreter shuts down again and reports the error.
sys.exit(_status)
