import { RuntimeError } from '../../../errors.ts';
import { stringifyJson } from '../../../json/json.ts';
import { mostVariants } from '../../../suite/subject/variant-limits.ts';
import { type ImportedFile, runtimeYamlOf, yamlOf } from '../../suite-import/suite-import.ts';
import type { AskedOf } from '../cases/cases.ts';
import { variablesInSuite } from '../prompts/prompt-rows.ts';
import { slugOf } from '../providers/providers.ts';
import { scriptsNamedIn } from '../scripts/scripts.ts';
import { type EvalPlan, planEvals } from './evals.ts';
import type { ImportedConfig } from './imported-config.ts';
import { type Pair, pairsOf } from './pairs.ts';
import { runtimeOf } from './runtime.ts';
import { pipelineOf, subjectOf, tellingOf } from './subject.ts';

/** The runtime, the cases, the programs, and a suite for each group of tests that ask the same; none where nobody is asked. */
export function writtenFiles(config: ImportedConfig): readonly ImportedFile[] {
  const plan = planEvals(config.cases);
  const groups = groupsOf(config).filter(({ pairs }) => pairs.length > 0);
  const pairs = distinct(groups.flatMap((group) => group.pairs));
  if (pairs.length === 0) return [];
  const runtime = runtimeOf(config, plan, pairs);
  const text = stringifyJson([runtime, plan.evals]);
  return [
    { name: 'runtime.yaml', text: runtimeYamlOf(runtime) },
    ...groups.flatMap((group, index) => groupFiles(config, plan, { ...group, suffix: suffixOf(index) })),
    ...pairs.flatMap((pair) => pipelineOf(pair) ?? []),
    ...scriptsNamedIn(text),
  ];
}

function distinct(pairs: readonly Pair[]): readonly Pair[] {
  const known = new Map(pairs.map((pair) => [`${pair.prompt.number} ${pair.provider.name}`, pair]));
  return [...known.values()];
}

interface Group {
  /** Positions of the cases. */
  readonly cases: readonly number[];
  readonly pairs: readonly Pair[];
}

/** The cases by whom they ask, which is the same unless tests name providers or prompts, and by whether they have a threshold. */
function groupsOf(config: ImportedConfig): readonly Group[] {
  const groups = new Map<string, { readonly asks: AskedOf; readonly cases: number[] }>();
  for (const [index, { asks, threshold }] of config.cases.entries()) {
    // A suite has a threshold for all its cases, or for none.
    const key = stringifyJson([asks, threshold !== undefined]);
    const group = groups.get(key) ?? { asks, cases: [] };
    groups.set(key, group);
    group.cases.push(index);
  }
  return [...groups.values()].map(({ asks, cases }) => ({ cases, pairs: pairsOf(config, asks) }));
}

function suffixOf(index: number): string {
  return index === 0 ? '' : `-${index + 1}`;
}

function groupFiles(
  config: ImportedConfig,
  plan: EvalPlan,
  { cases, pairs, suffix }: Group & { readonly suffix: string },
): readonly ImportedFile[] {
  const dataset = `cases${suffix}.jsonl`;
  const parts = Array.from({ length: Math.ceil(pairs.length / mostVariants) }, (_, index) =>
    pairs.slice(index * mostVariants, (index + 1) * mostVariants),
  );
  const hasThreshold = cases.some((index) => config.cases[index]?.threshold !== undefined);
  return [
    { name: dataset, text: rowsOf(config, plan, cases) },
    ...parts.map((part, index) =>
      suiteFile(config, plan, {
        pairs: part,
        dataset,
        hasThreshold,
        hasTags: isTagged(config.cases, cases),
        name: `promptfoo${suffix}${suffixOf(index)}`,
      }),
    ),
  ];
}

/** Characters; beyond this nobody meant it. */
const largestRows = 256 * 1024 * 1024;

function rowsOf(
  { cases, prompts, made }: ImportedConfig,
  { checks }: EvalPlan,
  group: readonly number[],
): string {
  // Nunjucks writes nothing for a variable that is not there; an expression would fail.
  const empty = Object.fromEntries(
    prompts.flatMap((prompt) => variablesInSuite(prompt).map((name) => [name, ''])),
  );
  const hasMetadata = isTagged(cases, group);
  const rows = group.flatMap((index) => {
    const found = cases[index];
    if (found === undefined) return [];
    const { id, description, vars, threshold, metadata } = found;
    const prompted = made[index] ?? {};
    const row = {
      id,
      ...(description !== undefined && { description }),
      vars: { ...empty, ...vars },
      ...(Object.keys(prompted).length > 0 && { prompts: prompted }),
      ...(threshold !== undefined && { threshold }),
      ...(hasMetadata && { metadata, tags: tagsOf(metadata) }),
      checks: checks[index],
    };
    return [`${stringifyJson(row)}\n`];
  });
  const size = rows.reduce((sum, row) => sum + row.length, 0);
  if (size > largestRows)
    throw new RuntimeError('CONFIG_INVALID', 'the cases of all tests have more than 256 MiB', {
      hint: 'Variables that are lists make a case of each combination: import the config in parts.',
    });
  return rows.join('');
}

/** Whether some of these cases have metadata, by which a run is filtered there and here. */
function isTagged(cases: ImportedConfig['cases'], group: readonly number[]): boolean {
  return group.some((index) => Object.keys(cases[index]?.metadata ?? {}).length > 0);
}

/** `area=billing`, once for each text of a list. */
function tagsOf(metadata: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(metadata).flatMap(([key, value]) =>
    [value].flat().flatMap((each: unknown) => (typeof each === 'object' ? [] : [`${key}=${String(each)}`])),
  );
}

interface SuitePart {
  readonly name: string;
  readonly dataset: string;
  readonly pairs: readonly Pair[];
  readonly hasThreshold: boolean;
  readonly hasTags: boolean;
}

function suiteFile(
  config: ImportedConfig,
  { evals }: EvalPlan,
  { name, dataset, pairs, hasThreshold, hasTags }: SuitePart,
): ImportedFile {
  const { content, metadata } = tellingOf(pairs);
  const isNamed = config.counts.prompts * config.counts.providers > 1;
  const suite = {
    apiVersion: 'signalbox/v1',
    kind: 'EvalSuite',
    metadata: { name: slugOf(config.name) },
    spec: {
      runtime: './runtime.yaml',
      dataset: { path: dataset },
      subject: subjectOf(pairs, isNamed),
      case: {
        id: '${case.id}',
        ...(content !== undefined && { content }),
        context: { variables: '${case.vars}', ...(metadata !== undefined && { metadata }) },
        ...(hasTags && { tags: '${case.tags}' }),
        ...(hasThreshold && { threshold: { min_score: '${case.threshold}' } }),
      },
      evals,
      ...(config.repeat !== undefined && { repeat: { epochs: config.repeat } }),
    },
  };
  return { name: `${name}.suite.yaml`, text: yamlOf(suite) };
}
