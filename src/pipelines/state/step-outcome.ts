import { type Fault, toFault } from '../../base/errors.ts';
import { composeJson } from '../../base/json/compose.ts';
import { Json } from '../../base/json/json.ts';
import { exactObject, ifPresent, object } from '../../base/json/record.ts';
import { exactMembers } from '../../base/json/scan.ts';
import { number, oneOf, optional, text } from '../../base/json/shape.ts';
import type { StepDocument } from '../../contract/run.ts';
import type { RunRecord, StepRecord } from '../../store/store.ts';
import { type TransientFault, transientFault } from '../suspend/transient-fault.ts';
import { fault, type RecordKind, readRecord } from './record.ts';

type StepStatus = 'ok' | 'failed' | 'denied' | 'skipped';

export interface StepOutcome {
  readonly status: StepStatus;
  /** The value of `steps.ID` in expressions: `status`, members of its kind, and `error` unless it succeeded. */
  readonly view: Json;
  readonly error?: Fault;
  /** The path of the nested step that made this one fail. */
  readonly failedAt?: string;
  /** Present if only a transient fault made the step fail. */
  readonly transient?: TransientFault | undefined;
}

export interface StepEntry extends StepOutcome {
  readonly kind: StepDocument['kind'];
  readonly durationMs: number;
}

export function okStep(members: Readonly<Record<string, unknown>>): StepOutcome {
  return { status: 'ok', view: composeJson({ status: 'ok', ...members }) };
}

export const skippedStep: StepOutcome = { status: 'skipped', view: new Json('{"status":"skipped"}') };

export function failedStep(
  status: 'failed' | 'denied',
  error: Fault,
  members: Readonly<Record<string, unknown>> = {},
): StepOutcome {
  // Omits the details: stderr of a process has passed no filter.
  const { code, message, hint } = error;
  const bare = { code, message, hint };
  return { status, view: composeJson({ status, ...members, error: bare }), error: bare };
}

export function failedStepFromError(thrown: unknown): StepOutcome {
  const error = toFault(thrown);
  return failedStep(error.code === 'DENIED' ? 'denied' : 'failed', error);
}

/** Returns the first failed or denied outcome, else ok. */
export function combineOutcomes(
  outcomes: readonly StepOutcome[],
  members: Readonly<Record<string, unknown>>,
): StepOutcome {
  const failures = outcomes.filter(({ status }) => status === 'failed' || status === 'denied');
  const [first] = failures;
  if (first?.error === undefined) return okStep(members);
  const outcome = failedStep(first.status === 'denied' ? 'denied' : 'failed', first.error, members);
  const isTransient = failures.every(({ transient }) => transient !== undefined);
  return {
    ...outcome,
    ...(first.failedAt !== undefined && { failedAt: first.failedAt }),
    ...(isTransient && { transient: first.transient }),
  };
}

const entry = object({
  kind: oneOf('tool', 'eval', 'chat', 'parallel', 'steps', 'for_each', 'while', 'wait', 'ask', 'pipeline'),
  duration_ms: number,
  status: oneOf('ok', 'failed', 'denied', 'skipped'),
  view: exactObject,
  error: ifPresent(fault),
  failed_at: optional(text),
  transient: ifPresent(transientFault),
});

export const stepRecord: RecordKind<StepEntry> = {
  name: 'outcome',
  write: ({ kind, durationMs, status, view, error, failedAt, transient }) =>
    composeJson({ kind, duration_ms: durationMs, status, view, error, failed_at: failedAt, transient }),
  read: (json, at) => {
    const { duration_ms: durationMs, failed_at: failedAt, ...members } = entry(json, at);
    const { status, error } = members;
    // A failure without an error must not count as a success.
    if ((status === 'failed' || status === 'denied') && error === undefined)
      throw new Error('"error" is missing');
    return { ...members, durationMs, ...(failedAt !== undefined && { failedAt }) };
  },
};

/**
 * Returns undefined if the entry is not a step. Throws STORE_FAILED if it is unreadable, unless the run was cancelled.
 */
export function stepEntryOf(
  { id, status }: Pick<RunRecord, 'id' | 'status'>,
  { step, outcome }: StepRecord,
): StepEntry | undefined {
  if (outcome?.skeleton.startsWith('{') !== true || !exactMembers(outcome).has('kind')) return undefined;
  try {
    return readRecord(stepRecord, outcome, { run: id, step });
  } catch (error) {
    if (status === 'cancelled') return undefined;
    throw error;
  }
}
