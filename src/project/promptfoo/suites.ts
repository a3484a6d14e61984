import { RuntimeError } from '../../errors.ts';
import { stringifyJson } from '../../json/json.ts';
import type { SourceFiles } from '../suite-import/source-files.ts';
import { type ImportedFile, runtimeYamlOf, yamlOf } from '../suite-import/suite-import.ts';
import type { ImportedCase } from './cases.ts';
import { codeEvals } from './code-assertions.ts';
import { type EvalPlan, planEvals } from './evals.ts';
import { programOf } from './program.ts';
import type { ImportedPrompt } from './prompts.ts';
import { type ImportedProvider, slugOf } from './providers.ts';
import { scriptsNamedIn } from './scripts.ts';

/** What is left of a config once everything in it is known. */
export interface ImportedConfig {
  readonly name: string;
  readonly prompts: readonly ImportedPrompt[];
  readonly providers: readonly ImportedProvider[];
  readonly cases: readonly ImportedCase[];
  /** The models that grade. */
  readonly judges: readonly ImportedProvider[];
  readonly repeat: number | undefined;
  readonly files: SourceFiles;
}

/** The runtime, the cases, the programs and a suite for each pair of a prompt and a provider. */
export function writtenFiles(config: ImportedConfig): readonly ImportedFile[] {
  const plan = planEvals(config.cases);
  const runtime = runtimeOf(config, plan);
  const text = stringifyJson([runtime, plan.evals]);
  const suites = config.providers.flatMap((provider) =>
    config.prompts.flatMap((prompt, index) =>
      isAsked(prompt, provider) ? [suiteFile(config, plan, { provider, prompt, index })] : [],
    ),
  );
  return [
    { name: 'runtime.yaml', text: runtimeYamlOf(runtime) },
    { name: 'cases.jsonl', text: rowsOf(config, plan) },
    ...suites,
    ...scriptsNamedIn(text),
  ];
}

/** Whether a provider is asked that prompt: all of them, unless it names some. */
export function isAsked({ label, source }: ImportedPrompt, { prompts }: ImportedProvider): boolean {
  return prompts?.some((name) => name === label || name === source || label.startsWith(`${name}:`)) ?? true;
}

/** The prompts that a provider names and that are not there. */
export function unknownPrompts(
  provider: ImportedProvider,
  prompts: readonly ImportedPrompt[],
): readonly string[] {
  return (provider.prompts ?? []).filter(
    (name) => !prompts.some((prompt) => isAsked(prompt, { ...provider, prompts: [name] })),
  );
}

/** Characters; beyond this nobody meant it. */
const largestRows = 256 * 1024 * 1024;

function rowsOf({ cases, prompts }: ImportedConfig, { checks }: EvalPlan): string {
  // Nunjucks writes nothing for a variable that is not there; an expression would fail.
  const empty = Object.fromEntries(prompts.flatMap(({ variables }) => variables.map((name) => [name, ''])));
  const rows = cases.map(({ id, description, vars }, index) => {
    const row = {
      id,
      ...(description !== undefined && { description }),
      vars: { ...empty, ...vars },
      checks: checks[index],
    };
    return `${stringifyJson(row)}\n`;
  });
  const size = rows.reduce((sum, row) => sum + row.length, 0);
  if (size > largestRows)
    throw new RuntimeError('CONFIG_INVALID', 'the cases of all tests have more than 256 MiB', {
      hint: 'Variables that are lists make a case of each combination: import the config in parts.',
    });
  return rows.join('');
}

function runtimeOf({ name, providers, judges: graders, files }: ImportedConfig, { evals }: EvalPlan): object {
  const text = stringifyJson(evals);
  const chats = providers.flatMap((each) => (each.kind === 'tool' ? [] : [each.entry]));
  const judges = graders.map(({ entry }) => entry);
  const tools = Object.fromEntries(
    providers.flatMap((each) => (each.kind === 'tool' ? [[each.name, each.entry]] : [])),
  );
  const code = Object.fromEntries([
    ...(text.includes(`"${codeEvals.javascript}"`)
      ? [[codeEvals.javascript, programOf('javascript', ['assert'], files)]]
      : []),
    ...(text.includes(`"${codeEvals.python}"`)
      ? [[codeEvals.python, programOf('python', ['assert'], files)]]
      : []),
  ]);
  const spec = {
    ...(chats.length + judges.length > 0 && { providers: [...chats, ...judges] }),
    ...(Object.keys(tools).length > 0 && { tools }),
    ...(Object.keys(code).length > 0 && { evals: code }),
  };
  return { apiVersion: 'signalbox/v1', kind: 'RuntimeConfig', metadata: { name: slugOf(name) }, spec };
}

interface Pair {
  readonly provider: ImportedProvider;
  readonly prompt: ImportedPrompt;
  readonly index: number;
}

function suiteFile(config: ImportedConfig, { evals }: EvalPlan, pair: Pair): ImportedFile {
  const { provider, index } = pair;
  const name = config.prompts.length === 1 ? provider.name : `${provider.name}-prompt-${index + 1}`;
  const threshold = config.cases[0]?.threshold;
  const suite = {
    apiVersion: 'signalbox/v1',
    kind: 'EvalSuite',
    metadata: { name },
    spec: {
      runtime: './runtime.yaml',
      dataset: { path: 'cases.jsonl' },
      ...subjectOf(pair),
      case: {
        id: '${case.id}',
        ...(provider.kind === 'tool' && { content: '${subject.result.text}' }),
        context: { variables: '${case.vars}', ...(provider.kind === 'tool' && { metadata: toldByTool }) },
        ...(threshold !== undefined && { threshold: { min_score: threshold } }),
      },
      evals,
      ...(config.repeat !== undefined && { repeat: { epochs: config.repeat } }),
    },
  };
  return { name: `${name}.suite.yaml`, text: yamlOf(suite) };
}

/** What a program said beside its text: code of the user’s reads it, and `cost_budget` and `latency_budget`. */
const toldByTool = {
  latency_ms: '${subject.metadata.latency_ms}',
  cost_usd: '${subject.result.cost}',
  output: '${subject.result.output}',
  metadata: '${subject.result.metadata}',
};

function subjectOf({ provider, prompt }: Pair): object {
  if (provider.kind === 'tool') {
    const given = prompt.isText ? promptText(prompt) : prompt.messages;
    return { subject: { tool: provider.name, args: { prompt: given, vars: '${case.vars}' } } };
  }
  if (provider.kind === 'echo')
    return {
      subject: {
        chat: { provider: provider.name, messages: [{ role: 'user', content: promptText(prompt) }] },
      },
    };
  const system = prompt.messages[0]?.role === 'system' ? prompt.messages[0].content : undefined;
  const messages = system === undefined ? prompt.messages : prompt.messages.slice(1);
  return {
    subject: { chat: { provider: provider.name, ...(system !== undefined && { system }), messages } },
  };
}

function promptText({ messages }: ImportedPrompt): string {
  return messages.map(({ content }) => content).join('\n');
}
