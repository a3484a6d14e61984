/**
 * Calls `end` on SIGINT, SIGTERM and SIGHUP; the returned function removes the listeners. Without it a
 * signal kills the worker of vitest at once, and the processes that it has started live on.
 */
export function onStop(end: () => void): () => void {
  const stop = (): void => {
    end();
    // Vitest then exits its worker as if its main process had died, so that exit listeners run.
    if (process.connected) process.disconnect();
  };
  for (const name of stopSignals) process.on(name, stop);
  return () => {
    for (const name of stopSignals) process.off(name, stop);
  };
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
