import { isObject } from '../../json/json.ts';
import type { Path } from '../../yaml/document.ts';
import type { SourceLocation } from '../../yaml/problem.ts';
import type { Notes } from '../suite-import/notes.ts';
import { type SourceFiles, valueOfFile } from '../suite-import/source-files.ts';
import type { AssertionContext, ImportedAssertion } from './assertion-model.ts';
import { readAssertion, readTransform } from './assertions.ts';
import type { Code } from './code.ts';
import type { Judges } from './judges.ts';
import type { Templates } from './nunjucks/templates.ts';
import { type ImportedProvider, readProvider } from './providers.ts';
import type { GivenTest } from './tests.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** A test with everything that it inherits. */
export interface ImportedCase {
  readonly id: string;
  readonly description: string | undefined;
  readonly vars: Mapping;
  readonly assertions: readonly ImportedAssertion[];
  readonly threshold: number | undefined;
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
  readonly defaults: Mapping;
  readonly templates: Mapping;
  readonly judges: Judges;
  readonly nunjucks: Templates;
}

/** The cases of a test: one, or one for each combination of variables that are lists. */
export function casesOf(test: GivenTest, number: number, context: CaseContext): readonly ImportedCase[] {
  noteKeys(test.value, test.at, context.notes);
  const raw = {
    ...varsOf(context.defaults, ['defaultTest'], context),
    ...varsOf(test.value, test.at, context),
  };
  const loaded = Object.entries(raw).map(([name, value]) => [name, load(value, test, context)] as const);
  const options = { ...mappingAt(context.defaults, 'options'), ...mappingAt(test.value, 'options') };
  const expanded =
    options['disableVarExpansion'] === true
      ? [Object.fromEntries(loaded)]
      : combinations(loaded, test, context);
  const asks = askedOf(test, context);
  if (asks === undefined) return [];
  return expanded.map((given, index) => {
    const vars = fill(given, test, context);
    return { ...caseOf(String(number + index), vars, test, context), asks };
  });
}

function caseOf(
  id: string,
  vars: Mapping,
  test: GivenTest,
  context: CaseContext,
): Omit<ImportedCase, 'asks'> {
  const judge = judgeOf(test);
  const transforms = transformsOf(test, context);
  const inner: AssertionContext = { ...context, vars, judge, transforms };
  const inherited = test.value['options'];
  const skips = isObject(inherited) && inherited['disableDefaultAsserts'] === true;
  const own = assertsOf(test.value, test.at, inner);
  const common = skips ? [] : assertsOf(context.defaults, ['defaultTest'], inner);
  const { description, threshold = context.defaults['threshold'] } = test.value;
  return {
    id,
    description: typeof description === 'string' ? description : undefined,
    vars,
    assertions: [...common, ...own],
    threshold: typeof threshold === 'number' ? threshold : undefined,
  };
}

function judgeOf({ value, at }: GivenTest): AssertionContext['judge'] {
  const provider = mappingAt(value, 'options')['provider'];
  if (provider === undefined) return undefined;
  return { value: provider, at: 'file' in at ? at : [...at, 'options', 'provider'] };
}

/** What the test makes of each answer before it is judged; undefined, with a note, where that cannot be run. */
function transformsOf(
  { value, at }: GivenTest,
  { defaults, files, notes }: CaseContext,
): readonly Code[] | undefined {
  const options = { ...mappingAt(defaults, 'options'), ...mappingAt(value, 'options') };
  const given = options['transform'] ?? options['postprocess'];
  if (given === undefined) return [];
  const code = readTransform(given, files);
  if (!('fault' in code)) return [code];
  notes.add('error', at, `${code.fault}; the assertions of the test are left out`);
  return undefined;
}

function assertsOf(
  holder: Mapping,
  at: Path | SourceLocation,
  context: AssertionContext,
): readonly ImportedAssertion[] {
  const list = holder['assert'];
  if (!Array.isArray(list)) return [];
  return list.flatMap((each: unknown, index) => {
    const place = 'file' in at ? at : [...at, 'assert', index];
    const found = readAssertion(each, place, context);
    return found === undefined ? [] : [found];
  });
}

/** Undefined, with a note, for a test whose own provider is not carried. */
function askedOf({ value, at }: GivenTest, { defaults, files, notes }: CaseContext): AskedOf | undefined {
  const listed = (key: string): readonly string[] | undefined => {
    const given = value[key] ?? defaults[key];
    return Array.isArray(given) ? given.filter((each) => typeof each === 'string') : undefined;
  };
  const [providers, prompts] = [listed('providers'), listed('prompts')];
  const named = { ...(providers && { providers }), ...(prompts && { prompts }) };
  const own = value['provider'] ?? defaults['provider'];
  if (own === undefined || own === null) return named;
  const place = 'file' in at ? [] : [...at, 'provider'];
  const provider = readProvider(own, place, { files, notes });
  if (provider !== undefined) return { ...named, provider };
  notes.add('error', at, 'a test whose own provider is not carried is left out');
  return undefined;
}

const knownKeys = [
  'vars',
  'assert',
  'description',
  'options',
  'threshold',
  'metadata',
  'provider',
  'providers',
  'prompts',
];
const knownOptions = [
  'disableVarExpansion',
  'disableDefaultAsserts',
  'provider',
  'transform',
  'postprocess',
  // In which order tests run decides no verdict.
  'runSerially',
];

/** Notes what is not carried of a test, or of `defaultTest`. */
export function noteKeys(test: Mapping, at: Path | SourceLocation, notes: Notes): void {
  const inside = (...more: Path): Path | SourceLocation => ('file' in at ? at : [...at, ...more]);
  const isGiven = (holder: Mapping) => (name: string) => holder[name] !== undefined && holder[name] !== null;
  for (const key of Object.keys(test).filter((name) => isGiven(test)(name) && !knownKeys.includes(name)))
    notes.add('error', inside(key), `\`${key}\` of a test is not carried`);
  const options = mappingAt(test, 'options');
  const others = Object.keys(options)
    .filter(isGiven(options))
    .filter((name) => !knownOptions.includes(name));
  for (const key of others)
    notes.add('error', inside('options', key), `the option \`${key}\` of a test is not carried`);
  if (isGiven(test)('assert') && !Array.isArray(test['assert']))
    notes.add('error', inside('assert'), 'assertions that are no list are left out');
}

/** The variables of a test, which may stand in a file. */
function varsOf(test: Mapping, at: Path | SourceLocation, { files, notes }: CaseContext): Mapping {
  const given = test['vars'];
  if (typeof given !== 'string') return mappingAt(test, 'vars');
  const found = files.find(given);
  const loaded = 'fault' in found ? found : valueOfFile(found.file);
  if ('value' in loaded && isObject(loaded.value)) return loaded.value;
  notes.add('error', at, 'fault' in loaded ? loaded.fault : `${given} holds no variables`);
  return {};
}

function load(value: unknown, { at }: GivenTest, { files, notes }: CaseContext): unknown {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string' || !value.startsWith('file://')) return value;
  // A pattern stands for a list of the files.
  if (/[*?{[]/.test(value)) {
    const names = files.match(value);
    if (names.length === 0) notes.add('error', at, `no file is called ${value}`);
    return FileValues.from(names, (name) => loadFile(`file://${name}`, at, { files, notes }));
  }
  return loadFile(value, at, { files, notes });
}

function loadFile(
  value: string,
  at: GivenTest['at'],
  { files, notes }: Pick<CaseContext, 'files' | 'notes'>,
): unknown {
  if (!/\.(txt|md|json|yaml|yml|html|xml|csv)$/.test(value)) {
    notes.add('error', at, `the variable ${value} is no text and is left empty`);
    return '';
  }
  const found = files.find(value);
  const loaded = 'fault' in found ? found : valueOfFile(found.file);
  if ('value' in loaded) return loaded.value;
  notes.add('error', at, `${loaded.fault}; the variable is left empty`);
  return '';
}

/** Beyond this nobody meant it. */
const mostCombinations = 100_000;

function combinations(
  entries: readonly (readonly [string, unknown])[],
  { at }: GivenTest,
  { notes }: CaseContext,
): Mapping[] {
  let all: Mapping[] = [{}];
  for (const [name, value] of entries) {
    const values = isListOfValues(value) ? value : [value];
    if (values.length === 0)
      notes.add('note', at, `the list \`${name}\` is empty, so the test makes no case, there as here`);
    if (all.length * values.length > mostCombinations) {
      notes.add(
        'error',
        at,
        `its lists of variables make more than ${mostCombinations} cases; the test is left out`,
      );
      return [];
    }
    all = all.flatMap((known) => values.map((each) => ({ ...known, [name]: each })));
  }
  return all;
}

/** A list of texts, or of files that fit a pattern, makes a case of each; a list of anything else is one value. */
function isListOfValues(value: unknown): value is readonly unknown[] {
  return value instanceof FileValues || (Array.isArray(value) && typeof value[0] === 'string');
}

/** What the files of a pattern hold. */
class FileValues extends Array<unknown> {}

/** Variables may name one another. */
function fill(vars: Mapping, { at }: GivenTest, { notes, nunjucks }: CaseContext): Mapping {
  const known = resolveNames(vars);
  const entries = Object.entries(known).map(([name, value]) => {
    const filled = nunjucks.fill(value, known);
    if ('value' in filled) return [name, filled.value] as const;
    notes.add('error', at, `the template of the variable \`${name}\` ${filled.fault}, and stays as it is`);
    return [name, value] as const;
  });
  // Nunjucks writes nothing for what is null.
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
}

/** Variables in variables, as promptfoo fills them in: up to five deep. */
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

function mappingAt(holder: Mapping, key: string): Mapping {
  const value = holder[key];
  return isObject(value) ? value : {};
}
