import { basename, dirname, extname, resolve } from 'node:path';
import { RuntimeError } from '../../errors.ts';
import { readers } from '../../suite/dataset/readers.ts';
import type { SourceLocation } from '../../yaml/problem.ts';
import type { Source } from '../../yaml/source.ts';
import { readProvider, slugOf } from '../promptfoo/providers/providers.ts';
import { readInspectSample } from './inspect-sample.ts';
import { collectNotes, type Notes } from './notes.ts';
import type { ReadSample, Sample } from './sample.ts';
import { sampleFiles } from './sample-suite.ts';
import { largestWithPlaces, openSourceFiles, openText, textOfFile } from './source-files.ts';
import { type SuiteImport, toSuiteImport } from './suite-import.ts';
import { readDeepEvalSample, readRagasSample } from './test-case-sample.ts';

const sampleReaders = {
  inspect: readInspectSample,
  ragas: readRagasSample,
  deepeval: readDeepEvalSample,
} as const satisfies Readonly<Record<string, ReadSample>>;

/** Whose samples a file holds. */
export type SampleKind = keyof typeof sampleReaders;

/** What a file of samples is imported with. */
export interface SampleOptions {
  readonly kind: SampleKind;
  readonly output: string;
  /** As in a promptfooconfig: who answers where an answer is missing, and judges. */
  readonly provider: string | undefined;
}

/** Makes a suite of samples. Throws FILE_UNREADABLE, and DATASET_INVALID for a table without a header. */
export async function importSamples(file: string, options: SampleOptions): Promise<SuiteImport> {
  const start = { file, line: 1, column: 1 };
  const notes = collectNotes();
  const samples: Sample[] = [];
  const answered: Source[] = [];
  for await (const row of readSampleRows(file, notes)) {
    const sample = sampleReaders[options.kind](row);
    if (sample === undefined) continue;
    samples.push(sample);
    if (sample.answer !== undefined) answered.push(row);
  }
  const files = openSourceFiles(dirname(resolve(file)), options.output, notes);
  const provider = readProvider(
    notes.open(options.provider ?? 'openai:gpt-4.1', () => start),
    { files, notes },
  );
  const isRecorded = samples.every(({ answer }) => answer !== undefined);
  if (!isRecorded)
    answered[0]?.note(
      'error',
      'an answer is not carried, as other samples have none: all of them are asked anew',
    );
  noteGuesses(options, { isRecorded, start, notes });
  const name = slugOf(basename(file, extname(file)));
  if (samples.length === 0 || (provider === undefined && !isRecorded))
    return toSuiteImport([], 0, notes.all());
  const written = sampleFiles({
    name,
    samples,
    subject: isRecorded ? undefined : provider,
    judge: provider,
    note: (message, hint) => notes.add('error', start, message, hint),
  });
  return toSuiteImport(written, samples.length, notes.all());
}

interface Guesses {
  readonly isRecorded: boolean;
  readonly start: SourceLocation;
  readonly notes: Notes;
}

/** What stands in the programs of the other system, and in no file of samples. */
function noteGuesses({ kind, provider }: SampleOptions, { isRecorded, start, notes }: Guesses): void {
  if (!isRecorded && provider === undefined)
    notes.add('warning', start, 'no model is named: openai:gpt-4.1 answers', 'Name one with --provider.');
  const message =
    kind === 'inspect'
      ? 'the scorer stands in the task: `includes`, and `choice` where there are choices, are written in its place'
      : 'the metrics stand in a program: those that the file can feed are written, as metrics without thresholds';
  notes.add('warning', start, message);
}

/** Each object of the file, those within `test_cases` and the like among them; what stands beside such a list is reported. */
async function* readSampleRows(file: string, notes: Notes): AsyncGenerator<Source> {
  const text = textOfFile(file);
  if (typeof text !== 'string') throw new RuntimeError('FILE_UNREADABLE', text.fault);
  const format = formatOf(file);
  if ((format === 'json' || format === 'yaml') && text.length <= largestWithPlaces) {
    const root = openText(file, text, notes);
    if (!('fault' in root)) {
      yield* rowsIn(root, notes);
      return;
    }
  }
  for await (const { line, content } of readers[format](bytesOf(text), file)) {
    const at = { file, line, column: 1 };
    const isTable = format === 'csv' || format === 'tsv';
    if (!content.usable) notes.add('error', at, content.problem.message, content.problem.hint);
    else
      yield* rowsIn(
        notes.openRow(isTable ? withoutEmpty(content.value) : content.value, () => at),
        notes,
      );
  }
}

/** The rows of a list, or of a mapping with a list of them; what is neither is a row. */
function rowsIn(root: Source, notes: Notes): readonly Source[] {
  const key = listKeys.find((name) => root.at(name).kind === 'list');
  if (root.kind !== 'list' && key === undefined) return [root];
  return notes.openItems(key === undefined ? root : root.at(key));
}

/** A cell without a text is none. */
function withoutEmpty(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== ''));
}

/** What the systems call the list of samples in a file that has more. */
export const listKeys: readonly string[] = ['test_cases', 'testCases', 'goldens', 'samples'];

function formatOf(file: string): keyof typeof readers {
  const ending = extname(file).slice(1);
  if (ending === 'json' || ending === 'csv' || ending === 'tsv' || ending === 'yaml') return ending;
  return ending === 'yml' ? 'yaml' : 'jsonl';
}

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield await Promise.resolve(Buffer.from(text));
}
