import type { Source } from '../../../yaml/source.ts';
import type { Notes } from '../../suite-import/notes.ts';
import type { SourceFiles } from '../../suite-import/source-files.ts';
import type { AssertionContext, ImportedAssertion } from '../assertions/assertion-model.ts';
import { readTransform } from '../assertions/assertion-values.ts';
import { readAssertion } from '../assertions/assertions.ts';
import type { Embedders } from '../assertions/embedders.ts';
import type { Judges } from '../assertions/judges.ts';
import { unknownNames } from '../names.ts';
import type { Templates } from '../nunjucks/templates.ts';
import type { ImportedPrompt } from '../prompts/prompt-model.ts';
import { type ImportedProvider, readProvider } from '../providers/providers.ts';
import { fillVariables } from './filled-variables.ts';
import type { GivenTest } from './tests.ts';
import { combinations, loadVariable, type Mapping, varsOf } from './variables.ts';

/** A test with everything that it inherits. */
export interface ImportedCase {
  readonly id: string;
  readonly description: string | undefined;
  readonly vars: Mapping;
  readonly assertions: readonly ImportedAssertion[];
  readonly threshold: number | undefined;
  /** What says where a case belongs: the row keeps it, and its texts are tags. */
  readonly metadata: Mapping;
  readonly asks: AskedOf;
}

/** Whom a test asks, where it says so: a provider of its own, or some of those of the config, and some of its prompts. */
export interface AskedOf {
  readonly provider?: ImportedProvider;
  readonly providers?: readonly string[];
  readonly prompts?: readonly string[];
}

export interface CaseContext {
  readonly files: SourceFiles;
  readonly notes: Notes;
  readonly defaults: Source;
  readonly providers: readonly ImportedProvider[];
  readonly prompts: readonly ImportedPrompt[];
  readonly templates: Source;
  readonly judges: Judges;
  readonly embedders: Embedders;
  readonly nunjucks: Templates;
}

/** The cases of a test: one, or one for each combination of variables that are lists. */
export function casesOf(given: GivenTest, number: number, context: CaseContext): readonly ImportedCase[] {
  const { defaults, files, nunjucks } = context;
  const test = given.at(-1) ?? defaults;
  const parts = [defaults, ...given];
  const options = parts.map((part) => part.at('options'));
  const raw = new Map(parts.flatMap((part) => varsOf(part, files)));
  // What an other part says again is carried from there.
  const loaded = [...raw].map(([name, source]) => [name, loadVariable(source, files)] as const);
  for (const part of parts) for (const [, source] of varsOf(part, files)) source.whole();
  const isOne = inherited(options, 'disableVarExpansion', (each) => each.boolean()) === true;
  const expanded = isOne ? [Object.fromEntries(loaded)] : combinations(loaded, test);
  for (const each of options)
    if (each.at('runSerially').isGiven)
      each.at('runSerially').leave('`runSerially` is not carried: it decides no verdict', undefined, 'note');
  const asks = askedOf(parts, test, context);
  if (asks === undefined) return [];
  return expanded.map((vars, index) => ({
    id: String(number + index),
    ...caseOf(fillVariables(vars, test, nunjucks), given, context),
    asks,
  }));
}

function caseOf(vars: Mapping, given: GivenTest, context: CaseContext): Omit<ImportedCase, 'asks' | 'id'> {
  const { defaults } = context;
  const parts = [defaults, ...given];
  const options = parts.map((part) => part.at('options'));
  const threshold = inherited(parts, 'threshold', (each) => each.number());
  const transforms = transformsOf(options, context);
  // What cannot be run is noted, and nothing is judged without it.
  if (transforms === undefined) for (const part of given) part.at('assert').whole();
  const inner: AssertionContext = {
    ...context,
    vars,
    judge: lastGiven(options.slice(1), 'provider'),
    transforms,
    rubricPrompt: lastGiven(options, 'rubricPrompt'),
    isAggregated: threshold !== undefined,
  };
  const skips = inherited(options.slice(1), 'disableDefaultAsserts', (each) => each.boolean()) === true;
  const asserting = skips ? given : parts;
  const metadata = parts.flatMap((part) => part.at('metadata').members());
  return {
    description: inherited(given, 'description', (each) => each.text()),
    vars,
    assertions: asserting.flatMap((part) =>
      part
        .at('assert')
        .items()
        .flatMap((each) => readAssertion(each, inner) ?? []),
    ),
    threshold,
    metadata: Object.fromEntries(metadata.map(([name, value]) => [name, value.whole()])),
  };
}

/** What the last of the parts says that says it. */
function inherited<Value>(
  parts: readonly Source[],
  key: string,
  read: (source: Source) => Value | undefined,
): Value | undefined {
  return parts.reduce<Value | undefined>((found, part) => read(part.at(key)) ?? found, undefined);
}

/** What the last of the parts says that says it; what the others say counts as read. */
function lastGiven(parts: readonly Source[], key: string): Source | undefined {
  const found = parts.map((part) => part.at(key)).filter(({ isGiven }) => isGiven);
  for (const overridden of found.slice(0, -1)) overridden.whole();
  return found.at(-1);
}

/** Says of a judge, and of what it is asked, that no assertion has any. */
export function leaveUnasked(test: Source): void {
  for (const given of ['provider', 'rubricPrompt'].map((key) => test.at('options').at(key)))
    if (given.untaken()[0] === given)
      given.leave('it is not carried, as no assertion asks a judge', undefined, 'note');
}

/** What the test makes of each answer before it is judged; undefined, with a note, where that cannot be run. */
function transformsOf(options: readonly Source[], { files }: CaseContext): AssertionContext['transforms'] {
  const older = lastGiven(options, 'postprocess');
  const found = lastGiven(options, 'transform') ?? older;
  if (found === undefined) return [];
  const code = readTransform(found, files);
  if (!('fault' in code)) return [code];
  found.leave(`${code.fault}; the assertions of the test are left out`);
  return undefined;
}

/** Undefined, with a note, for a test whose own provider is not carried. */
function askedOf(parts: readonly Source[], test: Source, context: CaseContext): AskedOf | undefined {
  const listed = (key: 'providers' | 'prompts') => {
    const last = lastGiven(parts, key);
    const names = last?.texts();
    for (const name of unknownNames(names ?? [], context[key]))
      last?.note('error', `the test asks for \`${name}\` of the ${key}, which is not carried`);
    return names;
  };
  const [providers, prompts] = [listed('providers'), listed('prompts')];
  const named = { ...(providers && { providers }), ...(prompts && { prompts }) };
  const own = lastGiven(parts, 'provider');
  if (own === undefined) return named;
  const provider = readProvider(own, context);
  if (provider !== undefined) return { ...named, provider };
  test.leave('a test whose own provider is not carried is left out');
  return undefined;
}
