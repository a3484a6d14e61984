import { RuntimeError } from '../../../errors.ts';
import { stringifyJson } from '../../../json/json.ts';
import type { CaseRecord, RunHeader } from '../../../suite/run/record.ts';
import { summarize } from '../../../suite/stats/summarize.ts';
import { collectNotes } from '../../suite-import/notes.ts';
import { textOfFile } from '../../suite-import/source-files.ts';
import { type ImportedFile, type SuiteImport, toSuiteImport } from '../../suite-import/suite-import.ts';
import { assertionsOf, type ImportedResult, type NumberedResult, recordOf } from './result-record.ts';
import { holdsResults, type ResultRows, readResultRows } from './result-rows.ts';
import { variantsOf } from './result-variants.ts';

/** Makes a run of a file of results. Throws FILE_UNREADABLE, and CONFIG_INVALID for a file without any. */
export async function importResults(file: string): Promise<SuiteImport> {
  const text = textOfFile(file);
  if (typeof text !== 'string') throw new RuntimeError('FILE_UNREADABLE', text.fault);
  if (!holdsResults(text))
    throw new RuntimeError('CONFIG_INVALID', `${file} holds no results of promptfoo’s`, {
      hint: 'Give a file that `promptfoo eval --output results.json` has written.',
    });
  // A run has verdicts and answers: what else promptfoo writes of them changes neither.
  const notes = collectNotes('note');
  const results = readResultRows(file, text, notes);
  const files = await runFiles(results, file);
  return toSuiteImport(files, results.rows.length, notes.all());
}

/**
 * The run of a file of results: with a variant for each pair of a prompt and a provider, named as in the suite that an
 * import of the config writes, so that `eval diff` compares case by case; a single pair is a run without variants.
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
  const isPassed = each.row.at('success').boolean() === true;
  if (record.passed !== isPassed)
    each.row.note(
      'warning',
      `the result ${isPassed ? 'passes' : 'fails'} there, and ${isPassed ? 'fails' : 'passes'} by the assertions that it lists`,
    );
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
