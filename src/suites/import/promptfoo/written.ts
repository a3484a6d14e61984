import { RuntimeError } from '../../../base/errors.ts';
import { stringifyJson } from '../../../base/json/json.ts';
import { mostVariants } from '../../file/schema.ts';
import { nameOfPair } from '../../subject/read-variants.ts';
import { programOf, scriptsNamedIn } from '../suite/programs.ts';
import { type ImportedProvider, slugOf } from '../suite/providers.ts';
import type { SourceFiles } from '../suite/source-files.ts';
import {
  type EvalPlan,
  type ImportedFile,
  planEvals,
  programsOf,
  runtimeFile,
  suiteFile,
  yamlOf,
} from '../suite/suite.ts';
import { codeEvals } from './assertion-types.ts';
import { type AskedOf, type ImportedCase, isNamed } from './cases.ts';
import { messagesInSuite, promptProgramOf, textInSuite, variablesInSuite } from './prompt-rows.ts';
import { type ImportedPrompt, promptName } from './prompts.ts';

/**
 * The runtime, cases, programs and a suite for each group of tests with the same subject. Empty if no provider is left.
 */
export function writtenFiles(config: ImportedConfig): readonly ImportedFile[] {
  const plan = planEvals(config.cases);
  const groups = groupsOf(config).filter(({ pairs }) => pairs.length > 0);
  const pairs = distinct(groups.flatMap((group) => group.pairs));
  if (pairs.length === 0) return [];
  const runtime = runtimeOf(config, plan, pairs);
  return [
    runtime,
    ...groups.flatMap((group, index) => groupFiles(config, plan, { ...group, suffix: suffixOf(index) })),
    ...pairs.flatMap((pair) => pipelineOf(pair) ?? []),
    ...scriptsNamedIn(`${runtime.text}${stringifyJson(plan.evals)}`),
  ];
}

function distinct(pairs: readonly Pair[]): readonly Pair[] {
  const known = new Map(pairs.map((pair) => [`${pair.prompt.number} ${pair.provider.name}`, pair]));
  return [...known.values()];
}

interface Group {
  readonly cases: readonly number[];
  readonly pairs: readonly Pair[];
}

function groupsOf(config: ImportedConfig): readonly Group[] {
  const groups = new Map<string, { readonly asks: AskedOf; readonly cases: number[] }>();
  for (const [index, { asks, threshold }] of config.cases.entries()) {
    // A suite has a threshold for all its cases or for none.
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
      suiteOf(config, plan, {
        pairs: part,
        dataset,
        hasThreshold,
        hasTags: isTagged(config.cases, cases),
        name: `promptfoo${suffix}${suffixOf(index)}`,
      }),
    ),
  ];
}

/** In characters. More is taken for a mistake. */
const largestRows = 256 * 1024 * 1024;

function rowsOf(
  { cases, prompts, made }: ImportedConfig,
  { checks }: EvalPlan,
  group: readonly number[],
): string {
  // Nunjucks renders a missing variable as nothing; an expression would fail.
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
    throw new RuntimeError('CONFIG_INVALID', 'the cases of all tests are larger than 256 MiB', {
      hint: 'Variables that are lists make a case of each combination: import the config in parts.',
    });
  return rows.join('');
}

/** Metadata become tags for selecting cases. */
function isTagged(cases: ImportedConfig['cases'], group: readonly number[]): boolean {
  return group.some((index) => Object.keys(cases[index]?.metadata ?? {}).length > 0);
}

/** For example `area=billing`, once for each text of a list. */
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

function suiteOf(
  config: ImportedConfig,
  { evals }: EvalPlan,
  { name, dataset, pairs, hasThreshold, hasTags }: SuitePart,
): ImportedFile {
  const { content, metadata } = tellingOf(pairs);
  const isNamed = config.counts.prompts * config.counts.providers > 1;
  return suiteFile(name, slugOf(config.name), {
    dataset,
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
  });
}

export interface ImportedConfig {
  readonly name: string;
  readonly prompts: readonly ImportedPrompt[];
  readonly providers: readonly ImportedProvider[];
  readonly counts: { readonly prompts: number; readonly providers: number };
  readonly cases: readonly ImportedCase[];
  readonly made: readonly Readonly<Record<string, unknown>>[];
  readonly graders: readonly Readonly<Record<string, unknown>>[];
  readonly repeat: number | undefined;
  readonly files: SourceFiles;
}

interface Pair {
  /** The variant name, equal to the one in imported promptfoo results. */
  readonly name: string;
  readonly provider: ImportedProvider;
  readonly prompt: ImportedPrompt;
}

function pairsOf(config: ImportedConfig, { provider: own, providers, prompts }: AskedOf): readonly Pair[] {
  const asked = own === undefined ? config.providers : [own];
  return asked
    .filter(
      (provider) => own !== undefined || isNamed(providers, [provider.name, provider.label, provider.id]),
    )
    .flatMap((provider) =>
      config.prompts
        .filter((prompt) => isAsked(prompt, provider) && isNamed(prompts, [prompt.label, prompt.source]))
        .map((prompt) => ({ name: pairName(provider.name, prompt, config.counts), provider, prompt })),
    );
}

/** `openai`, `prompt-1`, or `openai/prompt-1`, depending on which of them there are several. */
export function pairName(
  provider: string,
  prompt: Pick<ImportedPrompt, 'number'>,
  counts: ImportedConfig['counts'],
): string {
  return nameOfPair(
    { provider, prompt: counts.prompts > 1 ? promptName(prompt) : undefined },
    counts.providers,
  );
}

function isAsked({ label, source }: ImportedPrompt, { prompts }: ImportedProvider): boolean {
  return prompts === undefined || isNamed(prompts, [label, source]);
}

function runtimeOf(
  { name, graders, files }: ImportedConfig,
  { evals }: EvalPlan,
  pairs: readonly Pair[],
): ImportedFile {
  const providers = [...new Set(pairs.map(({ provider }) => provider))];
  const makers = pairs.flatMap((pair) => {
    const { body } = pair.prompt;
    return body.kind === 'program' ? [[makerOf(pair), promptProgramOf(body, files)] as const] : [];
  });
  const text = stringifyJson(evals);
  const code = (['javascript', 'python'] as const)
    .filter((language) => text.includes(`"${codeEvals[language]}"`))
    .map((language) => [codeEvals[language], programOf(language, ['assert'], files)] as const);
  return runtimeFile({
    name: slugOf(name),
    providers,
    graders,
    tools: { ...programsOf(providers), ...Object.fromEntries(makers) },
    evals: Object.fromEntries(code),
  });
}

type Mapping = Readonly<Record<string, unknown>>;

function subjectOf(pairs: readonly Pair[], isNamed: boolean): Mapping {
  const [first] = pairs;
  if (first !== undefined && !isNamed) return askedOf(first);
  return gridOf(pairs) ?? { variants: pairs.map((pair) => ({ name: pair.name, ...askedOf(pair) })) };
}

/**
 * Providers and prompts as a grid if every pair exists and they differ in nothing else. `--provider` can then replace
 * the providers.
 */
function gridOf(pairs: readonly Pair[]): Mapping | undefined {
  const providers = [...new Set(pairs.map(({ provider }) => provider))];
  const prompts = [...new Set(pairs.map(({ prompt }) => prompt))];
  const isEven =
    pairs.length === providers.length * prompts.length &&
    providers.every(({ kind, chat }) => kind !== 'tool' && chat === undefined) &&
    prompts.every(
      ({ body, chat }) =>
        chat === undefined && body.kind === 'messages' && (body.isText || providers.every(isModel)),
    );
  const names = providers.flatMap(({ name }) =>
    prompts.map((prompt) =>
      prompts.length === 1
        ? name
        : providers.length === 1
          ? promptName(prompt)
          : `${name}/${promptName(prompt)}`,
    ),
  );
  if (!isEven || names.some((name, index) => name !== pairs[index]?.name)) return undefined;
  const asked = providers.map(({ name }) => name);
  const [only] = pairs;
  if (prompts.length === 1 && only !== undefined) return { chat: { ...chatOf(only), provider: asked } };
  const written = prompts.map((prompt) => {
    const pair = pairs.find((each) => each.prompt === prompt);
    return { name: promptName(prompt), ...(pair && conversationOf(pair)) };
  });
  return { chat: { provider: asked, prompts: written } };
}

function isModel({ kind }: Pair['provider']): boolean {
  return kind === 'chat';
}

function askedOf(pair: Pair): Mapping {
  if (pair.prompt.body.kind === 'program')
    return { pipeline: pipelineName(pair), input: { vars: '${case.vars}' } };
  if (pair.provider.kind === 'tool') return toolCallOf(pair, '${case.vars}');
  return { chat: chatOf(pair) };
}

function toolCallOf({ provider, prompt }: Pair, vars: string): Mapping {
  const isText = prompt.body.kind !== 'messages' || prompt.body.isText;
  return {
    tool: provider.name,
    args: { prompt: isText ? textInSuite(prompt) : messagesInSuite(prompt), vars },
  };
}

function chatOf(pair: Pair): Mapping {
  return {
    provider: pair.provider.name,
    ...conversationOf(pair),
    ...pair.provider.chat,
    ...pair.prompt.chat,
  };
}

function conversationOf({ provider, prompt }: Pair): Mapping {
  const messages = messagesInSuite(prompt);
  if (provider.kind === 'echo') return { messages: [{ role: 'user', content: textInSuite(prompt) }] };
  if (typeof messages === 'string' || messages[0]?.role !== 'system') return { messages };
  return { system: messages[0].content, messages: messages.slice(1) };
}

function pipelineName({ provider, prompt }: Pair): string {
  return `${provider.name}-${promptName(prompt)}.pipeline.yaml`;
}

function pipelineOf(pair: Pair): ImportedFile | undefined {
  const { provider, prompt } = pair;
  if (prompt.body.kind !== 'program') return undefined;
  const isTool = provider.kind === 'tool';
  const asked = isTool ? toolCallOf(pair, '${input.vars}') : { chat: chatOf(pair) };
  const pipeline = {
    apiVersion: 'signalbox/v1',
    kind: 'Pipeline',
    metadata: { name: slugOf(pair.name) },
    spec: {
      runtime: './runtime.yaml',
      input: { type: 'object', required: ['vars'], properties: { vars: { type: 'object' } } },
      steps: [
        { id: 'prompt', tool: makerOf(pair), args: { vars: '${input.vars}', provider: provider.id } },
        { id: 'answer', ...asked },
      ],
      output: isTool ? '${steps.answer.result}' : { text: '${steps.answer.text}' },
    },
  };
  return { name: pipelineName(pair), text: yamlOf(pipeline) };
}

function makerOf({ prompt }: Pick<Pair, 'prompt'>): string {
  return `make-${promptName(prompt)}`;
}

function tellingOf(pairs: readonly Pair[]): Mapping {
  // An answer with a schema is an object for code that judges it.
  if (pairs.some((pair) => isObjectOf(pair)))
    return { content: '${subject.result.text}', metadata: toldByAny };
  const programs = pairs.filter(({ provider }) => provider.kind === 'tool');
  const isPlain = programs.length === 0 && pairs.every(({ prompt }) => prompt.body.kind !== 'program');
  if (isPlain) return {};
  const content = '${subject.result.text}';
  if (programs.length === 0) return { content };
  return { content, metadata: programs.length === pairs.length ? toldByTool : toldByAny };
}

const toldByTool = {
  latency_ms: '${subject.metadata.latency_ms}',
  cost_usd: '${subject.result.cost}',
  output: '${subject.result.output}',
  metadata: '${subject.result.metadata}',
};

const toldByAny = `\${has(subject.result.output) ? ${membersOf(toldByTool)} : has(subject.result.object) ? ${membersOf(
  {
    latency_ms: toldByTool.latency_ms,
    cost_usd: '${subject.metadata.?cost_usd}',
    output: '${subject.result.object}',
  },
)} : subject.metadata}`;

function membersOf(told: Readonly<Record<string, string>>): string {
  const members = Object.entries(told).map(([key, value]) => `"${key}": ${value.slice(2, -1)}`);
  return `{${members.join(', ')}}`;
}

function isObjectOf({ provider, prompt }: Pair): boolean {
  const { output } = { ...provider.chat, ...prompt.chat };
  return output !== undefined;
}
