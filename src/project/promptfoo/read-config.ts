import { RuntimeError } from '../../errors.ts';
import type { Source } from '../../yaml/source.ts';
import type { Notes } from '../suite-import/notes.ts';
import type { SourceFiles } from '../suite-import/source-files.ts';
import { collectEmbedders } from './assertions/embedders.ts';
import { collectJudges } from './assertions/judges.ts';
import { type CaseContext, casesOf, type ImportedCase, leaveUnasked } from './cases/cases.ts';
import { readScenarios } from './cases/scenarios.ts';
import { readTests } from './cases/tests.ts';
import { unknownNames } from './names.ts';
import type { Templates } from './nunjucks/templates.ts';
import { makePrompts } from './prompts/made-prompts.ts';
import { readPrompts } from './prompts/prompts.ts';
import { readProviders } from './providers/providers.ts';
import type { ImportedConfig } from './written/imported-config.ts';

interface ImportContext {
  readonly files: SourceFiles;
  readonly notes: Notes;
  readonly nunjucks: Templates;
}

const mostCases = 1_000_000;

/** Everything that is carried of a config; the rest is noted. Throws CONFIG_INVALID for more than a million cases. */
export async function readConfig(config: Source, context: ImportContext): Promise<ImportedConfig> {
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
