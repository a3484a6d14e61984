import { type Fault, RuntimeError } from '../../base/errors.ts';
import type { RunChange, RunRecord } from '../../store/store.ts';
import type { TransientFault } from './transient-fault.ts';

export type RunPause =
  | {
      readonly status: 'pending' | 'waiting';
      /** The end of the wait, in ms since 1970. */
      readonly until: number | undefined;
    }
  | FaultPause;

export interface FaultPause {
  readonly status: 'suspended';
  readonly error: Fault;
  readonly transient: TransientFault;
}

/** The same fault again counts as a further try, with a longer pause. */
export function toSetDown(
  { id, parent, suspension: before }: Pick<RunRecord, 'id' | 'parent' | 'suspension'>,
  pause: RunPause,
  at: number,
): RunChange {
  if (pause.status !== 'suspended') return { status: pause.status, ...toWait(pause, at), at };
  const { error, transient } = pause;
  const isAgain = before?.why === 'fault' && before.step === transient.at;
  const tries = isAgain ? before.tries + 1 : 1;
  const pauseMs = Math.max(backOffMs(tries), Math.min(transient.retry_after_ms ?? 0, LONGEST_ASKED_MS));
  return {
    status: 'suspended',
    suspension: {
      ...{
        why: 'fault',
        since: isAgain ? before.since : at,
        tries,
        step: transient.at,
        waitsForCalls: false,
      },
      dueAt: at + pauseMs,
      error: {
        code: error.code,
        message: error.message,
        hint: `Continue with \`signalbox runs resume ${parent?.root ?? id}\`.`,
      },
    },
    at,
  };
}

function toWait({ status, until }: Extract<RunPause, { until: unknown }>, at: number) {
  if (until === undefined) return {};
  const suspension = { why: 'wait', since: at, dueAt: until, tries: 0, step: '', error: null } as const;
  return { suspension: { ...suspension, waitsForCalls: status === 'pending' } };
}

/** 30 s, 1 min, 2 min, … up to 15 min. */
function backOffMs(tries: number): number {
  return Math.min(30_000 * 2 ** Math.min(tries - 1, 20), 900_000);
}

/** The longest honored wait that an API asks for: one day. */
const LONGEST_ASKED_MS = 86_400_000;

/** A run fails after this many consecutive tries with the same fault, which take about a day. */
export const MOST_TRIES = 100;

/** RUN_BUSY: another process has continued the run. */
export function notDueError(id: string): RuntimeError {
  return new RuntimeError('RUN_BUSY', `run ${id} is no longer due: another process has resumed it`);
}
