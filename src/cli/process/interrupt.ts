import { catalogue } from '../../base/errors.ts';
import { openOutputSink } from '../../base/files/output-sink.ts';

export interface Signals {
  readonly signal: AbortSignal;
  /** From this call on, SIGHUP calls the listener and interrupts nothing. */
  readonly onHangup: (listener: () => void) => void;
  /** Sets the time from the first signal to the exit with 130, in milliseconds. Default: 30 seconds. */
  readonly stopWithin: (ms: number) => void;
}

/** Ctrl-C, SIGTERM or SIGHUP aborts the signal; a second one, or Ctrl-\\ (SIGQUIT), exits with 130 at once. */
export function openSignals(): Signals {
  const controller = new AbortController();
  // The transport's exit listener kills the remaining process groups.
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

/** `npx` passes SIGTERM and SIGINT to the shell that starts this program. That shell ends without passing them on. */
function watchNpx(onGone: () => void): void {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = '' } = process.env;
  // Programs that something else under `npx` started may outlive it.
  if (event !== 'npx' || !/^["']?signalbox\b/.test(script)) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, PARENT_MS).unref();
}

const PARENT_MS = 200;

/** Kubernetes waits this long before SIGKILL; a clean exit takes far less. */
const STOP_MS = 30_000;
