import type { PicoclawSettings } from '../../config/foreign.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import { type RuntimeError, toFault } from '../../errors.ts';
import { Json } from '../../json/json.ts';
import { type Decoded, decoded, type Note } from '../dialect.ts';
import { failOpen } from '../failed-open.ts';
import type { Seat } from '../foreign.ts';
import { isActionPoint } from './points.ts';

/** Ways to fail that PicoClaw has a rule for. */
export type Cause = 'timeout' | 'rpc_error' | 'dead' | 'bad_result' | 'unknown_action' | 'no_action';

export interface HookFailure {
  readonly cause: Cause;
  /** What the hook did, as the end of a sentence. */
  readonly what: string;
  readonly error?: RuntimeError | undefined;
  readonly notes?: readonly Note[] | undefined;
  /** What passes, where that is more than the event as it was. */
  readonly answer?: Answer | undefined;
}

/**
 * What a failure of the hook means: an approver denies, any other lets pass unless `on_failure: deny`. A method
 * that only its pair turned on and that answers nothing is not implemented, which is no failure.
 * Source: PicoClaw's hook manager ignores such a reply and goes on.
 */
export function failed(seat: Seat<PicoclawSettings>, point: string, failure: HookFailure): Decoded<Answer> {
  const { cause, what, error, notes = [], answer } = failure;
  if (!isActionPoint(point)) return denied(seat, what, { error, notes });
  const isUnnamed = !seat.settings.intercept.includes(point);
  if (isUnnamed && (cause === 'timeout' || cause === 'rpc_error')) {
    const message = `it ${what}: it does not implement ${point}, which only its pair turned on`;
    const metadata = Json.from({ picoclaw: { not_implemented: point } });
    return decoded({ ...answers.allow({ metadata }), isUnheard: true }, [
      ...notes,
      { level: 'debug', message },
    ]);
  }
  const rule = { cause: `picoclaw.${cause}`, what, error };
  return failOpen(seat, rule, answer === undefined ? { notes } : { notes, answer });
}

/** A failure that no rule lets pass. */
export function denied(
  { name }: Pick<Seat<unknown>, 'name'>,
  what: string,
  { error, notes = [] }: Pick<HookFailure, 'error' | 'notes'> = {},
): Decoded<Answer> {
  const fault = error === undefined ? {} : { error: toFault(error) };
  return decoded(answers.deny(`hook "${name}" ${what}`, fault), notes);
}
