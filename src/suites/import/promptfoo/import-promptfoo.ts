import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RuntimeError } from '../../../base/errors.ts';
import { nearFileHint } from '../../../base/files/near-file.ts';
import { parseDocument, type YamlDocument } from '../../../base/yaml/document.ts';
import { requireLoaded } from '../../../base/yaml/problem.ts';
import type { Source } from '../../../base/yaml/source.ts';
import { readProviders } from '../suite/providers.ts';
import {
  collectNotes,
  type Notes,
  openSourceFiles,
  type SourceFiles,
  textOfFile,
} from '../suite/source-files.ts';
import { type SuiteImport, toSuiteImport } from '../suite/suite.ts';
import { type CaseContext, casesOf, type ImportedCase, leaveUnasked, unknownNames } from './cases.ts';
import { collectEmbedders, collectJudges } from './judges.ts';
import { makePrompts } from './prompt-rows.ts';
import { readPrompts } from './prompts.ts';
import { openTemplates, type Templates } from './templates.ts';
import { readScenarios, readTests } from './tests.ts';
import { type ImportedConfig, writtenFiles } from './written.ts';

/**
 * Reads a promptfooconfig and makes a runtime, cases and suites of it, to be written to `output`; nothing is written yet.
 * Throws FILE_UNREADABLE, and CONFIG_INVALID for a text that is no YAML or JSON.
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
    throw new RuntimeError('CONFIG_INVALID', `${file} asks for more than ${mostPairs} pairs`, {
      hint: 'A pair of a prompt and a provider is a variant: import the config in parts.',
    });
  return toSuiteImport(writtenFiles(config), config.cases.length, notes.all());
}

const mostPairs = 1000;

function openConfig(file: string): YamlDocument {
  if (!existsSync(file))
    throw new RuntimeError('FILE_UNREADABLE', `${file} does not exist`, { hint: nearFileHint(file) });
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

interface ImportContext {
  readonly files: SourceFiles;
  readonly notes: Notes;
  readonly nunjucks: Templates;
}

const mostCases = 1_000_000;

/** Everything that is carried of a config; the rest is noted. Throws CONFIG_INVALID for more than a million cases. */
async function readConfig(config: Source, context: ImportContext): Promise<ImportedConfig> {
  const { notes, nunjucks } = context;
  if (config.kind !== 'mapping') config.leave('a config is a mapping');
  leaveSettings(config);
  const asked = config.at('providers').isGiven ? config.at('providers') : config.at('targets');
  const { providers, count } = readProviders(asked, context);
  const given = config.at('prompts');
  const read = await readPrompts(
    given.isGiven ? given : notes.open('{{prompt}}', () => config.location),
    context,
  );
  const defaults = readDefaults(config.at('defaultTest'), context.files);
  const common = defaults.at('options').at('provider');
  const judges = collectJudges(common, context);
  const embedders = collectEmbedders(common, context);
  const templates = config.at('assertionTemplates');
  const cases = await readCases(config, {
    ...context,
    providers,
    prompts: read.prompts,
    defaults,
    templates,
    judges,
    embedders,
  });
  for (const [name, template] of templates.members())
    if (template.untaken()[0] === template)
      template.leave(`the template \`${name}\` is named in no test of this file`, undefined, 'note');
  const { prompts, made } = makePrompts(read.prompts, cases, nunjucks);
  for (const provider of providers)
    for (const name of unknownNames(provider.prompts ?? [], prompts))
      asked.note('error', `${provider.name} asks for a prompt \`${name}\` that is not carried`);
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
    graders: [...judges.used(), ...embedders.used()],
    repeat: repeat !== undefined && repeat > 1 ? Math.trunc(repeat) : undefined,
  };
}

/**
 * What is for promptfoo’s own command. Throws CONFIG_INVALID where a variable says where requests go: without it prompts
 * would go to another company.
 */
function leaveSettings(config: Source): void {
  const elsewhere = config
    .at('env')
    .keys()
    .find((name) => /URL|HOST|ENDPOINT|PROXY|API_BASE/i.test(name));
  if (elsewhere !== undefined)
    throw new RuntimeError(
      'CONFIG_INVALID',
      `\`env.${elsewhere}\` says where requests go, and is not carried`,
      {
        hint: 'Write `apiBaseUrl` into the `config` of each provider, take it out of `env`, and import again.',
      },
    );
  if (config.at('env').isGiven)
    config.at('env').leave('`env` is not written out: set these variables yourself', undefined, 'warning');
  const options = config.at('commandLineOptions');
  if (options.isGiven)
    options.leave(
      '`commandLineOptions` are for promptfoo’s own command: give `eval run` those that select tests',
      undefined,
      'warning',
    );
  config.at('$schema').text();
  for (const key of config.keys())
    if (idle.has(key) || key.startsWith('x-'))
      config.at(key).leave(`\`${key}\` is for promptfoo’s own command`, undefined, 'note');
}

/** What changes no verdict. */
const idle: ReadonlySet<string> = new Set([
  'tags',
  'outputPath',
  'sharing',
  'metadata',
  'derivedMetrics',
  'writeLatestResults',
]);

/** The cases of all tests and scenarios, or the one of a config that has neither. */
async function readCases(config: Source, context: CaseContext): Promise<readonly ImportedCase[]> {
  const [given, scenarios] = [config.at('tests'), config.at('scenarios')];
  const tests = (await readTests(given, context)).map((test) => [test]);
  const more = await readScenarios(scenarios, context);
  const isBare = !given.isGiven && !scenarios.isGiven;
  const all = isBare ? [[context.notes.open({}, () => config.location)]] : [...tests, ...more];
  const cases: ImportedCase[] = [];
  for (const test of all) {
    // promptfoo’s results number them so too.
    for (const each of casesOf(test, cases.length + 1, context)) cases.push(each);
    if (cases.length > mostCases)
      throw new RuntimeError('CONFIG_INVALID', `the tests make more than ${mostCases} cases`, {
        hint: 'Variables that are lists make a case of each combination: import the config in parts.',
      });
  }
  for (const test of [context.defaults, ...all.flat()]) leaveUnasked(test);
  return cases;
}

/** What all tests share, which may stand in a file. */
function readDefaults(given: Source, files: SourceFiles): Source {
  const name = given.text();
  const found = name === undefined ? given : files.open(name);
  if ('fault' in found) given.leave(found.fault);
  else if (found.isGiven && found.kind !== 'mapping') found.leave('`defaultTest` is no mapping');
  const defaults = 'fault' in found ? given : found;
  if (defaults.at('description').isGiven)
    defaults.at('description').leave('`description` of all tests is not carried', undefined, 'note');
  return defaults;
}
