import { RuntimeError } from '../../errors.ts';
import { isObject } from '../../json/json.ts';
import type { Notes } from '../suite-import/notes.ts';
import { type SourceFiles, valueOfFile } from '../suite-import/source-files.ts';
import { collectEmbedders } from './assertions/embedders.ts';
import { collectJudges } from './assertions/judges.ts';
import { type CaseContext, casesOf, type ImportedCase } from './cases/cases.ts';
import { type Mapping, mappingAt } from './cases/mapping.ts';
import { readScenarios } from './cases/scenarios.ts';
import { noteKeys } from './cases/test-keys.ts';
import { readTests } from './cases/tests.ts';
import { noteTopKeys } from './config-keys.ts';
import type { Templates } from './nunjucks/templates.ts';
import { makePrompts } from './prompts/made-prompts.ts';
import { readPrompts } from './prompts/prompts.ts';
import { readProviders } from './providers/providers.ts';
import type { ImportedConfig } from './written/imported-config.ts';
import { unknownPrompts } from './written/pairs.ts';

interface ImportContext {
  readonly files: SourceFiles;
  readonly notes: Notes;
  readonly nunjucks: Templates;
}

const mostCases = 1_000_000;

/** Everything that is carried of a config; the rest is noted. Throws CONFIG_INVALID for more than a million cases. */
export async function readConfig(config: Mapping, context: ImportContext): Promise<ImportedConfig> {
  const { files, notes, nunjucks } = context;
  noteTopKeys(config, notes);
  const key = config['providers'] === undefined && config['targets'] !== undefined ? 'targets' : 'providers';
  const { providers, count } = readProviders(config[key], [key], context);
  const read = await readPrompts(config['prompts'] ?? '{{prompt}}', files, notes);
  const defaults = readDefaults(config['defaultTest'], context);
  noteKeys(defaults, ['defaultTest'], notes);
  const common = mappingAt(defaults, 'options')['provider'];
  const judges = collectJudges(common, context);
  const embedders = collectEmbedders(common, context);
  const templates = mappingAt(config, 'assertionTemplates');
  const cases = await readCases(config, { ...context, defaults, templates, judges, embedders });
  const used = JSON.stringify([config['tests'], config['scenarios'], defaults]);
  for (const name of Object.keys(templates).filter((each) => !used.includes(`#/assertionTemplates/${each}"`)))
    notes.add(
      'note',
      ['assertionTemplates', name],
      `the template \`${name}\` is named in no test of this file`,
    );
  const { prompts, made } = makePrompts(read.prompts, cases, { nunjucks, notes });
  for (const provider of providers)
    for (const name of unknownPrompts(provider, prompts))
      notes.add('error', [key], `${provider.name} asks for a prompt \`${name}\` that is not carried`);
  const { repeat } = mappingAt(config, 'evaluateOptions');
  return {
    name: typeof config['description'] === 'string' ? config['description'] : 'promptfoo',
    files,
    prompts,
    providers,
    counts: { prompts: read.count, providers: count },
    cases,
    made,
    graders: [...judges.used().map(({ entry }) => entry), ...embedders.used()],
    repeat: typeof repeat === 'number' && repeat > 1 ? Math.trunc(repeat) : undefined,
  };
}

/** The cases of all tests and scenarios, or the one of a config that has neither. */
async function readCases(config: Mapping, context: CaseContext): Promise<readonly ImportedCase[]> {
  const given = await readTests(config['tests'], ['tests'], context);
  const more = await readScenarios(config['scenarios'], context);
  const isBare = config['tests'] === undefined && config['scenarios'] === undefined;
  const tests = isBare ? [{ value: {}, at: [] }] : [...given, ...more];
  const cases: ImportedCase[] = [];
  for (const test of tests) {
    // promptfoo’s results number them so too.
    for (const each of casesOf(test, cases.length + 1, context)) cases.push(each);
    if (cases.length > mostCases)
      throw new RuntimeError('CONFIG_INVALID', `the tests make more than ${mostCases} cases`, {
        hint: 'Variables that are lists make a case of each combination: import the config in parts.',
      });
  }
  return cases;
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
