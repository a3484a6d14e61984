import { type Answer, answers } from '../../contract/hook.ts';
import { type RuntimeError, toFault } from '../../errors.ts';
import { Json } from '../../json/json.ts';
import { excerpt } from '../body.ts';
import { type Decoded, decoded, type Note } from '../dialect.ts';
import { failOpen } from '../failed-open.ts';
import type { HookEntry } from '../foreign-dialect.ts';
import type { PicoclawSettings } from './config/settings.ts';
import { isActionPoint } from './points.ts';

/** Ways to fail that PicoClaw has a rule for. */
export type FailureCause = 'timeout' | 'rpc_error' | 'dead' | 'bad_result' | 'unknown_action' | 'no_action';

export interface HookFailure {
  readonly cause: FailureCause;
  /** What the hook did, as the end of a sentence. What quotes the hook comes with an `error`. */
  readonly what: string;
  readonly error?: RuntimeError | undefined;
  readonly notes?: readonly Note[] | undefined;
  /** The answer that passes, where it is not a plain allow. */
  readonly answer?: Answer | undefined;
}

/**
 * The answer for a failure: an approver denies, any other passes unless `on_failure: deny`. A method
 * that only its pair turned on and that answers nothing is not implemented, which is no failure.
 * Source: PicoClaw's hook manager ignores such a reply and goes on.
 */
export function decodeFailure(
  entry: HookEntry<PicoclawSettings>,
  point: string,
  failure: HookFailure,
): Decoded<Answer> {
  const { cause, what, error, notes = [], answer } = failure;
  if (!isActionPoint(point)) return denyFailure(entry, what, { error, notes });
  const isOnlyPaired = !entry.settings.intercept.includes(point);
  if (isOnlyPaired && (cause === 'timeout' || cause === 'rpc_error')) {
    const message = `it ${what}: it does not implement ${point}, which only its pair turned on`;
    const metadata = Json.from({ picoclaw: { not_implemented: point } });
    return decoded({ ...answers.allow({ metadata }), isUnsubscribed: true }, [
      ...notes,
      { level: 'debug', message },
    ]);
  }
  const rule = { cause: `picoclaw.${cause}`, what, error };
  return failOpen(entry, rule, answer === undefined ? { notes } : { notes, answer });
}

/** A denial for a failure that no rule lets pass. */
export function denyFailure(
  { name }: Pick<HookEntry<unknown>, 'name'>,
  what: string,
  { error, notes = [] }: Pick<HookFailure, 'error' | 'notes'> = {},
): Decoded<Answer> {
  const fault = error === undefined ? {} : { error: toFault(error) };
  return decoded(answers.deny(`hook "${name}" ${what}`, fault), notes);
}

/** A denial that is written as the protocol does not write it, and counts; `denial` has no words but those of a verdict. */
export function denyAsWritten(
  { name }: Pick<HookEntry<unknown>, 'name'>,
  denial: string,
  notes: readonly Note[] = [],
): Decoded<Answer> {
  return decoded(answers.deny(`hook "${name}" denied with ${excerpt(denial)}`), notes);
}
