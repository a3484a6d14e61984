import { RuntimeError } from '../../../base/errors.ts';
import { isObject, stringifyJson } from '../../../base/json/json.ts';
import { tryParse } from '../../../base/json/parse.ts';
import type { Source } from '../../../base/yaml/source.ts';
import { omitUndefined } from '../../../base/yaml/wording.ts';
import { type EvalWeighting, keepRow, toCaseRecord } from '../../case/case-record.ts';
import type { CaseRecord, EpochRecord, EvalResult, RunHeader } from '../../record.ts';
import { summarize } from '../../run-accumulator.ts';
import { slugOf } from '../suite/providers.ts';
import { collectNotes, type Notes, openText, textOfFile } from '../suite/source-files.ts';
import { type ImportedFile, nameOf, type SuiteImport, toSuiteImport } from '../suite/suite.ts';
import { pairName } from './written.ts';

/** Converts a results file to a run. Throws FILE_UNREADABLE, and CONFIG_INVALID for a file without results. */
export async function importResults(file: string): Promise<SuiteImport> {
  const text = textOfFile(file);
  if (typeof text !== 'string') throw new RuntimeError('FILE_UNREADABLE', text.fault);
  if (!holdsResults(text))
    throw new RuntimeError('CONFIG_INVALID', `${file} holds no results of promptfoo`, {
      hint: 'Give a file that `promptfoo eval --output results.json` wrote.',
    });
  // A run needs only verdicts and answers. Other members of the file change neither.
  const notes = collectNotes('note');
  const results = readResultRows(file, text, notes);
  const files = await runFiles(results, file);
  return toSuiteImport(files, results.rows.length, notes.all());
}

/**
 * Makes a run with a variant for each prompt and provider. Variants are named as in the imported config, so that `eval
 * diff` pairs the cases. A single pair becomes a run without variants.
 */
async function runFiles({ rows, startedAt, id }: ResultRows, file: string): Promise<readonly ImportedFile[]> {
  const variants = variantsOf(rows);
  const judged = variants
    .flatMap(({ name, results }, index) =>
      results.map((each) => ({ each, index, name, assertions: assertionsOf(each.row) })),
    )
    .toSorted((a, b) => a.each.number - b.each.number || a.index - b.index);
  const evals = [
    ...new Map(
      judged.flatMap(({ assertions }) => assertions.map((each) => [each.id, each] as const)),
    ).values(),
  ];
  const weightings = evals.map(({ id: evalId, weight }) => ({
    id: evalId,
    role: 'assertion' as const,
    weight,
    reducer: { kind: 'mean' as const },
  }));
  const records = judged.map(({ each, name, assertions }) => {
    const record = recordOf(each, assertions, { evals: weightings, file });
    const isPassed = each.row.at('success').boolean() === true;
    if (record.passed !== isPassed)
      each.row.note(
        'warning',
        `the result ${isPassed ? 'passes' : 'fails'} in promptfoo, but ${isPassed ? 'fails' : 'passes'} by the assertions that it lists`,
      );
    return variants.length > 1 ? { ...record, variant: name } : record;
  });
  const header: RunHeader = {
    run_id: id ?? 'promptfoo',
    suite: 'promptfoo',
    file,
    started_at: startedAt ?? new Date(0).toISOString(),
    epochs: 1,
    evals: evals.map(({ id: evalId, type, weight }) => ({
      ...{ id: evalId, type, weight },
      ...{ role: 'assertion', reducer: 'mean' },
    })),
    total: records.length,
    ...(variants.length > 1 && { variants: variants.map(({ name }) => ({ name })) }),
  };
  const cases = async function* (): AsyncGenerator<CaseRecord> {
    for (const record of records) yield await Promise.resolve(record);
  };
  const { kind: _, ...report } = await summarize({ header, cases, report: undefined });
  const status = records.every(({ passed }) => passed) ? 'passed' : 'failed';
  const lines = [
    { type: 'run', ...header },
    ...records.map((record) => ({ type: 'case', ...record })),
    { type: 'report', ...report, status, duration_ms: 0 },
  ];
  return [{ name: 'promptfoo.run.jsonl', text: lines.map((line) => `${stringifyJson(line)}\n`).join('') }];
}

interface ResultVariant {
  readonly name: string;
  readonly results: readonly NumberedResult[];
}

function variantsOf(rows: readonly Source[]): readonly ResultVariant[] {
  const byColumn = Map.groupBy(rows, keyOf);
  const columns = columnsOf(byColumn);
  const prompts = promptsOf(columns);
  const numbers = new Map(prompts.map((prompt, index) => [prompt, index]));
  const counts = {
    prompts: prompts.length,
    providers: new Set(columns.map(({ provider }) => provider)).size,
  };
  const found = new Map<string, NumberedResult[]>();
  for (const { key, provider, prompt, position } of columns) {
    const number = (numbers.get(prompt) ?? position) + 1;
    const name = pairName(slugOf(provider), { number }, counts);
    const known = found.get(name) ?? [];
    found.set(name, known);
    for (const row of byColumn.get(key) ?? [])
      known.push({ number: (row.at('testIdx').number() ?? known.length) + 1, row });
  }
  return [...found].map(([name, results]) => ({ name, results }));
}

interface Column {
  readonly key: string;
  readonly provider: string;
  readonly prompt: string;
  readonly position: number;
}

function columnsOf(byColumn: ReadonlyMap<string, readonly Source[]>): readonly Column[] {
  const seen = new Map<string, number>();
  return [...byColumn].flatMap(([key, [row]]) => {
    if (row === undefined) return [];
    const provider = providerOf(row);
    const position = seen.get(provider) ?? 0;
    seen.set(provider, position + 1);
    return [{ key, provider, prompt: labelOf(row), position }];
  });
}

function promptsOf(columns: readonly Column[]): readonly string[] {
  const labels = [...new Set(columns.map(({ prompt }) => prompt))];
  const isClear =
    new Set(columns.map(({ provider, prompt }) => `${provider}\n${prompt}`)).size === columns.length;
  if (isClear) return labels;
  const most = columns.reduce((found, { position }) => Math.max(found, position), 0);
  return Array.from({ length: most + 1 }, (_, index) => `\n${index}`);
}

/** Identifies a column by provider and column number, or in older files by the displayed prompt. */
function keyOf(row: Source): string {
  return `${providerOf(row)}\n${row.at('promptIdx').number() ?? labelOf(row)}`;
}

function providerOf(row: Source): string {
  const provider = row.at('provider');
  const [label, id] = [provider.at('label').text(), provider.at('id').text()];
  return provider.text() ?? (label || id) ?? 'provider';
}

function labelOf(row: Source): string {
  const prompt = row.at('prompt');
  const [label, display] = [prompt.at('label').scalar(), prompt.at('display').scalar()];
  return label ?? display ?? row.at('promptIdx').scalar() ?? '';
}

interface NumberedResult {
  readonly number: number;
  readonly row: Source;
}

interface ImportedResult {
  readonly id: string;
  readonly type: string;
  readonly weight: number;
  readonly result: EvalResult;
}

/** A result without assertions gets the eval that the imported config would have. */
function assertionsOf(row: Source): readonly ImportedResult[] {
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
      if (weight < 0) assertion.at('weight').leave('a weight below 0 is left out');
      return { id, type, weight: weight < 0 ? 1 : weight, result: toResult(id, type, component) };
    });
  if (found.length > 0 || answerOf(row) === undefined) return found;
  const passed = row.at('success').boolean() === true;
  const result = { ...plain, eval: 'answered', score: passed ? 1 : 0, passed, detail: '' };
  return [{ id: 'answered', type: 'regex', weight: 1, result }];
}

const plain = { threshold: { min_score: 1 }, duration_ms: 0, attempts: 1 };

function toResult(id: string, type: string, component: Source): EvalResult {
  const passed = component.at('pass').boolean() === true;
  // In promptfoo, code scores affect the verdict only if the test has a threshold.
  const isCode = /^(?:not-)?(?:javascript|python)$/.test(type);
  const own = isCode ? undefined : component.at('score').number();
  if (own !== undefined && (own < 0 || own > 1))
    component.at('score').note('warning', 'a score outside 0 to 1 is changed to the nearest bound');
  const score = own === undefined ? Number(passed) : Math.min(1, Math.max(0, own));
  return { ...plain, eval: id, score, passed, detail: component.at('reason').text() ?? '' };
}

function recordOf(
  { number, row: source }: NumberedResult,
  results: readonly ImportedResult[],
  { evals, file }: { readonly evals: readonly EvalWeighting[]; readonly file: string },
): CaseRecord {
  const [answer, response] = [answerOf(source), source.at('response')];
  const limit = source.at('testCase').at('threshold').number();
  const raw = source.at('prompt').at('raw').text();
  const usage = response.at('tokenUsage');
  // Read only if there is no answer. Beside an answer, an error is noted as not imported.
  const errors = answer === undefined ? [response, source].map((each) => each.at('error').text()) : [];
  const message = errors.find((error) => error !== undefined) ?? 'there is no answer';
  const hint = 'The message comes from promptfoo.';
  const epoch: EpochRecord = {
    epoch: 1,
    content: answer ?? '',
    messages: [
      ...(raw === undefined ? [] : [{ role: 'user' as const, content: raw }]),
      ...(answer === undefined ? [] : [{ role: 'assistant' as const, content: answer }]),
    ],
    tool_calls: [],
    metadata: omitUndefined({
      latency_ms: source.at('latencyMs').number(),
      cost_usd: source.at('cost').number() ?? response.at('cost').number(),
      input_tokens: usage.at('prompt').number(),
      output_tokens: usage.at('completion').number(),
      total_tokens: usage.at('total').number(),
    }),
    ...(limit !== undefined && { threshold: { min_score: limit } }),
    subject: {
      status: answer === undefined ? 'failed' : 'ok',
      duration_ms: source.at('latencyMs').number() ?? 0,
      cached: response.at('cached').boolean() === true,
      attempts: 1,
      ...(answer === undefined && { error: { code: 'PROVIDER_FAILED', message, hint } }),
    },
    results: results.map(({ result }) => result),
  };
  const vars = source.at('vars').mapping();
  const kept = vars === undefined ? undefined : keepRow(vars);
  const row = { number, file, line: 1 };
  return toCaseRecord(evals, { row, id: String(number), tags: [], epochs: [epoch], kept });
}

function answerOf(row: Source): string | undefined {
  const output = row.at('response').at('output');
  return output.isGiven ? (output.text() ?? stringifyJson(output.whole())) : undefined;
}

interface ResultRows {
  readonly rows: readonly Source[];
  /** ISO 8601; undefined if the file does not have it. */
  readonly startedAt: string | undefined;
  readonly id: string | undefined;
}

/** Accepts the three JSON forms of promptfoo's versions, and JSON Lines. */
export function holdsResults(text: string): boolean {
  const list = listIn(tryParse(text));
  if (list !== undefined) return list.every(isResult);
  const rows = text.split('\n').filter((line) => line.trim() !== '');
  return rows.length > 0 && rows.every((line) => isResult(tryParse(line)));
}

function listIn(whole: unknown): readonly unknown[] | undefined {
  const inner = isObject(whole) && isObject(whole['results']) ? whole['results'] : whole;
  const rows = isObject(inner) ? inner['results'] : undefined;
  return Array.isArray(rows) ? rows : undefined;
}

function isResult(value: unknown): boolean {
  return isObject(value) && typeof value['success'] === 'boolean' && isObject(value['vars']);
}

function readResultRows(file: string, text: string, notes: Notes): ResultRows {
  const root = listIn(tryParse(text)) === undefined ? undefined : openText(file, text, notes);
  if (root === undefined || 'fault' in root) {
    const rows = text.split('\n').flatMap((line, index) => {
      const at = { file, line: index + 1, column: 1 };
      return line.trim() === '' ? [] : [notes.openRow(tryParse(line), () => at)];
    });
    return { rows, startedAt: undefined, id: undefined };
  }
  const inner = root.at('results').kind === 'mapping' ? root.at('results') : root;
  const times = [inner.at('timestamp').text(), root.at('timestamp').text()];
  return {
    rows: notes.openItems(inner.at('results')),
    startedAt: times.find((time) => time !== undefined && !Number.isNaN(Date.parse(time))),
    id: root.at('evalId').text(),
  };
}
