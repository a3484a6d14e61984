import { omitUndefined } from '../../../src/base/yaml/wording.ts';
import { type EvalOutcome, scored, unscored } from '../../../src/contract/eval.ts';
import type { CaseRecord, SuiteReport } from '../../../src/suites/record.ts';
import { toHeader } from '../../../src/suites/run/keep-run.ts';
import { type Answer, emptyOutput, type SubjectRunner } from '../../../src/suites/subject/adapter.ts';
import type { SuiteOptions } from '../../../src/suites/suite-run.ts';
import { judge, loadSpec, run, toLines } from '../support.ts';

/** A variant's answer to a row: a score, a fault, or no score. */
type Reply = number | 'fault' | 'unscored';

type Row = Readonly<Record<string, unknown>>;

type Rows = readonly Readonly<Record<string, Reply>>[];

/** A suite of variants `a`, `b`, …; each replies with the row's member of its name. */
export function loadMatrix(rows: Rows, { spec = '', content = '${subject.text}' } = {}) {
  const names = Object.keys(rows[0] ?? {});
  return loadSpec(
    `
dataset: {path: rows.jsonl}
subject: {chat: {provider: [${names.join(', ')}], messages: '\${case.text}'}}
case: {id: '\${case.id}', content: '${content}'}
evals: [{id: good, type: by_answer, threshold: {min_score: 0.5}}]
${spec}`,
    toLines(rows.map((row, index) => ({ id: `r${index + 1}`, text: 'Hello.', ...row }))),
  );
}

export async function runMatrix(
  rows: Rows,
  { spec, content, ...options }: Partial<SuiteOptions> & { spec?: string; content?: string } = {},
) {
  const suite = loadMatrix(rows, omitUndefined({ spec, content }));
  const records: CaseRecord[] = [];
  const header = toHeader(suite, 'demo-run', new Date(0), rows.length);
  const report = await run(suite, {
    header,
    ...judging(Object.keys(rows[0] ?? {})),
    reporter: {
      begin: async () => {},
      onCase: async (record) => void records.push(record),
      onProblem: async () => {},
      end: async () => {},
    },
    ...options,
  });
  return { suite, header, report, records };
}

export function judging(names: readonly string[]): Pick<SuiteOptions, 'variants' | 'score'> {
  return {
    variants: new Map(names.map((name) => [name, replying(name)])),
    score: async (evaluation) => judge(evaluation, toOutcome(evaluation.request.content)),
  };
}

export function replying(name: string): SubjectRunner {
  return { answer: async ({ scope: { case: row } }) => toAnswer((row as Row)[name]) };
}

function toAnswer(reply: unknown): Answer {
  const metadata = { input_tokens: 10, output_tokens: 2, cost_usd: 0.25 };
  const answer = { ...emptyOutput, metadata, duration_ms: 4, queue_ms: 0, cached: false, attempts: 1 };
  if (reply !== 'fault') return { ...answer, text: String(reply) };
  return { ...answer, metadata: {}, error: { code: 'PROVIDER_FAILED', message: 'it is down', hint: '' } };
}

function toOutcome(content: string): EvalOutcome {
  return content === 'unscored' ? unscored('no words') : scored(Number(content), '');
}

export function variantOf({ variants = [] }: SuiteReport, name: string) {
  return variants.find((each) => each.name === name);
}
