import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RuntimeError } from '../../errors.ts';
import { isObject } from '../../json/json.ts';
import { parseDocument, type YamlDocument } from '../../yaml/document.ts';
import { requireLoaded } from '../../yaml/problem.ts';
import { collectNotes, type Notes } from '../suite-import/notes.ts';
import { openSourceFiles, type SourceFiles, textOfFile, valueOfFile } from '../suite-import/source-files.ts';
import { type SuiteImport, toSuiteImport } from '../suite-import/suite-import.ts';
import { casesOf, type ImportedCase, noteKeys } from './cases.ts';
import { collectJudges } from './judges.ts';
import { openTemplates, type Templates } from './nunjucks/templates.ts';
import { makePrompts } from './prompts/made-prompts.ts';
import { readPrompts } from './prompts/prompts.ts';
import { readProviders } from './providers.ts';
import { readScenarios } from './scenarios.ts';
import { readTests } from './tests.ts';
import type { ImportedConfig } from './written/imported-config.ts';
import { unknownPrompts } from './written/pairs.ts';
import { writtenFiles } from './written/written-files.ts';

/**
 * Reads a promptfooconfig and makes a runtime, cases and suites of it, to be written to `output`; nothing is written yet.
 * Throws FILE_UNREADABLE, and CONFIG_INVALID for a text that is no YAML or JSON.
 */
export async function importPromptfoo(file: string, output: string): Promise<SuiteImport> {
  const document = openConfig(file);
  const notes = collectNotes(document);
  const value: unknown = document.value;
  if (!isObject(value)) notes.add('error', [], 'a config is a mapping');
  const nunjucks = openTemplates();
  const files = openSourceFiles(dirname(resolve(file)), output);
  const config = await readConfig(isObject(value) ? value : {}, { files, notes, nunjucks }).finally(() =>
    nunjucks.end(),
  );
  if (config.prompts.length * config.providers.length > mostPairs)
    throw new RuntimeError('CONFIG_INVALID', `${file} asks for more than ${mostPairs} pairs`, {
      hint: 'A pair of a prompt and a provider is a variant: import the config in parts.',
    });
  return toSuiteImport(writtenFiles(config), config.cases.length, notes.all());
}

const mostCases = 1_000_000;
const mostPairs = 1000;

function openConfig(file: string): YamlDocument {
  if (!existsSync(file)) throw new RuntimeError('FILE_UNREADABLE', `${file} does not exist`);
  if (/\.[cm]?[jt]s$/.test(file)) {
    const hint = 'Print it as JSON once, and import that.';
    throw new RuntimeError('CONFIG_INVALID', `${file} is a program, and no YAML or JSON`, { hint });
  }
  const text = textOfFile(file, largestConfig);
  if (typeof text !== 'string') throw new RuntimeError('FILE_UNREADABLE', text.fault);
  const document = parseDocument(file, text);
  requireLoaded(file, document.value, document.problems);
  return document;
}

/** Bytes; what a parser of YAML reads within seconds. */
const largestConfig = 16 * 1024 * 1024;

type Mapping = Readonly<Record<string, unknown>>;

interface ImportContext {
  readonly files: SourceFiles;
  readonly notes: Notes;
  readonly nunjucks: Templates;
}

async function readConfig(
  config: Mapping,
  { files, notes, nunjucks }: ImportContext,
): Promise<ImportedConfig> {
  noteTopKeys(config, notes);
  const key = config['providers'] === undefined && config['targets'] !== undefined ? 'targets' : 'providers';
  const { providers, count } = readProviders(config[key], [key], { files, notes });
  const read = await readPrompts(config['prompts'] ?? '{{prompt}}', files, notes);
  const defaults = readDefaults(config['defaultTest'], { files, notes });
  const options = isObject(defaults['options']) ? defaults['options'] : {};
  const judges = collectJudges(options['provider'], { files, notes });
  noteKeys(defaults, ['defaultTest'], notes);
  const templates = isObject(config['assertionTemplates']) ? config['assertionTemplates'] : {};
  const given = await readTests(config['tests'], ['tests'], { files, notes });
  const more = await readScenarios(config['scenarios'], { files, notes });
  const isBare = config['tests'] === undefined && config['scenarios'] === undefined;
  const tests = isBare ? [{ value: {}, at: [] }] : [...given, ...more];
  const cases: ImportedCase[] = [];
  for (const test of tests) {
    // promptfoo’s results number them so too.
    for (const each of casesOf(test, cases.length + 1, {
      files,
      notes,
      nunjucks,
      defaults,
      templates,
      judges,
    }))
      cases.push(each);
    if (cases.length > mostCases)
      throw new RuntimeError('CONFIG_INVALID', `the tests make more than ${mostCases} cases`, {
        hint: 'Variables that are lists make a case of each combination: import the config in parts.',
      });
  }
  const { prompts, made } = makePrompts(read.prompts, cases, { nunjucks, notes });
  for (const provider of providers)
    for (const name of unknownPrompts(provider, prompts))
      notes.add('error', [key], `${provider.name} asks for a prompt \`${name}\` that is not carried`);
  const repeat = isObject(config['evaluateOptions']) ? config['evaluateOptions']['repeat'] : undefined;
  return {
    name: typeof config['description'] === 'string' ? config['description'] : 'promptfoo',
    files,
    prompts,
    providers,
    counts: { prompts: read.count, providers: count },
    cases,
    made,
    judges: judges.used(),
    repeat: typeof repeat === 'number' && repeat > 1 ? Math.trunc(repeat) : undefined,
  };
}

/** What all tests share, which may stand in a file. */
function readDefaults(
  given: unknown,
  { files, notes }: { readonly files: SourceFiles; readonly notes: Notes },
): Mapping {
  if (isObject(given)) return given;
  if (given === undefined || given === null) return {};
  const found = typeof given === 'string' ? files.find(given) : { fault: '`defaultTest` is no mapping' };
  const loaded = 'fault' in found ? found : valueOfFile(found.file);
  if ('value' in loaded && isObject(loaded.value)) return loaded.value;
  notes.add('error', ['defaultTest'], 'fault' in loaded ? loaded.fault : '`defaultTest` is no mapping');
  return {};
}

const carried = [
  'description',
  'prompts',
  'providers',
  'targets',
  'tests',
  'defaultTest',
  'scenarios',
  'assertionTemplates',
  '$schema',
];
/** What changes no verdict. */
const idle = [
  'tags',
  'outputPath',
  'sharing',
  'commandLineOptions',
  'evaluateOptions',
  'metadata',
  'derivedMetrics',
  'writeLatestResults',
];

function noteTopKeys(config: Mapping, notes: Notes): void {
  for (const key of Object.keys(config)) {
    if (carried.includes(key) || key.startsWith('x-')) continue;
    if (idle.includes(key)) notes.add('note', [key], `\`${key}\` is for promptfoo’s own command`);
    else if (key === 'env')
      notes.add('warning', [key], '`env` is not written out: set these variables yourself');
    else notes.add('error', [key], `\`${key}\` is not carried`);
  }
}
