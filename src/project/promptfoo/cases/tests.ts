import { basename, extname } from 'node:path';
import { isObject } from '../../../json/json.ts';
import { readers } from '../../../suite/dataset/readers.ts';
import type { Path } from '../../../yaml/document.ts';
import type { SourceLocation } from '../../../yaml/problem.ts';
import type { Notes } from '../../suite-import/notes.ts';
import { type SourceFiles, textOfFile, valueOfFile } from '../../suite-import/source-files.ts';
import { testOfRow } from './csv-row.ts';

/** A test as it was written, and where. */
export interface GivenTest {
  readonly value: Readonly<Record<string, unknown>>;
  readonly at: Path | SourceLocation;
  /** Whether its unknown keys are reported already, at the places of its parts. */
  readonly isNoted?: true;
}

export interface TestContext {
  readonly files: SourceFiles;
  readonly notes: Notes;
}

/** All tests of a config, those of its files among them. */
export async function readTests(
  given: unknown,
  at: Path,
  context: TestContext,
): Promise<readonly GivenTest[]> {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) return await readSource(given, at, context);
  const tests: GivenTest[] = [];
  for (const [index, each] of given.entries()) {
    const place = [...at, index];
    const isSource = typeof each === 'string' || (isObject(each) && typeof each['path'] === 'string');
    if (isSource) for (const test of await readSource(each, place, context)) tests.push(test);
    else if (isObject(each)) tests.push({ value: each, at: place });
    else context.notes.add('error', place, 'a test that is no mapping is left out');
  }
  return tests;
}

async function readSource(given: unknown, at: Path, context: TestContext): Promise<readonly GivenTest[]> {
  const name = isObject(given) ? given['path'] : given;
  if (typeof name !== 'string' || /^(https?|huggingface|az|s3|gs):/.test(name))
    return leftOut(
      context,
      at,
      'tests that are fetched from elsewhere are left out',
      'Save them beside the config.',
    );
  const tests: GivenTest[] = [];
  const names = context.files.match(name);
  if (names.length === 0) return leftOut(context, at, `no file is called ${name}`);
  for (const file of names) {
    for (const test of await readFile(file, at, context)) tests.push(test);
  }
  return tests;
}

async function readFile(name: string, at: Path, context: TestContext): Promise<readonly GivenTest[]> {
  const ending = extname(name);
  if (!['.csv', '.tsv', '.jsonl', '.json', '.yaml', '.yml'].includes(ending))
    return leftOut(
      context,
      at,
      `the tests of ${basename(name)} are made by a program`,
      'Write them to a file of JSON Lines.',
    );
  const found = context.files.find(name);
  if ('fault' in found) return leftOut(context, at, found.fault);
  if (['.csv', '.tsv', '.jsonl'].includes(ending)) return await readRows(found.file, ending, context, at);
  const loaded = valueOfFile(found.file);
  if ('fault' in loaded) return leftOut(context, at, loaded.fault);
  const { value } = loaded;
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const tests = list.flatMap((each) => (isObject(each) ? [{ value: each, at }] : []));
  if (tests.length < list.length) context.notes.add('error', at, `${name} holds what is no test`);
  return tests;
}

async function readRows(
  file: string,
  ending: string,
  context: TestContext,
  at: Path,
): Promise<readonly GivenTest[]> {
  const text = textOfFile(file);
  if (typeof text !== 'string') return leftOut(context, at, text.fault);
  const { notes } = context;
  const format = ending === '.jsonl' ? 'jsonl' : ending === '.tsv' ? 'tsv' : 'csv';
  const tests: GivenTest[] = [];
  for await (const { line, content } of readers[format](bytesOf(text), file)) {
    const place = { file, line, column: 1 };
    if (!content.usable) notes.add('error', place, content.problem.message, content.problem.hint);
    else
      tests.push({
        value: format === 'jsonl' ? content.value : testOfRow(content.value, place, notes),
        at: place,
      });
  }
  return tests;
}

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield await Promise.resolve(Buffer.from(text));
}

function leftOut({ notes }: TestContext, at: Path, message: string, hint?: string): readonly GivenTest[] {
  notes.add('error', at, message, hint);
  return [];
}
