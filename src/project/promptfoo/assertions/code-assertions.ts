import { omitUndefined } from '../../../yaml/present.ts';
import { type Code, javascriptEndings, readCode } from '../code.ts';
import type { AssertionContext, Check, FoundCheck, GivenAssertion } from './assertion-model.ts';

/** The names of the evals of the runtime that run code. */
export const codeEvals = { javascript: 'promptfoo-javascript', python: 'promptfoo-python' } as const;

const noValue = { fault: 'an assertion that needs a value has none and is left out' };

/** Assertions in JavaScript and Python, and the one about edits, which needs a count that no check gives. */
export function codeAssertion(given: GivenAssertion, context: AssertionContext): FoundCheck {
  const { type, value, own } = given;
  const isBareJson = type === 'contains-json' && (value === undefined || value === null || value === '');
  if (type === 'levenshtein' || type === 'bleu' || isBareJson) return changedAssertion(given, []);
  if (type !== 'javascript' && type !== 'python') return undefined;
  if (typeof value !== 'string' || value === '')
    return { fault: `a ${type} assertion without code is left out` };
  if (type === 'python' && given.transforms.length > 0)
    return { fault: 'a python assertion about what JavaScript has changed first is left out' };
  const source = readCode(value, context.files, type === 'python' ? ['py'] : javascriptEndings);
  if ('fault' in source) return source;
  const params = {
    ...source,
    ...omitUndefined({ threshold: own.at('threshold').number(), config: own.at('config').whole() }),
    ...(given.transforms.length > 0 && { transforms: given.transforms }),
    ...(context.isAggregated && type === 'javascript' && { scored: true, inverse: given.isInverse }),
  };
  return { type: codeEvals[type], params };
}

/** Assertions about the text that code makes of the answer, which no built-in check could see. */
export function changedAssertion(
  { type, value, own }: GivenAssertion,
  transforms: readonly Code[],
): FoundCheck {
  if (!changeable.includes(type)) return undefined;
  if (type === 'is-json')
    return value === undefined
      ? plain(type, {}, transforms)
      : { fault: 'a schema of what code has changed is left out' };
  if (type === 'contains-json')
    return value === undefined || value === null || value === ''
      ? plain(type, {}, transforms)
      : { fault: 'a schema of what code has changed is left out' };
  if (value === undefined || value === null || value === '') return noValue;
  if (type === 'bleu')
    return typeof value === 'string' ||
      (Array.isArray(value) && value.every((each) => typeof each === 'string'))
      ? {
          ...plain(type, { value }, transforms),
          threshold: { min_score: own.at('threshold').number() ?? 0.5 },
        }
      : noValue;
  if (type === 'levenshtein')
    return typeof value === 'string'
      ? plain(type, { value, threshold: own.at('threshold').number() ?? 5 }, transforms)
      : noValue;
  return plain(type, { value }, transforms);
}

function plain(
  kind: string,
  params: Readonly<Record<string, unknown>>,
  transforms: readonly Code[],
): Extract<Check, { readonly type: string }> {
  const more = transforms.length > 0 ? { transforms } : {};
  return { type: codeEvals.javascript, params: { kind, ...params, ...more } };
}

const changeable = [
  'levenshtein',
  'equals',
  'contains',
  'icontains',
  'contains-any',
  'contains-all',
  'icontains-any',
  'icontains-all',
  'starts-with',
  'regex',
  'is-json',
  'contains-json',
  'bleu',
];
