import { isObject, stringifyJson } from '../../../json/json.ts';
import { type EvalWeighting, toCaseRecord } from '../../../suite/case/case-record.ts';
import { keepRow } from '../../../suite/case/kept-row.ts';
import type { CaseRecord, EpochRecord, EvalResult } from '../../../suite/run/record.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** A result with the number of its case. */
export interface NumberedResult {
  readonly number: number;
  readonly value: Mapping;
}

/** What one assertion came to, under the id that an import of the config gives its eval. */
export interface ImportedResult {
  readonly id: string;
  readonly type: string;
  readonly weight: number;
  readonly result: EvalResult;
}

/** Beside an answer without assertions stands the eval that an import of the config writes for it. */
export function assertionsOf(value: Mapping): readonly ImportedResult[] {
  const grading = isObject(value['gradingResult']) ? value['gradingResult'] : {};
  const components: readonly unknown[] = Array.isArray(grading['componentResults'])
    ? grading['componentResults']
    : [];
  const seen = new Map<string, number>();
  const found = components.flatMap((each) => {
    if (!isObject(each)) return [];
    const assertion = isObject(each['assertion']) ? each['assertion'] : {};
    const type = textOf(assertion['type']) ?? 'assert-set';
    const name = nameOf(textOf(assertion['metric']) ?? type);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const id = count === 1 ? name : `${name}-${count}`;
    const weight = assertion['weight'];
    return [
      {
        id,
        type,
        weight: typeof weight === 'number' && weight >= 0 ? weight : 1,
        result: toResult(id, type, each),
      },
    ];
  });
  if (found.length > 0 || answerOf(value) === undefined) return found;
  const passed = value['success'] === true;
  const result = { ...plain, eval: 'answered', score: passed ? 1 : 0, passed, detail: '' };
  return [{ id: 'answered', type: 'regex', weight: 1, result }];
}

/** As the id of an eval is written. */
export function nameOf(name: string): string {
  // A name that begins with two underscores could be one that an object has already.
  return name.slice(0, 100).replaceAll(/[^\p{L}\p{N}_ .-]|^_+/gu, '-');
}

const plain = { threshold: { min_score: 1 }, duration_ms: 0, attempts: 1 };

function toResult(id: string, type: string, component: Mapping): EvalResult {
  const passed = component['pass'] === true;
  const own = component['score'];
  const isCode = /^(?:not-)?(?:javascript|python)$/.test(type);
  const score = isCode || typeof own !== 'number' ? Number(passed) : Math.min(1, Math.max(0, own));
  return { ...plain, eval: id, score, passed, detail: textOf(component['reason']) ?? '' };
}

/** The record of one case of a run. */
export function recordOf(
  { number, value }: NumberedResult,
  results: readonly ImportedResult[],
  { evals, file }: { readonly evals: readonly EvalWeighting[]; readonly file: string },
): CaseRecord {
  const test = isObject(value['testCase']) ? value['testCase'] : {};
  const answer = answerOf(value);
  const latency = value['latencyMs'];
  const limit = test['threshold'];
  const epoch: EpochRecord = {
    epoch: 1,
    content: answer ?? '',
    messages: messagesOf(value, answer),
    tool_calls: [],
    metadata: metadataOf(value),
    ...(typeof limit === 'number' && { threshold: { min_score: limit } }),
    subject: {
      status: answer === undefined ? 'failed' : 'ok',
      duration_ms: typeof latency === 'number' ? latency : 0,
      cached: isObject(value['response']) && value['response']['cached'] === true,
      attempts: 1,
      ...(answer === undefined && {
        error: { code: 'PROVIDER_FAILED', message: errorOf(value), hint: 'The message is promptfoo’s own.' },
      }),
    },
    results: results.map(({ result }) => result),
  };
  const row = { number, file, line: 1 };
  const vars = value['vars'];
  const kept = isObject(vars) ? keepRow(vars) : undefined;
  return toCaseRecord(evals, { row, id: String(number), tags: [], epochs: [epoch], kept });
}

/** Undefined where nothing was answered. */
function answerOf(value: Mapping): string | undefined {
  const response = value['response'];
  if (!isObject(response) || response['output'] === undefined || response['output'] === null)
    return undefined;
  return textOf(response['output']) ?? stringifyJson(response['output']);
}

function errorOf(value: Mapping): string {
  const response = isObject(value['response']) ? value['response'] : {};
  return textOf(response['error']) ?? textOf(value['error']) ?? 'there is no answer';
}

function messagesOf({ prompt }: Mapping, answer: string | undefined): EpochRecord['messages'] {
  const raw = isObject(prompt) ? textOf(prompt['raw']) : undefined;
  const asked = raw === undefined ? [] : [{ role: 'user' as const, content: raw }];
  return answer === undefined ? asked : [...asked, { role: 'assistant' as const, content: answer }];
}

function metadataOf(value: Mapping): Mapping {
  const response = isObject(value['response']) ? value['response'] : {};
  const usage = isObject(response['tokenUsage']) ? response['tokenUsage'] : {};
  const known = {
    latency_ms: value['latencyMs'],
    cost_usd: value['cost'] ?? response['cost'],
    input_tokens: usage['prompt'],
    output_tokens: usage['completion'],
    total_tokens: usage['total'],
  };
  return Object.fromEntries(Object.entries(known).filter(([, each]) => typeof each === 'number'));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
