import { type RuntimeError, toFault } from '../base/errors.ts';
import { Json } from '../base/json/json.ts';
import { type Answer, answers } from '../contract/hook.ts';
import { type Decoded, decoded, type Note } from './dialect.ts';
import type { HookEntry } from './foreign-dialect.ts';

export interface FailureRule {
  /** The rule's id, from the dialect's name and the cause: `<dialect>.timeout`. */
  readonly cause: string;
  /**
   * The hook's failure, as the end of a sentence: `exited with code 1`. A text that quotes the hook comes with an
   * `error`.
   */
  readonly what: string;
  readonly error?: RuntimeError | undefined;
}

/**
 * The answer for a failure that the foreign system lets pass: an allow with `failed_open` in its metadata and a
 * warning. With `on_failure: deny` it is a denial with `failed_closed`, which names the hook and the rule.
 */
export function failOpen(
  entry: Pick<HookEntry<unknown>, 'name' | 'onFailure'>,
  { cause, what, error }: FailureRule,
  options: {
    readonly notes?: readonly Note[];
    readonly answer?: Answer;
    /** False if the event cannot be denied, so that `on_failure: deny` has no effect. */
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
