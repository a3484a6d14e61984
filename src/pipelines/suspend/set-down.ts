import { type Fault, RuntimeError } from '../../base/errors.ts';
import type { RunChange, RunRecord } from '../../store/store.ts';
import type { TransientFault } from './transient-fault.ts';

/** Why a run goes no further for now, without having ended. */
export type RunPause =
  | {
      readonly status: 'pending' | 'waiting';
      /** When a `wait` in it is over; ms since 1970. */
      readonly until: number | undefined;
    }
  | FaultPause;

/** A fault that may be gone later is in its way. */
export interface FaultPause {
  readonly status: 'suspended';
  readonly error: Fault;
  readonly transient: TransientFault;
}

/** What is kept of a run that is set down. The same fault again counts as a further try, with a longer pause behind it. */
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
        hint: `Go on with \`signalbox runs resume ${parent?.root ?? id}\`.`,
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

/** What an API asks for is waited for up to a day. */
const LONGEST_ASKED_MS = 86_400_000;

/** So often in a row the same fault is met by those who go on with runs by themselves, which is about a day; then the run fails. */
export const MOST_TRIES = 100;

/** RUN_BUSY, of a run that somebody else has gone on with meanwhile. */
export function notDueError(id: string): RuntimeError {
  return new RuntimeError('RUN_BUSY', `run ${id} is not due any more: somebody else has gone on with it`);
}
