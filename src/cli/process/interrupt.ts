import { catalogue } from '../../base/errors.ts';
import { openOutputSink } from '../../base/files/output-sink.ts';

/** What a process is told from outside. */
export interface Signals {
  /** Aborted by Ctrl-C, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  /** From now on SIGHUP calls the listener, and interrupts nothing. */
  readonly onHangup: (listener: () => void) => void;
  /** From the first signal on the command may take so long, in milliseconds, by default 30 seconds; then this process exits with 130. */
  readonly stopWithin: (ms: number) => void;
}

/** A signal that Ctrl-C, SIGTERM or SIGHUP aborts; a second one, or Ctrl-\\ (SIGQUIT), exits with 130 at once. */
export function openSignals(): Signals {
  const controller = new AbortController();
  // The exit listener of the transport ends every process group that is left.
  const quit = () => process.exit(130);
  let stopMs = STOP_MS;
  let deadline: NodeJS.Timeout | undefined;
  const giveUp = () => {
    const { summary, hint } = catalogue.STOP_TIMEOUT;
    openOutputSink(2).write(`hint: ${hint}\nerror: [STOP_TIMEOUT] ${summary} (${stopMs} ms)\n`);
    quit();
  };
  const startDeadline = () => {
    clearTimeout(deadline);
    deadline = setTimeout(giveUp, stopMs).unref();
  };
  const interrupt = () => {
    if (controller.signal.aborted) quit();
    startDeadline();
    controller.abort();
  };
  let hangUp = interrupt;
  watchNpx(() => {
    if (!controller.signal.aborted) interrupt();
  });
  process.on('SIGQUIT', quit);
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt);
  process.on('SIGHUP', () => hangUp());
  return {
    signal: controller.signal,
    onHangup: (listener) => {
      hangUp = listener;
    },
    stopWithin: (ms) => {
      stopMs = ms;
      if (controller.signal.aborted) startDeadline();
    },
  };
}

/**
 * Calls the listener when `npx` is gone. It passes SIGTERM and SIGINT on to the shell in which it starts this program, and
 * that shell ends without passing them on.
 */
function watchNpx(onGone: () => void): void {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = '' } = process.env;
  // Programs that something else under `npx` has started may outlive it.
  if (event !== 'npx' || !/^["']?signalbox\b/.test(script)) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, PARENT_MS).unref();
}

const PARENT_MS = 200;

/** What a supervisor waits before it kills, at Kubernetes: what ends in peace does so in far less. */
const STOP_MS = 30_000;
