/** Forked and one-shot runs of these scripts must leave the same traces. */
export const scripts: Readonly<Record<string, string>> = {
  'what it is': `
import sys, os, __main__
print(sys.argv, __name__, __file__, __doc__, __package__, __spec__, type(__loader__).__name__, sorted(globals()))
print(sys.path, sys.flags, sys.orig_argv[1:], os.getcwd(), dict(os.environ), os.umask(0), __main__.__file__ == __file__)
print(os.getpgid(0) == os.getpid(), os.getsid(0) != os.getpid(), sys.stdin.encoding, sys.stdout.line_buffering)`,
  'its descriptors and signals': `
import os, sys
print([(fd, os.readlink(f"/proc/self/fd/{fd}").split(":")[0], os.get_inheritable(int(fd))) for fd in sorted(os.listdir("/proc/self/fd")) if int(fd) < 3])
print(len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")))
print([line for line in open("/proc/self/status") if line.startswith("Sig") and "SigQ" not in line or line.startswith(("ShdPnd", "Cap", "NoNewPrivs"))])
import signal
print([signal.getsignal(number) for number in range(1, 32)])`,
  'reading stdin in parts': `
import sys
print(repr(sys.stdin.readline()), repr(sys.stdin.buffer.read(3)), repr(sys.stdin.read()), repr(sys.stdin.read()))`,
  'its streams by name': `
for line in open("/dev/stdin"): pass
open("/dev/stdout", "w").write("one " + line)
open("/dev/stderr", "w").write("two")
import sys
sys.stdout.write("three")`,
  'an exit code': 'import sys\nprint("said")\nsys.exit(3)',
  'an exit code beyond 255': 'import sys\nsys.exit(-1)',
  'an exit with a text': 'import sys\nprint("said")\nsys.exit("why not")',
  'an exit with an object': 'import sys\nsys.exit([1, 2])',
  'an exit with true': 'import sys\nsys.exit(True)',
  'an exit of the system’s kind': 'import os\nprint("lost")\nos._exit(4)',
  'an exception in a function': `
import json
def read(text):
    return json.loads(text)
print("said")
read("{")`,
  'an exception with a cause and a note': `
class Odd(Exception): pass
try:
    try:
        1 / 0
    except ZeroDivisionError as zero:
        raise KeyError("inner") from zero
except KeyError:
    problem = Odd("outer\\nsecond line")
    problem.add_note("a note")
    raise problem`,
  'an excepthook of its own': `
import sys
sys.excepthook = lambda kind, value, trace: print("hooked", kind, value, trace.tb_lineno, file=sys.stderr)
raise ValueError("x")`,
  'an import that is not there': 'import json\nimport no_such_module\nprint("never")',
  'a syntax error': 'import json\nprint("never"\n',
  'a key from the keyboard':
    'import os, signal\nprint("said")\nos.kill(os.getpid(), signal.SIGINT)\nprint("never")',
  'a signal that ends it': 'import os\nprint("lost")\nos.kill(os.getpid(), 15)\nprint("never")',
  'a signal that it handles': `
import os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
os.kill(os.getpid(), signal.SIGTERM)`,
  'a crash': 'import os\nos.abort()',
  'what runs at exit': `
import atexit, sys
atexit.register(print, "first registered")
class Odd:
    def __repr__(self): return "odd"
    def __call__(self): raise ValueError("at exit")
atexit.register(Odd())
print("said", end="")
sys.stderr.write("words without an end of line")
raise SystemExit(2)`,
  'threads that it waits for': `
import threading, time
def work():
    time.sleep(0.1)
    print("late")
threading.Thread(target=work).start()
print("main is over")`,
  'threads that it does not wait for': `
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("main is over")`,
  'an exception in a thread': `
import threading
def work(): raise ValueError("in a thread")
threading.Thread(target=work, name="worker").start()`,
  'a destructor of a global': `
import sys
class Thing:
    def __del__(self): sys.stderr.write("gone\\n")
kept = Thing()
circle = Thing()
circle.itself = circle`,
  'other processes': `
import subprocess, os
print(subprocess.run(["sh", "-c", "cat; echo from sh >&2; exit 5"], input=b"to sh", capture_output=True))
print(subprocess.call(["cat"]), flush=True)
pid = os.fork()
if pid == 0:
    print("child")
else:
    os.waitpid(pid, 0)
    print("parent")`,
  'a stdout that is closed': 'import os, sys\nprint("lost")\nos.close(1)',
  'a stdout that nobody reads': `
import os, sys
r, w = os.pipe(); os.close(r); os.dup2(w, 1)
print("lost")`,
  'a class of its own, pickled': `
import pickle, dataclasses
@dataclasses.dataclass
class Point:
    x: int
print(pickle.loads(pickle.dumps(Point(1))), Point.__module__, pickle.dumps(Point(2)))`,
  'processes of its own kind': `
import multiprocessing
def square(x): return x * x
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool: print(pool.map(square, [1, 2, 3]))`,
  'an event loop': `
import asyncio
async def main():
    process = await asyncio.create_subprocess_exec("echo", "hello", stdout=asyncio.subprocess.PIPE)
    print((await process.communicate())[0])
asyncio.run(main())`,
  'lines of a log': `
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(process)d".replace("%(process)d", "") + "%(message)s")
logging.info("said")
logging.getLogger("x").warning("%s", sys.argv)`,
  'a warning': 'import warnings\nwarnings.warn("odd")\nwarnings.warn("old", DeprecationWarning)',
  'where it was called from':
    'import traceback, sys\ndef f(): return len(traceback.extract_stack()) and sys._getframe(1).f_code.co_name\nprint(f())',
  'a byte that is no text':
    'import sys\nsys.stdout.buffer.write(b"\\xff\\x00")\nsys.stderr.buffer.write(b"\\xfe")',
};
