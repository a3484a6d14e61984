import { isObject, stringifyJson } from '../../../json/json.ts';
import type { CaseRecord, RunHeader } from '../../../suite/run/record.ts';
import { summarize } from '../../../suite/stats/summarize.ts';
import type { ImportedFile } from '../../suite-import/suite-import.ts';
import { slugOf } from '../providers.ts';
import { assertionsOf, type NumberedResult, recordOf } from './result-record.ts';
import type { ResultRows } from './result-rows.ts';

/**
 * The runs of a file of results: one for each pair of a prompt and a provider, with the names of the suites that an
 * import of the config writes, so that `eval diff` compares case by case.
 */
export async function runFiles(
  { rows, startedAt, id }: ResultRows,
  file: string,
): Promise<readonly ImportedFile[]> {
  const pairs = pairsOf(rows);
  const files: ImportedFile[] = [];
  for (const [name, results] of pairs)
    files.push({ name: `${name}.run.jsonl`, text: await runText(name, results, { file, startedAt, id }) });
  return files;
}

interface Origin {
  readonly file: string;
  readonly startedAt: string | undefined;
  readonly id: string | undefined;
}

type Mapping = Readonly<Record<string, unknown>>;

/** Results by the name of their pair, each with the number of its case. */
function pairsOf(rows: readonly Mapping[]): ReadonlyMap<string, readonly NumberedResult[]> {
  const columns = new Map<string, string[]>();
  for (const row of rows) {
    const prompts = columns.get(providerOf(row)) ?? [];
    columns.set(providerOf(row), prompts);
    if (!prompts.includes(promptOf(row))) prompts.push(promptOf(row));
  }
  const hasOnePrompt = [...columns.values()].every(({ length }) => length === 1);
  const pairs = new Map<string, NumberedResult[]>();
  for (const row of rows) {
    const provider = providerOf(row);
    const index = columns.get(provider)?.indexOf(promptOf(row)) ?? 0;
    const name = hasOnePrompt ? slugOf(provider) : `${slugOf(provider)}-prompt-${index + 1}`;
    const known = pairs.get(name) ?? [];
    const { testIdx } = row;
    known.push({ number: typeof testIdx === 'number' ? testIdx + 1 : known.length + 1, value: row });
    pairs.set(name, known);
  }
  return pairs;
}

function providerOf({ provider }: Mapping): string {
  if (typeof provider === 'string') return provider;
  const { label, id } = isObject(provider) ? provider : {};
  return typeof label === 'string' && label !== '' ? label : typeof id === 'string' ? id : 'provider';
}

/** What tells the prompts of one provider apart: their columns, or in older files what they display. */
function promptOf({ promptIdx, prompt }: Mapping): string {
  if (typeof promptIdx === 'number') return String(promptIdx);
  const { label, display } = isObject(prompt) ? prompt : {};
  return String(label ?? display ?? '');
}

async function runText(name: string, results: readonly NumberedResult[], origin: Origin): Promise<string> {
  const judged = results
    .toSorted((a, b) => a.number - b.number)
    .map((each) => ({ each, assertions: assertionsOf(each.value) }));
  const evals = new Map(
    judged.flatMap(({ assertions }) => assertions.map((each) => [each.id, each] as const)),
  );
  const headers = [...evals.values()].map(({ id, type, weight }) => ({
    id,
    type,
    role: 'assertion' as const,
    weight,
    reducer: 'mean',
  }));
  const weightings = headers.map(({ id, role, weight }) => ({
    id,
    role,
    weight,
    reducer: { kind: 'mean' as const },
  }));
  const records = judged.map(({ each, assertions }) =>
    recordOf(each, assertions, { evals: weightings, file: origin.file }),
  );
  const header: RunHeader = {
    run_id: `${origin.id ?? 'promptfoo'}-${name}`,
    suite: name,
    file: origin.file,
    started_at: origin.startedAt ?? new Date(0).toISOString(),
    epochs: 1,
    evals: headers,
    total: records.length,
  };
  return await writeRun(header, records);
}

async function writeRun(header: RunHeader, records: readonly CaseRecord[]): Promise<string> {
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
  return lines.map((line) => `${stringifyJson(line)}\n`).join('');
}
