/**
 * Calls back once the signal is aborted; the returned function stops that. However many wait on one signal, it has one
 * listener: Node searches all listeners to take one away.
 */
export function whenAborted(signal: AbortSignal, onAbort: () => void): () => void {
  const waiting = waitingOn.get(signal) ?? listenTo(signal);
  const entry = { onAbort };
  waiting.entries.add(entry);
  return () => {
    if (!waiting.entries.delete(entry) || waiting.entries.size > 0) return;
    waitingOn.delete(signal);
    signal.removeEventListener('abort', waiting.listener);
  };
}

interface Waiting {
  readonly entries: Set<{ readonly onAbort: () => void }>;
  readonly listener: () => void;
}

const waitingOn = new WeakMap<AbortSignal, Waiting>();

function listenTo(signal: AbortSignal): Waiting {
  const entries: Waiting['entries'] = new Set();
  const listener = () => {
    waitingOn.delete(signal);
    // Not a copy: what an earlier one stops is not called.
    for (const entry of entries) {
      entries.delete(entry);
      entry.onAbort();
    }
  };
  const waiting = { entries, listener };
  waitingOn.set(signal, waiting);
  signal.addEventListener('abort', listener, { once: true });
  return waiting;
}
