import { isObject } from '../../../json/json.ts';
import type { Path } from '../../../yaml/document.ts';
import type { SourceLocation } from '../../../yaml/problem.ts';
import type { Notes } from '../../suite-import/notes.ts';
import type { SourceFiles } from '../../suite-import/source-files.ts';
import type { AssertionContext, ImportedAssertion } from '../assertions/assertion-model.ts';
import { readTransform } from '../assertions/assertion-values.ts';
import { readAssertion } from '../assertions/assertions.ts';
import type { Embedders } from '../assertions/embedders.ts';
import type { Judges } from '../assertions/judges.ts';
import type { Code } from '../code.ts';
import type { Templates } from '../nunjucks/templates.ts';
import { type ImportedProvider, readProvider } from '../providers/providers.ts';
import { fillVariables } from './filled-variables.ts';
import { type Mapping, mappingAt } from './mapping.ts';
import { noteKeys } from './test-keys.ts';
import type { GivenTest } from './tests.ts';
import { combinations, loadVariable, varsOf } from './variables.ts';

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
  readonly defaults: Mapping;
  readonly templates: Mapping;
  readonly judges: Judges;
  readonly embedders: Embedders;
  readonly nunjucks: Templates;
}

/** The cases of a test: one, or one for each combination of variables that are lists. */
export function casesOf(test: GivenTest, number: number, context: CaseContext): readonly ImportedCase[] {
  if (test.isNoted !== true) noteKeys(test.value, test.at, context.notes);
  const raw = {
    ...varsOf(context.defaults, ['defaultTest'], context),
    ...varsOf(test.value, test.at, context),
  };
  const loaded = Object.entries(raw).map(
    ([name, value]) => [name, loadVariable(value, test, context)] as const,
  );
  const options = { ...mappingAt(context.defaults, 'options'), ...mappingAt(test.value, 'options') };
  const expanded =
    options['disableVarExpansion'] === true
      ? [Object.fromEntries(loaded)]
      : combinations(loaded, test, context);
  const asks = askedOf(test, context);
  if (asks === undefined) return [];
  return expanded.map((given, index) => {
    const vars = fillVariables(given, test, context);
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
  const { rubricPrompt } = { ...mappingAt(context.defaults, 'options'), ...mappingAt(test.value, 'options') };
  const { description, threshold = context.defaults['threshold'] } = test.value;
  const isAggregated = typeof threshold === 'number';
  const inner: AssertionContext = { ...context, vars, judge, transforms, rubricPrompt, isAggregated };
  const inherited = test.value['options'];
  const skips = isObject(inherited) && inherited['disableDefaultAsserts'] === true;
  const own = assertsOf(test.value, test.at, inner);
  const common = skips ? [] : assertsOf(context.defaults, ['defaultTest'], inner);
  return {
    id,
    description: typeof description === 'string' ? description : undefined,
    vars,
    assertions: [...common, ...own],
    threshold: isAggregated ? threshold : undefined,
    metadata: { ...mappingAt(context.defaults, 'metadata'), ...mappingAt(test.value, 'metadata') },
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
