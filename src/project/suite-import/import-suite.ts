import { RuntimeError } from '../../errors.ts';
import { importPromptfoo } from '../promptfoo/import-promptfoo.ts';
import { runFiles } from '../promptfoo/results/import-results.ts';
import { readResultRows } from '../promptfoo/results/result-rows.ts';
import { importArena } from './arena/import-arena.ts';
import { detectKind, type ImportKind } from './detect.ts';
import { importSamples } from './import-samples.ts';
import { textOfFile } from './source-files.ts';
import { type SuiteImport, toSuiteImport } from './suite-import.ts';

export { importKinds } from './detect.ts';
export { writeImport } from './suite-import.ts';

/** What a file is imported with. */
export interface ImportOptions {
  readonly output: string;
  /** Whose file it is; undefined: what is in it tells. */
  readonly from: ImportKind | undefined;
  /** Who answers, where the file names nobody. */
  readonly provider: string | undefined;
}

/**
 * Makes a runtime, cases and suites, or runs, of a file of another system, to be written to `output`; nothing is written
 * yet, and nothing of the file is run. Throws FILE_UNREADABLE, CONFIG_INVALID and DATASET_INVALID.
 */
export async function importSuite(file: string, options: ImportOptions): Promise<SuiteImport> {
  const { output, provider } = options;
  const kind = options.from ?? kindOf(file);
  switch (kind) {
    case 'promptfoo':
      return await importPromptfoo(file, output);
    case 'promptfoo-results':
      return await importResults(file);
    case 'arena':
      return importArena(file, { output, provider });
    default:
      return await importSamples(file, { kind, output, provider });
  }
}

function kindOf(file: string): ImportKind {
  const text = textOfFile(file);
  return typeof text === 'string' ? detectKind(file, text) : 'promptfoo';
}

async function importResults(file: string): Promise<SuiteImport> {
  const text = textOfFile(file);
  if (typeof text !== 'string') throw new RuntimeError('FILE_UNREADABLE', text.fault);
  const results = readResultRows(text);
  if (results === undefined)
    throw new RuntimeError('CONFIG_INVALID', `${file} holds no results of promptfoo’s`, {
      hint: 'Give a file that `promptfoo eval --output results.json` has written.',
    });
  const files = await runFiles(results, file);
  return toSuiteImport(files, results.rows.length, []);
}
