import { existsSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { nearFileHint } from '../../base/files/paths.ts';
import { isObject } from '../../base/json/json.ts';
import { tryParse } from '../../base/json/parse.ts';
import { parseDocument, type YamlDocument } from '../../base/yaml/document.ts';
import { requireLoaded } from '../../base/yaml/problem.ts';
import type { Source } from '../../base/yaml/source.ts';
import { importArena } from './arena/import-arena.ts';
import {
  type CaseContext,
  casesOf,
  type ImportedCase,
  leaveUnasked,
  unknownNames,
} from './promptfoo/cases.ts';
import { collectGraders } from './promptfoo/judges.ts';
import { makePrompts } from './promptfoo/prompt-rows.ts';
import { readPrompts } from './promptfoo/prompts.ts';
import { holdsResults, importResults } from './promptfoo/results.ts';
import { openTemplates, type Templates } from './promptfoo/templates.ts';
import { readScenarios, readTests } from './promptfoo/tests.ts';
import { type ImportedConfig, writtenFiles } from './promptfoo/written.ts';
import { importSamples, listKeys } from './samples/import-samples.ts';
import type { SampleKind } from './samples/sample.ts';
import { readProviders } from './suite/providers.ts';
import {
  collectNotes,
  type Notes,
  openSourceFiles,
  type SourceFiles,
  textOfFile,
} from './suite/source-files.ts';
import { type SuiteImport, toSuiteImport, validateImport } from './suite/suite.ts';

export { writeImport } from './suite/suite.ts';

export interface ImportOptions {
  readonly output: string;
  /** The kind of the file; undefined detects it from the content. */
  readonly from: ImportKind | undefined;
  /** The provider to use if the file names none. */
  readonly provider: string | undefined;
}

/**
 * Converts a file of another system to a runtime, cases and suites, or runs. Validates the result, writes nothing to
 * `output` and runs no code of the file. Throws FILE_UNREADABLE, CONFIG_INVALID and DATASET_INVALID.
 */
export async function importSuite(file: string, options: ImportOptions): Promise<SuiteImport> {
  return await validateImport(options.output, await importers[options.from ?? kindOf(file)](file, options));
}

type Importer = (file: string, options: ImportOptions) => Promise<SuiteImport> | SuiteImport;

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

/**
 * Detects the kind from the content; the default is a promptfooconfig. Throws CONFIG_INVALID for known but unsupported
 * files.
 */
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

function refuseKnown(file: string, text: string): void {
  const whole = /\.(?:json|jsonl|ndjson)$/.test(file) ? wholeOf(text, extname(file)) : undefined;
  const has = (...keys: readonly string[]): boolean => isObject(whole) && keys.every((key) => key in whole);
  const isYaml = /\.ya?ml$/.test(file);
  const isTask = isYaml && /^(?:doc_to_text|output_type|fewshot_split|dataset_path)\s*:/m.test(text);
  const isSchema = isObject(whole) && /promptpack/i.test(String(whole['$schema']));
  if (file.endsWith('.eval') || text.startsWith('PK\u0003\u0004'))
    refuse(
      `${file} is a log of Inspect in its own format`,
      '`inspect log dump FILE > log.json` prints it as JSON: import that file.',
    );
  if (isYaml && /^apiVersion:\s*["']?signalbox\//m.test(text))
    refuse(`${file} is already a file of Signalbox`, `Check it with \`signalbox validate ${file}\`.`);
  if (isTask && !/^(?:prompts|providers|targets)\s*:/m.test(text))
    refuse(
      `${file} is a task of lm-evaluation-harness, whose samples and metrics are in other files`,
      'Write its samples to a file of JSON Lines with `input` and `target`, and import that.',
    );
  if (has('doc', 'resps'))
    refuse(
      `${file} holds samples of lm-evaluation-harness, which cannot be imported`,
      'Write their questions, answers and targets as `input`, `actual_output` and `expected_output`, and import that.',
    );
  if (isSchema || has('prompts', 'template_engine'))
    refuse(
      `${file} is a compiled pack of PromptKit, which holds no scenarios`,
      'Import the Arena that tests it (config.arena.yaml).',
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

/**
 * Converts a promptfooconfig to a runtime, cases and suites for the folder `output`, without writing them. Throws
 * FILE_UNREADABLE, and CONFIG_INVALID for invalid YAML or JSON.
 */
export async function importPromptfoo(file: string, output: string): Promise<SuiteImport> {
  const { value, keyPositionOf } = openConfig(file);
  const notes = collectNotes();
  const nunjucks = openTemplates();
  const files = openSourceFiles(dirname(resolve(file)), output, notes);
  const config = await readConfig(notes.open(value, keyPositionOf), { files, notes, nunjucks }).finally(() =>
    nunjucks.end(),
  );
  if (config.prompts.length * config.providers.length > mostPairs)
    throw new RuntimeError(
      'CONFIG_INVALID',
      `${file} has more than ${mostPairs} pairs of a prompt and a provider`,
      {
        hint: 'Each pair is a variant: import the config in parts.',
      },
    );
  return toSuiteImport(writtenFiles(config), config.cases.length, notes.all());
}

const mostPairs = 1000;

function openConfig(file: string): YamlDocument {
  if (!existsSync(file))
    throw new RuntimeError('FILE_UNREADABLE', `${file} does not exist`, { hint: nearFileHint(file) });
  if (/\.[cm]?[jt]s$/.test(file)) {
    const hint = 'Print it as JSON, and import that file.';
    throw new RuntimeError('CONFIG_INVALID', `${file} is a program, not YAML or JSON`, { hint });
  }
  const text = textOfFile(file, largestConfig);
  if (typeof text !== 'string') throw new RuntimeError('FILE_UNREADABLE', text.fault);
  const document = parseDocument(file, text);
  requireLoaded(file, document.value, document.problems);
  return document;
}

/** Bytes that a YAML parser reads within seconds. */
const largestConfig = 16 * 1024 * 1024;

interface ImportContext {
  readonly files: SourceFiles;
  readonly notes: Notes;
  readonly nunjucks: Templates;
}

const mostCases = 1_000_000;

/** Notes everything that is not imported. Throws CONFIG_INVALID for more than a million cases. */
async function readConfig(config: Source, context: ImportContext): Promise<ImportedConfig> {
  const { notes, nunjucks } = context;
  if (config.kind !== 'mapping') config.leave('it is not a mapping');
  leaveSettings(config);
  const asked = config.at('providers').isGiven ? config.at('providers') : config.at('targets');
  const { providers, count } = readProviders(asked, context);
  const given = config.at('prompts');
  const read = await readPrompts(
    given.isGiven ? given : notes.open('{{prompt}}', () => config.location),
    context,
  );
  const defaults = readDefaults(config.at('defaultTest'), context.files);
  const graders = collectGraders(defaults.at('options').at('provider'), context);
  const templates = config.at('assertionTemplates');
  const cases = await readCases(config, {
    ...context,
    providers,
    prompts: read.prompts,
    defaults,
    templates,
    graders,
  });
  for (const [name, template] of templates.members())
    if (template.untaken()[0] === template)
      template.leave(`no test in this file uses the template \`${name}\``, undefined, 'note');
  const { prompts, made } = makePrompts(read.prompts, cases, nunjucks);
  for (const provider of providers)
    for (const name of unknownNames(provider.prompts ?? [], prompts))
      asked.note('error', `${provider.name} uses a prompt \`${name}\` that is not imported`);
  const repeat = config.at('evaluateOptions').at('repeat').number();
  for (const [key, option] of config.at('evaluateOptions').members())
    if (key !== 'repeat')
      option.leave(`\`evaluateOptions.${key}\` is for promptfoo’s own command`, undefined, 'note');
  return {
    name: config.at('description').text() ?? 'promptfoo',
    files: context.files,
    prompts,
    providers,
    counts: { prompts: read.count, providers: count },
    cases,
    made,
    graders: graders.used(),
    repeat: repeat !== undefined && repeat > 1 ? Math.trunc(repeat) : undefined,
  };
}

/**
 * Notes settings of promptfoo’s command. Throws CONFIG_INVALID if a variable sets the request address: without it,
 * prompts would go to another company.
 */
function leaveSettings(config: Source): void {
  const elsewhere = config
    .at('env')
    .keys()
    .find((name) => /URL|HOST|ENDPOINT|PROXY|API_BASE/i.test(name));
  if (elsewhere !== undefined)
    throw new RuntimeError(
      'CONFIG_INVALID',
      `\`env.${elsewhere}\` changes the address of requests, and is left out`,
      {
        hint: 'Write `apiBaseUrl` into the `config` of each provider, remove it from `env`, and import again.',
      },
    );
  if (config.at('env').isGiven)
    config.at('env').leave('`env` is left out: set these variables yourself', undefined, 'warning');
  const options = config.at('commandLineOptions');
  if (options.isGiven)
    options.leave(
      '`commandLineOptions` apply only to the promptfoo command: use the options of `eval run` to select tests',
      undefined,
      'warning',
    );
  config.at('$schema').text();
  for (const key of config.keys())
    if (idle.has(key) || key.startsWith('x-'))
      config.at(key).leave(`\`${key}\` is for promptfoo’s own command`, undefined, 'note');
}

const idle: ReadonlySet<string> = new Set([
  'tags',
  'outputPath',
  'sharing',
  'metadata',
  'derivedMetrics',
  'writeLatestResults',
]);

async function readCases(config: Source, context: CaseContext): Promise<readonly ImportedCase[]> {
  const [given, scenarios] = [config.at('tests'), config.at('scenarios')];
  const tests = (await readTests(given, context)).map((test) => [test]);
  const more = await readScenarios(scenarios, context);
  const isBare = !given.isGiven && !scenarios.isGiven;
  const all = isBare ? [[context.notes.open({}, () => config.location)]] : [...tests, ...more];
  const cases: ImportedCase[] = [];
  for (const test of all) {
    // Numbered as in promptfoo’s results.
    for (const each of casesOf(test, cases.length + 1, context)) cases.push(each);
    if (cases.length > mostCases)
      throw new RuntimeError('CONFIG_INVALID', `the tests make more than ${mostCases} cases`, {
        hint: 'Variables that are lists make a case of each combination: import the config in parts.',
      });
  }
  for (const test of [context.defaults, ...all.flat()]) leaveUnasked(test);
  return cases;
}

function readDefaults(given: Source, files: SourceFiles): Source {
  const name = given.text();
  const found = name === undefined ? given : files.open(name);
  if ('fault' in found) given.leave(found.fault);
  else if (found.isGiven && found.kind !== 'mapping') found.leave('`defaultTest` is not a mapping');
  const defaults = 'fault' in found ? given : found;
  if (defaults.at('description').isGiven)
    defaults.at('description').leave('`description` of all tests is left out', undefined, 'note');
  return defaults;
}
