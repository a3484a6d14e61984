import { ifPresent, object } from '../../base/json/record.ts';
import { oneOf, text } from '../../base/json/shape.ts';
import { RunSuspended } from '../state/journal.ts';
import { fault, findRecord, journalStep, plainRecord } from '../state/record.ts';
import type { RunContext } from '../state/run-context.ts';
import { failedStep, type StepOutcome } from '../state/step-outcome.ts';
import { isSuspension } from '../state/suspension.ts';
import { transientFault } from '../suspend/transient-fault.ts';

/** What ends the other items of a loop, or branches of a parallel step, when one of them has failed. */
export interface FailFast {
  /** Aborted when one has failed. */
  readonly signal: AbortSignal;
  /** Whether one has failed, in this execution or before. */
  hasFailed(): boolean;
  /** Whether what was thrown comes of another one’s failure, and is none of its own. */
  isCutOff(thrown: unknown): boolean;
  /**
   * Notes an outcome, the first failure durably before anything is cut off: whoever goes on with the run knows that nothing
   * else is to be begun. Throws STORE_FAILED.
   */
  note(outcome: StepOutcome | undefined): Promise<void>;
  /** The outcome of the whole when one has failed, with these members of its view. */
  outcome(members: Readonly<Record<string, unknown>>): StepOutcome | undefined;
}

interface FailFastOptions {
  /** The path of the loop or parallel step. */
  readonly name: string;
  /** Whether a path stands inside it. */
  readonly isInside: (path: string) => boolean;
}

export function openFailFast(run: RunContext, { name, isInside }: FailFastOptions): FailFast {
  const place = { name: `${name}/cut`, kind: cutRecord };
  const cut = new AbortController();
  let first = findRecord(run.journal, place.name, cutRecord);
  let noting: Promise<void> | undefined;
  if (first !== undefined) cut.abort();
  const noteFirst = async ({ status, error, failedAt = name, transient }: StepOutcome) => {
    first = await journalStep(run.journal, place, async () => ({
      status: status === 'denied' ? ('denied' as const) : ('failed' as const),
      failed_at: failedAt,
      error: error ?? { code: 'INTERNAL' as const, message: '', hint: '' },
      ...(transient && { transient }),
    }));
    cut.abort();
    // Nobody is left to hear of these decisions.
    await run.journal.withdraw?.(isInside, `${failedAt} failed, which ends the others`);
  };
  return {
    signal: cut.signal,
    hasFailed: () => first !== undefined,
    isCutOff: (thrown) =>
      first !== undefined && (thrown instanceof RunSuspended || !isSuspension(run, thrown)),
    note: async (outcome) => {
      if (outcome?.status !== 'failed' && outcome?.status !== 'denied') return;
      noting ??= noteFirst(outcome);
      await noting;
    },
    outcome: (members) =>
      first && {
        ...failedStep(first.status, first.error, members),
        ...{ failedAt: first.failed_at, transient: first.transient },
      },
  };
}

/** The failure that ended the others. */
const cutRecord = plainRecord(
  'failure that ended the others',
  object({
    ...{ status: oneOf('failed', 'denied'), failed_at: text, error: fault },
    transient: ifPresent(transientFault),
  }),
);
