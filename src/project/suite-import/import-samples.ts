import { basename, dirname, extname, resolve } from 'node:path';
import { RuntimeError } from '../../errors.ts';
import { isObject } from '../../json/json.ts';
import { readers } from '../../suite/dataset/readers.ts';
import type { SourceLocation } from '../../yaml/problem.ts';
import { readProvider, slugOf } from '../promptfoo/providers/providers.ts';
import { readInspectSample } from './inspect-sample.ts';
import { collectNotes, type Notes } from './notes.ts';
import type { ReadSample, Sample } from './sample.ts';
import { sampleFiles } from './sample-suite.ts';
import { openSourceFiles, textOfFile } from './source-files.ts';
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
  const notes = collectNotes({ positionOf: () => start });
  const samples: Sample[] = [];
  for await (const { value, at } of readSampleRows(file, notes)) {
    const sample = sampleReaders[options.kind]({ value, at, notes });
    if (sample !== undefined) samples.push(sample);
  }
  const files = openSourceFiles(dirname(resolve(file)), options.output);
  const provider = readProvider(options.provider ?? 'openai:gpt-4.1', [], { files, notes });
  const isRecorded = samples.every(({ answer }) => answer !== undefined);
  noteGuesses(options, { isRecorded, start, notes });
  const name = slugOf(basename(file, extname(file)));
  if (samples.length === 0 || (provider === undefined && !isRecorded))
    return toSuiteImport([], 0, notes.all());
  const written = sampleFiles({ name, samples, subject: isRecorded ? undefined : provider, judge: provider });
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

/** Each object of the file, those within `test_cases` and the like among them. */
async function* readSampleRows(
  file: string,
  notes: Notes,
): AsyncGenerator<{ readonly value: Readonly<Record<string, unknown>>; readonly at: SourceLocation }> {
  const text = textOfFile(file);
  if (typeof text !== 'string') throw new RuntimeError('FILE_UNREADABLE', text.fault);
  for await (const { line, content } of readers[formatOf(file)](bytesOf(text), file)) {
    const at = { file, line, column: 1 };
    if (!content.usable) {
      notes.add('error', at, content.problem.message, content.problem.hint);
      continue;
    }
    for (const value of nested(content.value)) yield { value, at };
  }
}

function nested(value: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  const key = ['test_cases', 'testCases', 'goldens', 'samples'].find((name) => Array.isArray(value[name]));
  const list: unknown = key === undefined ? undefined : value[key];
  return Array.isArray(list) ? list.filter(isObject) : [value];
}

function formatOf(file: string): keyof typeof readers {
  const ending = extname(file).slice(1);
  if (ending === 'json' || ending === 'csv' || ending === 'tsv' || ending === 'yaml') return ending;
  return ending === 'yml' ? 'yaml' : 'jsonl';
}

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield await Promise.resolve(Buffer.from(text));
}
