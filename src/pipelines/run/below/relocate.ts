import type { Emit, RuntimeEvent } from '../../../contract/event.ts';

/** Tells of a run as of a step of the one above it. */
export function relocate(
  emit: Emit,
  { from, to, step }: { readonly from: string; readonly to: string; readonly step: string },
): Emit {
  const tell = (event: RuntimeEvent) => {
    if (!('run' in event) || event.run !== from) emit(event);
    else if ('step' in event) emit({ ...event, run: to, step: `${step}/${event.step}` });
  };
  return Object.assign(tell, { hears: emit.hears });
}
