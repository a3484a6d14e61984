/** What a process is told from outside. */
export interface Signals {
  /** Aborted by Ctrl-C, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  /** From now on SIGHUP calls the listener, and interrupts nothing. */
  readonly onHangup: (listener: () => void) => void;
}

/**
 * Makes an AbortSignal that Ctrl-C, SIGTERM or SIGHUP aborts, so that the command can stop its processes
 * gracefully; a second one, or Ctrl-\\ (SIGQUIT), exits with 130 at once.
 */
export function openSignals(): Signals {
  const controller = new AbortController();
  // The exit listener of the transport ends every process group that is left.
  const quit = () => process.exit(130);
  const interrupt = () => {
    if (controller.signal.aborted) quit();
    controller.abort();
  };
  let hangUp = interrupt;
  process.on('SIGQUIT', quit);
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt);
  process.on('SIGHUP', () => hangUp());
  return {
    signal: controller.signal,
    onHangup: (listener) => {
      hangUp = listener;
    },
  };
}
