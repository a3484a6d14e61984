"""Write tools, filters, evaluators and observers for Signalbox: one script runs one-shot, forked and as a server.

    import signalbox

    @signalbox.tool
    def greet(request):
        return "Hello, %s!" % request["args"]["name"]

    greet.run()

The function gets the request as the protocol has it. From `run` on, prints go to stderr. A filter that returns nothing
denies, an evaluator that returns nothing fails, and so does every exception. `greet.handle(request)` returns the reply
without a process, for tests.
"""
# signalbox helper 0.1.0 (Python 3.8 and later). Update this copy with `npx signalbox init --helper --lang python`.
import json
import os
import sys


class Fail(Exception):
    """Fails a call with your own message. Every other exception is a crash: its type and message, and exit code 1."""


class Reply(dict):
    """A whole reply. The functions below make them."""


def result(value):
    """Of a tool: the same as to return the value itself."""
    return Reply(result=value)


def pending(message, reason=""):
    """Of a tool: a person decides. The tool is called again with `request["approval"]`."""
    return Reply(pending={"reason": reason, "message": message})


def allow(reason=None, metadata=None):
    """Of a filter: the same as True."""
    return _reply(allow=True, reason=reason, metadata=metadata)


def deny(reason, metadata=None, replacement=None):
    """Of a filter: the call fails. With a `replacement`, the caller gets this text in place of an answer."""
    if replacement is None:
        return _reply(allow=False, reason=reason, metadata=metadata)
    return Reply(allow=False, enforced=True, reason=reason, metadata=dict(metadata or {}, replacement=replacement))


def ask(reason, metadata=None):
    """Of a filter before a tool runs: a person decides."""
    return _reply(allow=False, ask=True, reason=reason, metadata=metadata)


def replace(reason=None, metadata=None, **members):
    """Of a filter: the call goes on with these members: messages, system_prompt, message, args or content."""
    return _reply(allow=True, replace=members, reason=reason, metadata=metadata)


def score(value, detail=None, data=None):
    """Of an evaluator: a number from 0 to 1, with a text and an object that explain it."""
    return _reply(score=_number(value), detail=detail, data=data)


def abstain(reason):
    """Of an evaluator: there is nothing to score."""
    return Reply(abstain=reason)


def progress(done, total=None, message=None):
    """How far a tool is. Has an effect only in a server."""
    if _local is not None:
        _local.call.report(_reply(progress=done, total=total, message=message))


def cancelled():
    """Whether the caller of this request of a server no longer waits for it."""
    return _local is not None and _local.call.is_cancelled


def tool(function):
    """The function gets {"args", "approval"?, "idempotency_key"?} and returns the result."""
    return Handler("tool", function)


def filter(function):
    """The function gets {"hook", "phase", "request", "response"?} and returns True, False or a reply."""
    return Handler("filter", function)


def evaluator(function):
    """The function gets {"type", "params", "content", "context"} and returns a score or a reply."""
    return Handler("evaluator", function)


def observer(function):
    """The function gets every event of its hook. What it returns has no effect."""
    return Handler("observer", function)


class Handler:
    def __init__(self, kind, function):
        self.kind, self.function, self.__doc__ = kind, function, function.__doc__

    def __call__(self, request):
        return self.function(request)

    def handle(self, request):
        """Returns the reply that the program would print. That of a failure is `{"error": "…"}`."""
        return _loads(self._answer(lambda: request, dict, _failure)[0])

    def run(self):
        """Answers the requests on stdin. Does nothing if the file was imported."""
        if sys._getframe(1).f_globals.get("__name__") != "__main__":
            return
        # From here on, prints of the script and of the programs that it starts go to stderr.
        out = os.dup(1)
        os.dup2(2, 1)
        lines = []
        for line in sys.stdin.buffer:
            if _is_message(line):
                return self._serve(line, out)
            lines.append(line)
        text = b"".join(lines)
        if not text.strip():
            sys.exit("signalbox: stdin ended without a request")
        answer, status = self._answer(lambda: _loads(text), dict, _failure)
        _write(out, answer)
        if status:
            sys.exit(status)

    def _serve(self, line, out):
        import threading

        global _local
        _local, lock, calls = threading.local(), threading.Lock(), {}

        def send(text):
            with lock:
                _write(out, text)

        def answer(call, params, has_id):
            _local.call = call
            text = self._answer(lambda: params, call.succeed, call.fail)[0]
            if not sys.stdout.closed:
                sys.stdout.flush()
            calls.pop(call.id, None)
            if has_id:
                send(text)

        while line:
            # A blank line is no message.
            problem, message = _read_message(line) if line.strip() else (None, {})
            has_id, method, params = "id" in message, message.get("method"), message.get("params")
            call = _Call(message.get("id"), self.kind, send)
            if problem is not None:
                send(_dumps(call.fail(*problem)))
            elif method == "cancel":
                for other in list(calls.values()):
                    other.is_cancelled = other.is_cancelled or {"id": other.id} == params
            elif method == "execute" and (has_id or self.kind == "observer"):
                calls[call.id] = call
                threading.Thread(target=answer, args=(call, params, has_id)).start()
            elif has_id:
                send(_dumps(call.fail("there is no method %s" % method, -32601)))
            line = sys.stdin.buffer.readline()

    def _answer(self, read, succeed, fail):
        """Returns the text of the answer, and the exit code."""
        try:
            return _dumps(succeed(self._reply(read()))), 0
        except Fail as failure:
            problem, status = str(failure) or "failed", int(self.kind == "filter")
        except KeyboardInterrupt:
            raise
        except BaseException as crash:
            # Also SystemExit, and the CancelledError of asyncio: without an answer, a caller would wait for its timeout.
            sys.excepthook(type(crash), crash, crash.__traceback__)
            try:
                problem = "%s: %s" % (type(crash).__name__, crash)
            except Exception:
                problem = type(crash).__name__
            status = 1
        return _dumps(fail(problem)), status

    def _reply(self, request):
        """Checks the shape of the request first, so that no function decides about an empty or broken one."""
        if not isinstance(request, dict):
            raise Fail("the request is not a JSON object")
        if self.kind == "tool":
            _require(request, args=dict)
        elif self.kind == "filter":
            _require(request, phase=str, request=dict)
            if request["phase"] not in _PHASES:
                raise Fail("a filter has no phase %r" % request["phase"])
            if request["phase"].startswith("after_"):
                _require(request, response=dict)
        elif self.kind == "evaluator" and "batch" in request:
            _require(request, batch=list)
            return {"results": [self._score(dict(case, type=request.get("type"))) for case in request["batch"]]}
        elif self.kind == "evaluator":
            _require(request, params=dict, content=str)
        value = self.function(request)
        if hasattr(value, "cr_await"):
            import asyncio

            value = asyncio.run(value)
        return _REPLIES[self.kind](value)

    def _score(self, case):
        """The result for a case of a batch, whose failure leaves only this case without a score."""
        answer = self._answer(lambda: case, dict, _failure)[0]
        return _loads(answer)


_PHASES = ("before_call", "after_call", "before_execution", "after_execution")


def _require(request, /, **members):
    for name, kind in members.items():
        if not isinstance(request.get(name), kind):
            raise Fail("the request has no valid `%s`" % name)


def _tool_reply(value):
    return value if isinstance(value, Reply) else {"result": value}


def _filter_reply(value):
    if value is None:
        return deny("the filter returned nothing")
    if value is True or value is False:
        return {"allow": value}
    if isinstance(value, dict):
        return value
    raise TypeError("a filter returns True, False or a reply, not %s" % type(value).__name__)


def _evaluator_reply(value):
    if isinstance(value, dict):
        return value
    if isinstance(value, (bool, int, float)):
        return {"score": _number(value)}
    raise TypeError("an evaluator returns a number or a reply, not %s" % type(value).__name__)


def _number(value):
    return int(value) if isinstance(value, bool) else value


def _observer_reply(value):
    return {"ack": True}


_REPLIES = {
    "tool": _tool_reply,
    "filter": _filter_reply,
    "evaluator": _evaluator_reply,
    "observer": _observer_reply,
}


def _reply(**members):
    return Reply((name, value) for name, value in members.items() if value is not None)


def _failure(problem):
    return {"error": problem}


# ---- Messages of a server: JSON-RPC 2.0, one object per line ----

_local = None


class _Call:
    """A request of a server until it has its answer."""

    def __init__(self, number, kind, send):
        self.id, self.kind, self.send, self.is_cancelled = number, kind, send, False

    def succeed(self, reply):
        value = reply["result"] if self.kind == "tool" and "result" in reply else reply
        return {"jsonrpc": "2.0", "id": self.id, "result": value}

    def fail(self, problem, code=1):
        return {"jsonrpc": "2.0", "id": self.id, "error": {"code": code, "message": problem}}

    def report(self, params):
        params = dict(params, id=self.id)
        self.send(_dumps({"jsonrpc": "2.0", "method": "progress", "params": params}))


def _is_message(line):
    """Whether the first line is one of a server. A request of one process has no member `jsonrpc`."""
    if b'"jsonrpc"' not in line:
        return False
    try:
        message = _loads(line)
    except Exception:
        return line.lstrip().startswith(b'{"jsonrpc"')
    return isinstance(message, dict) and "jsonrpc" in message


def _read_message(line):
    """Returns the fault of the line or None, and the message."""
    try:
        message = _loads(line)
    except Exception:
        return ("the line is not JSON", -32700), {}
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return ("the line is not a request of JSON-RPC", -32600), {}
    if not isinstance(message.get("id"), (int, float, str, type(None))):
        return ("the id is neither a number nor a text", -32600), {}
    return None, message


# ---- JSON that keeps the spelling of every number ----


class _Number(float):
    """A number whose spelling Python would change, such as 1.00 or 1e400."""


_has_spelled = False


def _read_float(text):
    global _has_spelled
    if repr(float(text)) == text:
        return float(text)
    number = _Number(text)
    number.text = text
    _has_spelled = True
    return number


def _refuse_constant(text):
    raise ValueError("%s is not JSON" % text)


def _loads(text):
    text = text.decode("utf-8") if isinstance(text, bytes) else text
    return json.loads(text, parse_float=_read_float, parse_constant=_refuse_constant)


def _dumps(value):
    return _spell(value) if _has_spelled else json.dumps(value, allow_nan=False)


def _spell(value):
    if isinstance(value, _Number):
        return value.text
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (json.dumps(str(key)), _spell(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(_spell(item) for item in value)
    return json.dumps(value, allow_nan=False)


def _write(descriptor, text):
    data = (text + "\n").encode()
    while data:
        data = data[os.write(descriptor, data) :]
