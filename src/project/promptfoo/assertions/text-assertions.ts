import { isObject } from '../../../json/json.ts';
import { asDraft07 } from '../../../yaml/ajv.ts';
import type { Check, FoundCheck, GivenAssertion } from './assertion-model.ts';

/** Assertions about the text alone, as built-in checks with the same verdict. */
export function textAssertion({ type, value, own }: GivenAssertion): FoundCheck {
  const limit = () => own.at('threshold').number() ?? (typeof value === 'number' ? value : undefined);
  switch (type) {
    case 'equals':
      if (isObject(value) || Array.isArray(value))
        return { type: 'json_path', params: { expression: '@', expected: value } };
      return { type: 'equals', params: { expected: textOf(value) } };
    case 'contains':
    case 'icontains':
      return withValue(value, () => found([textOf(value)], type === 'icontains', '|'));
    case 'contains-any':
    case 'icontains-any':
      return withList(value, (list) => found(list, type === 'icontains-any', '|'));
    case 'contains-all':
    case 'icontains-all':
      return withList(value, (list) => found(list, type === 'icontains-all', '&'));
    case 'starts-with':
      // Tables give it one, at which promptfoo does not look.
      own.at('threshold').number();
      return withValue(value, () => ({ type: 'starts_with', params: { expected: textOf(value) } }));
    case 'regex':
      return withValue(value, () => ({ type: 'regex', params: { pattern: textOf(value) } }));
    case 'is-json':
      return json(value, false);
    case 'contains-json':
      return isObject(value) ? json(value, true) : undefined;
    case 'rouge-n':
      return withValue(value, () => compared('rouge', value, limit() ?? 0.75));
    case 'cost':
      return withLimit(limit(), (max) => ({ type: 'cost_budget', params: { max_cost_usd: max } }));
    case 'latency':
      return withLimit(limit(), (max) => ({ type: 'latency_budget', params: { max_ms: max } }));
    default:
      return undefined;
  }
}

const noValue = { fault: 'an assertion that needs a value has none and is left out' };

function withLimit(limit: number | undefined, use: (limit: number) => Check): FoundCheck {
  return limit === undefined
    ? { fault: 'an assertion that needs a threshold has none and is left out' }
    : use(limit);
}

function withValue(value: unknown, use: () => Check): FoundCheck {
  const isText =
    (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'boolean';
  return isText ? use() : noValue;
}

function withList(value: unknown, use: (list: readonly string[]) => Check): FoundCheck {
  if (Array.isArray(value)) return value.length > 0 ? use(value.map(textOf)) : noValue;
  if (typeof value !== 'string' || value === '') return noValue;
  const list = splitList(value);
  return 'fault' in list ? list : use(list.values);
}

/** A text with commas as a list, as promptfoo splits it: a quoted part keeps its commas, `""` and `\\"` are quotes in it. */
export function splitList(text: string): { readonly values: readonly string[] } | { readonly fault: string } {
  const values: string[] = [];
  const part = /[\s,]*(?:"((?:\\["\\]|""|[^"\\]|\\(?!["\\]))*)"\s*(?:,|$)|([^\s,"][^,]*))/y;
  while (!/^[\s,]*$/.test(text.slice(part.lastIndex))) {
    const found = part.exec(text);
    if (found === null) return { fault: 'a list of texts whose quotes do not match is left out' };
    values.push(
      found[1]?.replaceAll(/\\(["\\])|""/g, (_, kept: string | undefined) => kept ?? '"') ??
        found[2]?.trim() ??
        '',
    );
  }
  return { values };
}

/** `contains` of Signalbox passes over case, and counts shares: a pattern says exactly what is meant. */
function found(texts: readonly string[], anyCase: boolean, how: '|' | '&'): Check {
  const patterns = texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const pattern =
    how === '|' ? patterns.join('|') : `^${patterns.map((each) => `(?=[\\s\\S]*${each})`).join('')}`;
  // An empty pattern is none, and every text holds the empty one.
  return {
    type: 'regex',
    params: { pattern: `${anyCase ? '(?i)' : ''}${pattern === '' ? '(?:)' : pattern}` },
  };
}

function json(value: unknown, isWithin: boolean): FoundCheck {
  const extract = isWithin ? { extract_json: true } : {};
  if (value === undefined || value === null || value === '') return { type: 'json_valid', params: extract };
  if (isObject(value)) return { type: 'json_schema', params: { schema: asDraft07(value), ...extract } };
  return { fault: 'a schema that is no mapping is left out' };
}

function compared(type: 'rouge', value: unknown, least: number): Check {
  return { type, params: { expected: textOf(value) }, threshold: { min_score: least } };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : String(value);
}
