import { type Fault, RuntimeError, toFault } from '../../base/errors.ts';
import { findDuplicateKey } from '../../base/json/duplicate-key.ts';
import type { Json } from '../../base/json/json.ts';
import { tryJson } from '../../base/json/parse.ts';
import { shorten } from '../../base/text/phrases.ts';
import { compileSchema, type SchemaCheck } from '../../base/yaml/schema-check.ts';
import { completeMessage } from '../../calls/hooks/replace.ts';
import type { ChatStep } from '../file/pipeline.ts';
import type { TurnState } from './turn-state.ts';
import { roundsLeft } from './turn-state.ts';

export type ReadOutput =
  | { readonly object: Json }
  /** Each violation begins with the path of the value, unless it is the whole answer. */
  | { readonly violations: readonly string[] };

export function readOutput(text: string, schema: NonNullable<ChatStep['outputSchema']>): ReadOutput {
  const object = tryJson(withoutFence(text.trim()));
  if (object === undefined) return { violations: ['it is not JSON'] };
  const twice = findDuplicateKey(object.text);
  if (twice !== undefined) return { violations: [`${twice}: duplicate key`] };
  const violations = checkOf(schema)(object);
  return violations.length === 0 ? { object } : { violations };
}

/** Models without a JSON mode often put JSON into a code block. */
function withoutFence(text: string): string {
  if (!text.startsWith('```') || !text.endsWith('```')) return text;
  const start = text.indexOf('\n');
  return start < 0 ? text : text.slice(start, -3).trim();
}

const checks = new WeakMap<object, SchemaCheck>();

function checkOf(schema: NonNullable<ChatStep['outputSchema']>): SchemaCheck {
  const check = checks.get(schema) ?? compileSchema(schema);
  checks.set(schema, check);
  return check;
}

/** Requires rounds left and an answer of the model that was neither truncated nor withheld. */
export function isRepairable(state: TurnState): boolean {
  const { answer, isHandedBack } = state;
  const isWhole = !['max_output_tokens', 'safety', 'refusal'].includes(answer?.finish_reason ?? '');
  return isWhole && roundsLeft(state) > 0 && !isHandedBack;
}

export function askForRepair(state: TurnState, violations: readonly string[]): void {
  const complaints = violations.map((violation) => `- ${violation}`);
  const content = [
    'Your answer does not fit the JSON Schema that it has to fit. Answer again, with nothing but one JSON value that fits it.',
    ...complaints,
  ].join('\n');
  const feedback = completeMessage({ role: 'user', content });
  withholdLast(state).add(feedback);
  state.messages.push(feedback);
}

/** Withholds the answer except for its start. */
export function outputFault(
  { id, guardrails }: ChatStep,
  state: TurnState,
  violations: readonly string[],
): Fault {
  withholdLast(state);
  const { finish_reason: reason = '', message } = state.answer ?? {};
  const isCut = reason === 'max_output_tokens';
  // A guardrail that may withhold the answer has not judged it.
  const isJudged = guardrails.every(({ action }) => action === 'monitor');
  const text = (message?.content ?? '').replaceAll(/\s+/g, ' ').trim();
  const start = isJudged ? `; it starts with ${JSON.stringify(shorten(text, MAX_START))}` : '';
  const why = reason === 'stop' ? '' : ` (finish reason ${reason})`;
  const hint = isCut ? 'Raise max_tokens: the answer was cut off.' : undefined;
  return toFault(
    new RuntimeError(
      'OUTPUT_INVALID',
      `chat "${id}": the answer does not fit its output schema: ${violations.join('; ')}${why}${start}`,
      { hint },
    ),
  );
}

const MAX_START = 80;

function withholdLast({ answer, withheld }: TurnState): TurnState['withheld'] {
  return answer === undefined ? withheld : withheld.add(answer.message);
}
