import { extname } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { tryParse } from '../../base/json/try-parse.ts';
import { importArena } from './arena/import-arena.ts';
import { importPromptfoo } from './promptfoo/import-promptfoo.ts';
import { holdsResults, importResults } from './promptfoo/results.ts';
import { importSamples, listKeys } from './samples/import-samples.ts';
import type { SampleKind } from './samples/sample.ts';
import { textOfFile } from './suite/source-files.ts';
import { type SuiteImport, validateImport } from './suite/suite.ts';

export { writeImport } from './suite/suite.ts';

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

export const importKinds = [
  'promptfoo',
  'promptfoo-results',
  'inspect',
  'ragas',
  'deepeval',
  'arena',
] as const;
export type ImportKind = (typeof importKinds)[number];

/** Whose file it is, by what is in it; a promptfooconfig where nothing speaks for another. Throws CONFIG_INVALID for known files that nothing here reads. */
export function detectKind(file: string, text: string): ImportKind {
  refuseKnown(file, text);
  const ending = extname(file);
  if (['.yaml', '.yml'].includes(ending))
    return /^apiVersion:\s*["']?promptkit\.altairalabs\.ai\//m.test(text) ? 'arena' : 'promptfoo';
  if (['.csv', '.tsv'].includes(ending)) return sampleKind(headerOf(text)) ?? 'inspect';
  if (!['.json', '.jsonl', '.ndjson'].includes(ending)) return 'promptfoo';
  if (holdsResults(text)) return 'promptfoo-results';
  const whole = wholeOf(text, ending);
  if (isObject(whole) && String(whole['apiVersion']).startsWith('promptkit.altairalabs.ai/')) return 'arena';
  return sampleKind(Array.isArray(whole) ? whole[0] : inner(whole)) ?? 'promptfoo';
}

function wholeOf(text: string, ending: string): unknown {
  const [first = ''] = text.trimStart().split('\n', 1);
  return ending === '.json' ? tryParse(text) : tryParse(first);
}

/** Files that are known by name and that no reader here takes. */
function refuseKnown(file: string, text: string): void {
  const whole = /\.(?:json|jsonl|ndjson)$/.test(file) ? wholeOf(text, extname(file)) : undefined;
  const has = (...keys: readonly string[]): boolean => isObject(whole) && keys.every((key) => key in whole);
  const isYaml = /\.ya?ml$/.test(file);
  const isTask = isYaml && /^(?:doc_to_text|output_type|fewshot_split|dataset_path)\s*:/m.test(text);
  const isSchema = isObject(whole) && /promptpack/i.test(String(whole['$schema']));
  if (file.endsWith('.eval') || text.startsWith('PK\u0003\u0004'))
    refuse(
      `${file} is a log of Inspect’s in its own format`,
      '`inspect log dump FILE > log.json` prints it as JSON: import that.',
    );
  if (isYaml && /^apiVersion:\s*["']?signalbox\//m.test(text))
    refuse(`${file} is a file of Signalbox’s already`, `Check it with \`signalbox validate ${file}\`.`);
  if (isTask && !/^(?:prompts|providers|targets)\s*:/m.test(text))
    refuse(
      `${file} is a task of lm-evaluation-harness, whose samples and metrics stand elsewhere`,
      'Write its samples to a file of JSON Lines with `input` and `target`, and import that.',
    );
  if (has('doc', 'resps'))
    refuse(
      `${file} holds samples of lm-evaluation-harness, which are not read`,
      'Write their questions, answers and targets as `input`, `actual_output` and `expected_output`, and import that.',
    );
  if (isSchema || has('prompts', 'template_engine'))
    refuse(
      `${file} is a pack of PromptKit’s, which is compiled and holds no scenarios`,
      'Import the Arena that it is tested with (config.arena.yaml).',
    );
}

function refuse(message: string, hint: string): never {
  throw new RuntimeError('CONFIG_INVALID', message, { hint });
}

function headerOf(text: string): Readonly<Record<string, true>> {
  const [first = ''] = text.split(/\r?\n/, 1);
  return Object.fromEntries(
    first.split(/[,\t]/).map((name) => [name.replaceAll(/^[\s"]+|[\s"]+$/g, ''), true]),
  );
}

function inner(value: unknown): unknown {
  if (!isObject(value)) return value;
  const list = listKeys.map((key) => value[key]).find(Array.isArray);
  return list === undefined ? value : list[0];
}

function sampleKind(row: unknown): SampleKind | undefined {
  if (!isObject(row)) return undefined;
  const has = (...names: readonly string[]) => names.some((name) => name in row);
  if (has('user_input') || (has('question') && has('contexts', 'ground_truth', 'answer'))) return 'ragas';
  if (!has('input')) return undefined;
  const isCase = has(
    'actual_output',
    'actualOutput',
    'expected_output',
    'expectedOutput',
    'retrieval_context',
    'expected_tools',
  );
  return isCase ? 'deepeval' : 'inspect';
}
