import type { Emit, RunEvent } from '../../contract/event.ts';

/** Tells the listener of a run what is told of it. */
export function emitBoth(emit: Emit, onEvent: (event: RunEvent) => void): Emit {
  return (event) => {
    emit(event);
    if ('run' in event) onEvent(event);
  };
}
