import type { Source } from '../../../base/yaml/source.ts';
import { type ImportedProvider, readProvider } from '../suite/providers.ts';
import type { Notes, SourceFiles } from '../suite/source-files.ts';
import type { ImportedAssertion } from '../suite/suite.ts';
import type { AssertionContext } from './assertion-types.ts';
import { readAssertion, readTransform } from './assertions.ts';
import type { Graders } from './judges.ts';
import type { ImportedPrompt } from './prompts.ts';
import type { Templates } from './templates.ts';
import type { GivenTest } from './tests.ts';

export interface ImportedCase {
  readonly id: string;
  readonly description: string | undefined;
  readonly vars: Mapping;
  readonly assertions: readonly ImportedAssertion[];
  readonly threshold: number | undefined;
  /** Kept in the row; text values become tags. */
  readonly metadata: Mapping;
  readonly asks: AskedOf;
}

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
  readonly graders: Graders;
  readonly nunjucks: Templates;
}

/** Returns one case, or one for each combination of list variables. */
export function casesOf(given: GivenTest, number: number, context: CaseContext): readonly ImportedCase[] {
  const { defaults, files, nunjucks } = context;
  const test = given.at(-1) ?? defaults;
  const parts = [defaults, ...given];
  const options = parts.map((part) => part.at('options'));
  const raw = new Map(parts.flatMap((part) => varsOf(part, files)));
  const loaded = [...raw].map(([name, source]) => [name, loadVariable(source, files)] as const);
  for (const part of parts) for (const [, source] of varsOf(part, files)) source.whole();
  const isOne = inherited(options, 'disableVarExpansion', (each) => each.boolean()) === true;
  const expanded = isOne ? [Object.fromEntries(loaded)] : combinations(loaded, test);
  for (const each of options)
    if (each.at('runSerially').isGiven)
      each.at('runSerially').leave('`runSerially` is left out: it changes no verdict', undefined, 'note');
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

function inherited<Value>(
  parts: readonly Source[],
  key: string,
  read: (source: Source) => Value | undefined,
): Value | undefined {
  return parts.reduce<Value | undefined>((found, part) => read(part.at(key)) ?? found, undefined);
}

/** The last value wins; earlier ones count as read. */
function lastGiven(parts: readonly Source[], key: string): Source | undefined {
  const found = parts.map((part) => part.at(key)).filter(({ isGiven }) => isGiven);
  for (const overridden of found.slice(0, -1)) overridden.whole();
  return found.at(-1);
}

export function leaveUnasked(test: Source): void {
  for (const given of ['provider', 'rubricPrompt'].map((key) => test.at('options').at(key)))
    if (given.untaken()[0] === given)
      given.leave('it is left out, because no assertion uses a judge', undefined, 'note');
}

function transformsOf(options: readonly Source[], { files }: CaseContext): AssertionContext['transforms'] {
  const older = lastGiven(options, 'postprocess');
  const found = lastGiven(options, 'transform') ?? older;
  if (found === undefined) return [];
  const code = readTransform(found, files);
  if (!('fault' in code)) return [code];
  found.leave(`${code.fault}; the assertions of the test are left out`);
  return undefined;
}

function askedOf(parts: readonly Source[], test: Source, context: CaseContext): AskedOf | undefined {
  const listed = (key: 'providers' | 'prompts') => {
    const last = lastGiven(parts, key);
    const names = last?.texts();
    for (const name of unknownNames(names ?? [], context[key]))
      last?.note('error', `the test uses \`${name}\` of the ${key}, which is not imported`);
    return names;
  };
  const [providers, prompts] = [listed('providers'), listed('prompts')];
  const named = { ...(providers && { providers }), ...(prompts && { prompts }) };
  const own = lastGiven(parts, 'provider');
  if (own === undefined) return named;
  const provider = readProvider(own, context);
  if (provider !== undefined) return { ...named, provider };
  test.leave('a test is left out, because its own provider is not imported');
  return undefined;
}

type Mapping = Readonly<Record<string, unknown>>;

function varsOf(test: Source, files: SourceFiles): readonly (readonly [string, Source])[] {
  const given = test.at('vars');
  const name = given.text();
  if (name === undefined) return given.members();
  const found = files.open(name);
  if (!('fault' in found) && found.kind === 'mapping') return found.members();
  given.leave('fault' in found ? found.fault : `${name} holds no variables`);
  if (!('fault' in found)) found.whole();
  return [];
}

function loadVariable(source: Source, files: SourceFiles): unknown {
  const value = source.whole();
  if (typeof value !== 'string' || !value.startsWith('file://')) return value;
  if (/[*?{[]/.test(value)) {
    const names = files.match(value);
    if (names.length === 0) source.note('error', `no file matches ${value}`);
    return FileValues.from(names, (name) => loadFile(`file://${name}`, source, files));
  }
  return loadFile(value, source, files);
}

function loadFile(value: string, source: Source, files: SourceFiles): unknown {
  if (!/\.(txt|md|json|yaml|yml|html|xml|csv)$/.test(value)) {
    source.note('error', `the variable ${value} is not text and is left empty`);
    return '';
  }
  const loaded = files.value(value);
  if ('value' in loaded) return loaded.value;
  source.note('error', `${loaded.fault}; the variable is left empty`);
  return '';
}

/** More is taken for a mistake. */
const mostCombinations = 100_000;

function combinations(entries: readonly (readonly [string, unknown])[], test: Source): Mapping[] {
  let all: Mapping[] = [{}];
  for (const [name, value] of entries) {
    const values = isListOfValues(value) ? value : [value];
    if (values.length === 0)
      test.note('note', `the list \`${name}\` is empty, so the test makes no case, as in promptfoo`);
    if (all.length * values.length > mostCombinations) {
      test.leave(`its lists of variables make more than ${mostCombinations} cases; the test is left out`);
      return [];
    }
    all = all.flatMap((known) => values.map((each) => ({ ...known, [name]: each })));
  }
  return all;
}

/** A list of texts or of files makes one case per item. Any other list is a single value. */
function isListOfValues(value: unknown): value is readonly unknown[] {
  return value instanceof FileValues || (Array.isArray(value) && typeof value[0] === 'string');
}

class FileValues extends Array<unknown> {}

function fillVariables(vars: Mapping, test: Source, nunjucks: Templates): Mapping {
  const known = resolveNames(vars);
  const entries = Object.entries(known).map(([name, value]) => {
    const filled = nunjucks.fill(value, known);
    if ('value' in filled) return [name, filled.value] as const;
    test.note('error', `the template of the variable \`${name}\` ${filled.fault}, and stays as it is`);
    return [name, value] as const;
  });
  // Nunjucks renders null as nothing.
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
}

/** Resolves variables in variables up to five levels deep, as promptfoo does. */
function resolveNames(vars: Mapping): Mapping {
  let known = vars;
  for (let depth = 0; depth < 5; depth += 1) {
    const before = known;
    let isDone = true;
    const entries = Object.entries(before).map(([name, value]) => {
      if (typeof value !== 'string' || !value.includes('{{')) return [name, value] as const;
      const made = value.replace(/\{\{\s{0,99}(\w{1,99})\s{0,99}\}\}/, (whole, other: string) => {
        const given = Object.hasOwn(before, other) ? before[other] : undefined;
        return typeof given === 'string' && other !== name ? given : whole;
      });
      if (made !== value) isDone = false;
      return [name, made] as const;
    });
    known = Object.fromEntries(entries);
    if (isDone) break;
  }
  return known;
}

/** Returns true if nothing is selected. `*` and `name:` match prefixes. */
export function isNamed(asked: readonly string[] | undefined, names: readonly string[]): boolean {
  if (asked === undefined) return true;
  return asked.some((each) =>
    names.some(
      (name) => name === each || name.startsWith(each.endsWith('*') ? each.slice(0, -1) : `${each}:`),
    ),
  );
}

export function unknownNames(
  asked: readonly string[],
  known: readonly (ImportedProvider | ImportedPrompt)[],
): readonly string[] {
  const namesOf = (each: ImportedProvider | ImportedPrompt) =>
    'source' in each ? [each.label, each.source] : [each.name, each.label, each.id];
  return asked.filter((name) => !known.some((each) => isNamed([name], namesOf(each))));
}
