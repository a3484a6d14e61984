import { RuntimeError } from '../base/errors.ts';
import { trackWork } from '../base/time/async.ts';
import { drain, startDeadline } from '../base/time/deadline.ts';
import type { TraceContext } from '../contract/trace.ts';
import type { Binding } from './binding.ts';
import type { CollectedOutput } from './in-flight-bytes.ts';
import { type ProcessContext, startProcess, type WatchedProcess } from './process.ts';
import { withStderr } from './stderr.ts';
import type { Message, ProcessReply, Transport } from './transport.ts';

type StartWith = (binding: Binding, input: Uint8Array, start: StartLimits) => Promise<WatchedProcess>;

interface StartLimits {
  /** Once aborted, nothing more may start. */
  readonly over: AbortSignal;
  readonly requireStart: Message['requireStart'];
}

export function onlyIf(requireStart: Message['requireStart'], context: ProcessContext): ProcessContext {
  if (requireStart === undefined) return context;
  const launch: ProcessContext['launch'] = async (request, watch) => {
    requireStart();
    return await context.launch(request, watch);
  };
  return { ...context, launch };
}

/** Runs one process per exchange: the request is its stdin, the reply its stdout. Has no `notify`. */
export function openOneshot(
  binding: Binding,
  context: ProcessContext,
  start: StartWith = (forCall, input, { requireStart }) =>
    startProcess(forCall, onlyIf(requireStart, context), input),
): Transport {
  const closing = new AbortController();
  const work = trackWork();
  return {
    exchange: async (message, signal) => {
      if (closing.signal.aborted) throw closedError(binding.name);
      const either = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
      const exchange = runOnce(forMessage(binding, message), start, {
        message,
        signal: either,
        track: work.add,
      });
      work.add(exchange);
      return await exchange;
    },
    warm: () => {},
    close: async () => {
      closing.abort(closedError(binding.name));
      await work.ended();
    },
  };
}

export function closedError(name: string): RuntimeError {
  return new RuntimeError('RUNTIME_CLOSED', `"${name}" cannot be called: the runtime is closed`);
}

export function unansweredError(name: string): RuntimeError {
  return new RuntimeError('RUNTIME_CLOSED', `"${name}" had not answered when the runtime was closed`);
}

function forMessage(binding: Binding, { env, trace, timeoutMs = binding.timeoutMs }: Message): Binding {
  if (env === undefined && trace === undefined) return { ...binding, timeoutMs };
  const changes = { ...env, ...(trace && traceVariables(trace)) };
  const variables = Object.entries({ ...binding.env, ...changes }).filter(hasValue);
  return { ...binding, timeoutMs, env: Object.fromEntries(variables) };
}

/** Source: OpenTelemetry, environment variables as context propagation carriers. */
function traceVariables({ traceparent, tracestate }: TraceContext) {
  // A `tracestate` of this process belongs to another trace.
  return { TRACEPARENT: traceparent, TRACESTATE: tracestate };
}

function hasValue(variable: [string, string | undefined]): variable is [string, string] {
  return variable[1] !== undefined;
}

/** Runs one exchange. Whatever its outcome, `track` receives the work that ends the process group. */
async function runOnce(
  binding: Binding,
  start: StartWith,
  { message, signal, track }: RunOptions,
): Promise<ProcessReply> {
  const { name, timeoutMs, maxOutputBytes } = binding;
  const { body, terminator = '\n', requireStart } = message;
  const deadline = startDeadline({ name, timeoutMs, signal });
  const over = new AbortController();
  const starting = start(binding, Buffer.from(body + terminator), { over: over.signal, requireStart });
  let child: WatchedProcess | undefined;
  let stdout: CollectedOutput | undefined;
  try {
    child = await Promise.race([starting, deadline.expired]);
    stdout = child.collect({ maxBytes: maxOutputBytes, onPause: deadline.setPaused });
    const reply = await Promise.race([takeReply(binding, child, stdout), deadline.expired]);
    track(releaseProcess(binding, child));
    return reply;
  } catch (error) {
    // The caller gets its error now; SIGTERM, grace and SIGKILL follow in the background.
    over.abort();
    const terminate = async (started: WatchedProcess) => {
      await started.terminate();
      started.release();
    };
    track(starting.then(terminate, () => {}));
    const isTimeout = error instanceof RuntimeError && error.code === 'PROCESS_TIMEOUT';
    const isProcessFault = isTimeout || (error instanceof RuntimeError && error.code === 'OUTPUT_LIMIT');
    if (child === undefined || !isProcessFault) throw error;
    // A limit may keep the process from continuing, so it takes precedence over the timeout.
    const fault = child.limitFault(undefined);
    if (fault !== undefined && isTimeout) throw fault;
    const described = withStderr(error, child.stderr());
    throw isTimeout ? withHint(described, lateExitHint(stdout?.length() ?? 0)) : described;
  } finally {
    stdout?.release();
    deadline.clear();
  }
}

interface RunOptions {
  readonly message: Message;
  readonly signal: AbortSignal;
  readonly track: (work: Promise<unknown>) => void;
}

async function takeReply(
  binding: Binding,
  child: WatchedProcess,
  stdout: CollectedOutput,
): Promise<ProcessReply> {
  const ended = await Promise.race([child.ended, stdout.overflowed.then(() => undefined)]);
  if (ended === undefined) throw outputLimitError(binding);
  // A grandchild may hold the pipes open for any time. Only a failure waits for stderr.
  const isFailed = ended.exitCode !== 0;
  if (!stdout.isDone() || (isFailed && !child.isStderrClosed())) {
    const outputs = isFailed ? Promise.all([stdout.done, child.stderrClosed]) : stdout.done;
    const isRead = Promise.race([outputs, stdout.overflowed]);
    do {
      await Promise.race([isRead, stdout.flowing()]);
      await drain(isRead, binding.drainMs);
      // An output that waits for room is not lost.
    } while (stdout.isPaused() && !stdout.isDone());
  }
  const bytes = stdout.bytes();
  const fault = child.limitFault(ended, bytes?.length) ?? (isFailed ? child.startFault() : undefined);
  if (fault !== undefined) throw fault;
  if (bytes === undefined) throw outputLimitError(binding);
  const reply = { via: 'process', ...ended, stdout: bytes, stderr: child.stderr() } as const;
  if (!isFailed || binding.sandbox === null) return reply;
  const { markSandbox } = await import('./sandbox/launch.ts');
  return { ...reply, sandbox: markSandbox(binding.sandbox, reply) };
}

/** Waits up to `drainMs` for the rest of stderr. */
async function releaseProcess(binding: Binding, child: WatchedProcess): Promise<void> {
  if (binding.leftovers === 'kill') child.killGroup();
  if (!child.isStderrClosed()) await drain(child.stderrClosed, binding.drainMs);
  child.release();
}

function outputLimitError(binding: Binding): RuntimeError {
  return new RuntimeError(
    'OUTPUT_LIMIT',
    `"${binding.name}" wrote more than ${binding.maxOutputBytes} bytes to stdout`,
  );
}

export function withHint(error: RuntimeError, hint: string | undefined): RuntimeError {
  const { code, message, details, cause } = error;
  return hint === undefined ? error : new RuntimeError(code, message, { hint, details, cause });
}

interface ServerOutput {
  readonly hasNoise: boolean;
  readonly hasNoOutput: boolean;
  readonly isServerOnly: boolean;
}

export function noReplyHint({ hasNoise, hasNoOutput, isServerOnly }: ServerOutput): string | undefined {
  if (hasNoise) {
    return 'In the meantime the process wrote lines that are not JSON objects. A reply must be one line, and logs belong on stderr.';
  }
  if (!hasNoOutput) return undefined;
  const flushes =
    'It has written nothing to stdout since it started: if it is not just slow, it must flush each reply (Python: `print(…, flush=True)`)';
  return isServerOnly
    ? `${flushes}, and must not wait for the end of stdin.`
    : `${flushes}. A script that reads stdin to its end serves one call: remove \`runtime: server\` for it.`;
}

/** The hint for a server that exits with 0 without a reply: it is probably a one-shot script. */
export const oneshotHint =
  'It ended without an answer. A server answers lines until its stdin ends; remove `runtime: server` for a script that serves one call.';

function lateExitHint(bytes: number): string | undefined {
  if (bytes === 0) return undefined;
  return `It had written ${bytes} bytes to stdout and did not end: the reply of a one-shot process is complete when it exits. Set \`runtime: server\` for a process that keeps running.`;
}
