import { stringifyJson } from '../../../json/json.ts';
import type { CaseRecord, RunHeader } from '../../../suite/run/record.ts';
import { summarize } from '../../../suite/stats/summarize.ts';
import type { ImportedFile } from '../../suite-import/suite-import.ts';
import { assertionsOf, type ImportedResult, type NumberedResult, recordOf } from './result-record.ts';
import type { ResultRows } from './result-rows.ts';
import { variantsOf } from './result-variants.ts';

/**
 * The run of a file of results: with a variant for each pair of a prompt and a provider, named as in the suite that an
 * import of the config writes, so that `eval diff` compares case by case; a single pair is a run without variants.
 */
export async function runFiles(
  { rows, startedAt, id }: ResultRows,
  file: string,
): Promise<readonly ImportedFile[]> {
  const variants = variantsOf(rows);
  const judged = variants
    .flatMap(({ name, results }, index) =>
      results.map((each) => ({ each, index, name, assertions: assertionsOf(each.value) })),
    )
    .toSorted((a, b) => a.each.number - b.each.number || a.index - b.index);
  const evals = [
    ...new Map(
      judged.flatMap(({ assertions }) => assertions.map((each) => [each.id, each] as const)),
    ).values(),
  ];
  const records = judged.map(({ each, name, assertions }) =>
    toRecord(each, assertions, { evals, file, variant: variants.length > 1 ? name : undefined }),
  );
  const header: RunHeader = {
    run_id: id ?? 'promptfoo',
    suite: 'promptfoo',
    file,
    started_at: startedAt ?? new Date(0).toISOString(),
    epochs: 1,
    evals: evals.map(({ id: evalId, type, weight }) => ({
      id: evalId,
      type,
      weight,
      role: 'assertion',
      reducer: 'mean',
    })),
    total: records.length,
    ...(variants.length > 1 && { variants: variants.map(({ name }) => ({ name })) }),
  };
  return [{ name: 'promptfoo.run.jsonl', text: await writeRun(header, records) }];
}

interface Origin {
  readonly evals: readonly ImportedResult[];
  readonly file: string;
  readonly variant: string | undefined;
}

function toRecord(
  each: NumberedResult,
  assertions: readonly ImportedResult[],
  { evals, file, variant }: Origin,
): CaseRecord {
  const weightings = evals.map(({ id, weight }) => ({
    id,
    role: 'assertion' as const,
    weight,
    reducer: { kind: 'mean' as const },
  }));
  const record = recordOf(each, assertions, { evals: weightings, file });
  return variant === undefined ? record : { ...record, variant };
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
