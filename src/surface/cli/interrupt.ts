/**
 * A signal that Ctrl-C, SIGTERM or SIGHUP aborts. The first one lets the command end its processes in peace;
 * a second one, or Ctrl-\\ (SIGQUIT), ends everything at once.
 */
export function interruption(): AbortSignal {
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
