/**
 * A signal that Ctrl-C, SIGTERM or SIGHUP aborts. The first one lets the command end its processes in peace;
 * a second one ends everything at once.
 */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => {
    // The exit listener of the transport ends every process group that is left.
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, interrupt);
  return controller.signal;
}
