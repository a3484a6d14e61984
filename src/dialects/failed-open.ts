import { type Answer, answers } from '../contract/hook.ts';
import { type RuntimeError, toFault } from '../errors.ts';
import { Json } from '../json/json.ts';
import { type Decoded, decoded, type Note } from './dialect.ts';
import type { Seat } from './foreign.ts';

/** A rule of a foreign system by which a failure passes. */
export interface FailureRule {
  /** The rule's id, as in `claude.timeout`. */
  readonly cause: string;
  /** What the hook did, as the end of a sentence: `exited with code 1`. */
  readonly what: string;
  readonly error?: RuntimeError | undefined;
}

/**
 * What a failure means where the foreign system lets it pass: an allow that says so, or with `on_failure: deny` a
 * denial that names the hook and the rule. Either way there is a warning.
 */
export function failOpen(
  seat: Pick<Seat<unknown>, 'name' | 'onFailure'>,
  { cause, what, error }: FailureRule,
  beside: {
    readonly notes?: readonly Note[];
    readonly answer?: Answer;
    /** False where there is nothing to deny. */
    readonly isClosable?: boolean;
  } = {},
): Decoded<Answer> {
  const { name: hook, onFailure } = seat;
  const { notes = [], isClosable = true } = beside;
  if (onFailure === 'deny' && isClosable) {
    const fault = error === undefined ? {} : { error: toFault(error) };
    const metadata = Json.from({ failed_closed: { hook, cause } });
    return decoded(answers.deny(`hook "${hook}" ${what}`, { ...fault, metadata }), notes);
  }
  const advice = isClosable ? '; `on_failure: deny` would stop it' : '';
  const message = `it ${what}, and the event passes by the rule ${cause}${advice}`;
  const metadata = Json.from({ failed_open: { hook, cause } });
  const answer = beside.answer === undefined ? answers.allow({ metadata }) : { ...beside.answer, metadata };
  return decoded(answer, [...notes, { level: 'warn', message }]);
}
