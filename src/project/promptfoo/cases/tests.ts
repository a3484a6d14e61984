import { basename, extname } from 'node:path';
import { readers } from '../../../suite/dataset/readers.ts';
import type { Source } from '../../../yaml/source.ts';
import type { Notes } from '../../suite-import/notes.ts';
import { type SourceFiles, textOfFile } from '../../suite-import/source-files.ts';
import { testOfRow } from './csv-row.ts';

/** A test: what is said of it, of which the last says most; several parts where a scenario has made it. */
export type GivenTest = readonly Source[];

export interface TestContext {
  readonly files: SourceFiles;
  readonly notes: Notes;
}

/** All tests of a config, those of its files among them. */
export async function readTests(given: Source, context: TestContext): Promise<readonly Source[]> {
  if (!given.isGiven) return [];
  if (given.kind !== 'list') return await readSource(given, context);
  const tests: Source[] = [];
  for (const each of given.items()) {
    if (each.kind === 'text' || each.at('path').kind === 'text')
      for (const test of await readSource(each, context)) tests.push(test);
    else if (each.kind === 'mapping') tests.push(each);
    else each.leave('a test that is no mapping is left out');
  }
  return tests;
}

async function readSource(given: Source, context: TestContext): Promise<readonly Source[]> {
  const name = given.text() ?? given.at('path').text();
  if (name === undefined || /^(https?|huggingface|az|s3|gs):/.test(name)) {
    given.leave('tests that are fetched from elsewhere are left out', 'Save them beside the config.');
    return [];
  }
  const names = context.files.match(name);
  if (names.length === 0) given.leave(`no file is called ${name}`);
  const tests: Source[] = [];
  for (const file of names) {
    const found = await readFile(file, context);
    if ('fault' in found) given.note('error', found.fault, found.hint);
    else for (const test of found.tests) tests.push(test);
  }
  return tests;
}

type Read = { readonly tests: readonly Source[] } | { readonly fault: string; readonly hint?: string };

async function readFile(name: string, { files, notes }: TestContext): Promise<Read> {
  const ending = extname(name);
  if (!['.csv', '.tsv', '.jsonl', '.json', '.yaml', '.yml'].includes(ending))
    return {
      fault: `the tests of ${basename(name)} are made by a program`,
      hint: 'Write them to a file of JSON Lines.',
    };
  const format = ({ '.jsonl': 'jsonl', '.tsv': 'tsv', '.csv': 'csv' } as const)[ending];
  if (format === undefined) {
    const root = files.open(name);
    if ('fault' in root) return root;
    if (root.kind === 'list') return { tests: notes.openItems(root) };
    if (root.kind !== 'mapping') root.leave('what is no test is left out');
    return { tests: root.kind === 'mapping' ? [root] : [] };
  }
  const found = files.find(name);
  if ('fault' in found) return found;
  const text = textOfFile(found.file);
  if (typeof text !== 'string') return text;
  const tests: Source[] = [];
  for await (const { line, content } of readers[format](bytesOf(text), found.file)) {
    const place = { file: found.file, line, column: 1 };
    if (!content.usable) notes.add('error', place, content.problem.message, content.problem.hint);
    else {
      const row = notes.openRow(content.value, () => place);
      tests.push(format === 'jsonl' ? row : notes.openRow(testOfRow(row), () => place));
    }
  }
  return { tests };
}

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield await Promise.resolve(Buffer.from(text));
}
