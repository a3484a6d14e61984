import { type RuntimeError, toFault } from '../base/errors.ts';
import { Json } from '../base/json/json.ts';
import { type Answer, answers } from '../contract/hook.ts';
import { type Decoded, decoded, type Note } from './dialect.ts';
import type { HookEntry } from './foreign-dialect.ts';

/** A rule of a foreign system by which a failure passes. */
export interface FailureRule {
  /** The rule's id, the dialect's name and the cause: `<dialect>.timeout`. */
  readonly cause: string;
  /** What the hook did, as the end of a sentence: `exited with code 1`. What quotes the hook comes with an `error`. */
  readonly what: string;
  readonly error?: RuntimeError | undefined;
}

/**
 * The answer for a failure that the foreign system lets pass: an allow with `failed_open` in its metadata and
 * a warning, or, with `on_failure: deny`, a denial with `failed_closed` that names the hook and the rule.
 */
export function failOpen(
  entry: Pick<HookEntry<unknown>, 'name' | 'onFailure'>,
  { cause, what, error }: FailureRule,
  options: {
    readonly notes?: readonly Note[];
    readonly answer?: Answer;
    /** False where the event cannot be denied, so that `on_failure: deny` has no effect. */
    readonly isClosable?: boolean;
  } = {},
): Decoded<Answer> {
  const { name: hook, onFailure } = entry;
  const { notes = [], isClosable = true } = options;
  if (onFailure === 'deny' && isClosable) {
    const fault = error === undefined ? {} : { error: toFault(error) };
    const metadata = Json.from({ failed_closed: { hook, cause } });
    return decoded(answers.deny(`hook "${hook}" ${what}`, { ...fault, metadata }), notes);
  }
  const advice = isClosable ? '; `on_failure: deny` would stop it' : '';
  const message = `it ${what}, and the event passes by the rule ${cause}${advice}`;
  const metadata = Json.from({ failed_open: { hook, cause } });
  const answer = options.answer === undefined ? answers.allow({ metadata }) : { ...options.answer, metadata };
  return decoded(answer, [...notes, { level: 'warn', message }]);
}
