import { RuntimeError } from '../../../base/errors.ts';
import type { RunRecord, Store } from '../../../store/store.ts';

/** A run that is no step of another. Throws USAGE for one that is, which goes on and ends with that one; RUN_UNKNOWN, STORE_FAILED. */
export async function requireOutermost(
  store: Store,
  id: string,
  what: 'resume' | 'retry' | 'cancel',
): Promise<RunRecord> {
  const run = await requireRun(store, id);
  const { parent } = run;
  if (parent === undefined) return run;
  const message = `run ${id} is the step "${parent.step}" of run ${parent.root}, and goes on and ends with it`;
  throw new RuntimeError('USAGE', message, { hint: `Run \`signalbox runs ${what} ${parent.root}\`.` });
}

/** Throws RUN_UNKNOWN, STORE_FAILED. */
export async function requireRun(store: Store, id: string): Promise<RunRecord> {
  // A caller without types may hand in anything.
  const run = typeof id === 'string' ? await store.findRun(id) : undefined;
  if (run !== undefined) return run;
  throw new RuntimeError('RUN_UNKNOWN', `there is no run "${id}" in ${store.location}`);
}
