/**
 * Makes an AbortSignal that Ctrl-C, SIGTERM or SIGHUP aborts, so that the command can stop its processes
 * gracefully; a second one, or Ctrl-\\ (SIGQUIT), exits with 130 at once.
 */
export function openInterruptSignal(): AbortSignal {
  const controller = new AbortController();
  // The exit listener of the transport ends every process group that is left.
  const quit = () => process.exit(130);
  const interrupt = () => {
    if (controller.signal.aborted) quit();
    controller.abort();
  };
  process.on('SIGQUIT', quit);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, interrupt);
  return controller.signal;
}
