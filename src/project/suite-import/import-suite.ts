import { importArena } from './arena/import-arena.ts';
import { detectKind, type ImportKind } from './detect.ts';
import { importPromptfoo } from './promptfoo/import-promptfoo.ts';
import { importResults } from './promptfoo/results.ts';
import { importSamples } from './samples/import-samples.ts';
import { textOfFile } from './suite/source-files.ts';
import { type SuiteImport, validateImport } from './suite-import.ts';

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
 * Makes a runtime, cases and suites, or runs, of a file of another system, to be written to `output`; they are validated, but
 * nothing is written there yet, and nothing of the file is run. Throws FILE_UNREADABLE, CONFIG_INVALID and DATASET_INVALID.
 */
export async function importSuite(file: string, options: ImportOptions): Promise<SuiteImport> {
  return await validateImport(options.output, await importers[options.from ?? kindOf(file)](file, options));
}

type Importer = (file: string, options: ImportOptions) => Promise<SuiteImport> | SuiteImport;

/** Reads a file of each kind; what it makes is not validated yet. */
export const importers: Readonly<Record<ImportKind, Importer>> = {
  promptfoo: (file, { output }) => importPromptfoo(file, output),
  'promptfoo-results': importResults,
  arena: importArena,
  inspect: (file, options) => importSamples(file, { ...options, kind: 'inspect' }),
  ragas: (file, options) => importSamples(file, { ...options, kind: 'ragas' }),
  deepeval: (file, options) => importSamples(file, { ...options, kind: 'deepeval' }),
};

function kindOf(file: string): ImportKind {
  const text = textOfFile(file);
  return typeof text === 'string' ? detectKind(file, text) : 'promptfoo';
}
