import { stringifyJson } from '../../../json/json.ts';
import { type EvalWeighting, toCaseRecord } from '../../../suite/case/case-record.ts';
import { keepRow } from '../../../suite/case/kept-row.ts';
import type { CaseRecord, EpochRecord, EvalResult } from '../../../suite/run/record.ts';
import { omitUndefined } from '../../../yaml/present.ts';
import type { Source } from '../../../yaml/source.ts';

/** A result with the number of its case. */
export interface NumberedResult {
  readonly number: number;
  readonly row: Source;
}

/** What one assertion came to, under the id that an import of the config gives its eval. */
export interface ImportedResult {
  readonly id: string;
  readonly type: string;
  readonly weight: number;
  readonly result: EvalResult;
}

/** Beside an answer without assertions stands the eval that an import of the config writes for it. */
export function assertionsOf(row: Source): readonly ImportedResult[] {
  const seen = new Map<string, number>();
  const found = row
    .at('gradingResult')
    .at('componentResults')
    .items()
    .filter(({ kind }) => kind === 'mapping')
    .map((component) => {
      const assertion = component.at('assertion');
      const type = assertion.at('type').text() ?? 'assert-set';
      const name = nameOf(assertion.at('metric').text() ?? type);
      const count = (seen.get(name) ?? 0) + 1;
      seen.set(name, count);
      const id = count === 1 ? name : `${name}-${count}`;
      const weight = assertion.at('weight').number() ?? 1;
      if (weight < 0) assertion.at('weight').leave('a weight below 0 is not carried');
      return { id, type, weight: weight < 0 ? 1 : weight, result: toResult(id, type, component) };
    });
  if (found.length > 0 || answerOf(row) === undefined) return found;
  const passed = row.at('success').boolean() === true;
  const result = { ...plain, eval: 'answered', score: passed ? 1 : 0, passed, detail: '' };
  return [{ id: 'answered', type: 'regex', weight: 1, result }];
}

/** As the id of an eval is written. */
export function nameOf(name: string): string {
  // A name that begins with two underscores could be one that an object has already.
  return name.slice(0, 100).replaceAll(/[^\p{L}\p{N}_ .-]|^_+/gu, '-');
}

const plain = { threshold: { min_score: 1 }, duration_ms: 0, attempts: 1 };

function toResult(id: string, type: string, component: Source): EvalResult {
  const passed = component.at('pass').boolean() === true;
  // What code scores decides nothing there, unless its test has a threshold.
  const isCode = /^(?:not-)?(?:javascript|python)$/.test(type);
  const own = isCode ? undefined : component.at('score').number();
  if (own !== undefined && (own < 0 || own > 1))
    component
      .at('score')
      .note('warning', 'a score that is not from 0 to 1 is carried as the nearest that is');
  const score = own === undefined ? Number(passed) : Math.min(1, Math.max(0, own));
  return { ...plain, eval: id, score, passed, detail: component.at('reason').text() ?? '' };
}

/** The record of one case of a run. */
export function recordOf(
  { number, row: source }: NumberedResult,
  results: readonly ImportedResult[],
  { evals, file }: { readonly evals: readonly EvalWeighting[]; readonly file: string },
): CaseRecord {
  const answer = answerOf(source);
  const limit = source.at('testCase').at('threshold').number();
  const epoch: EpochRecord = {
    epoch: 1,
    content: answer ?? '',
    messages: messagesOf(source, answer),
    tool_calls: [],
    metadata: metadataOf(source),
    ...(limit !== undefined && { threshold: { min_score: limit } }),
    subject: {
      status: answer === undefined ? 'failed' : 'ok',
      duration_ms: source.at('latencyMs').number() ?? 0,
      cached: source.at('response').at('cached').boolean() === true,
      attempts: 1,
      ...(answer === undefined && {
        error: { code: 'PROVIDER_FAILED', message: errorOf(source), hint: 'The message is promptfoo’s own.' },
      }),
    },
    results: results.map(({ result }) => result),
  };
  const row = { number, file, line: 1 };
  const vars = source.at('vars').mapping();
  const kept = vars === undefined ? undefined : keepRow(vars);
  return toCaseRecord(evals, { row, id: String(number), tags: [], epochs: [epoch], kept });
}

/** Undefined where nothing was answered. */
function answerOf(row: Source): string | undefined {
  const output = row.at('response').at('output');
  return output.isGiven ? (output.text() ?? stringifyJson(output.whole())) : undefined;
}

function errorOf(row: Source): string {
  const [inner, outer] = [row.at('response').at('error').text(), row.at('error').text()];
  return inner ?? outer ?? 'there is no answer';
}

function messagesOf(row: Source, answer: string | undefined): EpochRecord['messages'] {
  const raw = row.at('prompt').at('raw').text();
  const asked = raw === undefined ? [] : [{ role: 'user' as const, content: raw }];
  return answer === undefined ? asked : [...asked, { role: 'assistant' as const, content: answer }];
}

function metadataOf(row: Source): Readonly<Record<string, unknown>> {
  const response = row.at('response');
  const usage = response.at('tokenUsage');
  return omitUndefined({
    latency_ms: row.at('latencyMs').number(),
    cost_usd: row.at('cost').number() ?? response.at('cost').number(),
    input_tokens: usage.at('prompt').number(),
    output_tokens: usage.at('completion').number(),
    total_tokens: usage.at('total').number(),
  });
}
