/**
 * Calls `end` when this process is told to stop, and lets go of the signals with what it returns. Vitest's workers
 * otherwise die of a signal on the spot, and what they have started would live on.
 */
export function onStop(end: () => void): () => void {
  const stop = (): void => {
    end();
    // Vitest then ends its worker as when its main process has died: by an exit that is listened to.
    if (process.connected) process.disconnect();
  };
  for (const name of stopSignals) process.on(name, stop);
  return () => {
    for (const name of stopSignals) process.off(name, stop);
  };
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
