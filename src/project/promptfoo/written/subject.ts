import type { ImportedFile } from '../../suite-import/suite-import.ts';
import { yamlOf } from '../../suite-import/suite-import.ts';
import { promptName } from '../prompts/prompt-model.ts';
import { messagesInSuite, textInSuite } from '../prompts/prompt-rows.ts';
import { slugOf } from '../providers/providers.ts';
import type { Pair } from './pairs.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** The subject of a suite, of one pair or with a variant for each. */
export function subjectOf(pairs: readonly Pair[], isNamed: boolean): Mapping {
  const [first] = pairs;
  if (first !== undefined && !isNamed) return askedOf(first);
  return gridOf(pairs) ?? { variants: pairs.map((pair) => ({ name: pair.name, ...askedOf(pair) })) };
}

/** Providers by prompts, where each pair is there and differs in nothing else; `--provider` then takes others in their place. */
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

/** Its instructions apart from the rest; a scripted model says all of it. */
function conversationOf({ provider, prompt }: Pair): Mapping {
  const messages = messagesInSuite(prompt);
  if (provider.kind === 'echo') return { messages: [{ role: 'user', content: textInSuite(prompt) }] };
  if (typeof messages === 'string' || messages[0]?.role !== 'system') return { messages };
  return { system: messages[0].content, messages: messages.slice(1) };
}

function pipelineName({ provider, prompt }: Pair): string {
  return `${provider.name}-${promptName(prompt)}.pipeline.yaml`;
}

/** The pipeline of a pair whose prompt a program makes while it runs; undefined for others. */
export function pipelineOf(pair: Pair): ImportedFile | undefined {
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

/** The tool that makes a prompt. */
export function makerOf({ prompt }: Pick<Pair, 'prompt'>): string {
  return `make-${promptName(prompt)}`;
}

/** What evals see of an answer beside its text; undefined where that is what they see anyway. */
export function tellingOf(pairs: readonly Pair[]): Mapping {
  // What has a schema is an object there, for code that judges it.
  if (pairs.some((pair) => isObjectOf(pair)))
    return { content: '${subject.result.text}', metadata: toldByAny };
  const programs = pairs.filter(({ provider }) => provider.kind === 'tool');
  const isPlain = programs.length === 0 && pairs.every(({ prompt }) => prompt.body.kind !== 'program');
  if (isPlain) return {};
  const content = '${subject.result.text}';
  if (programs.length === 0) return { content };
  return { content, metadata: programs.length === pairs.length ? toldByTool : toldByAny };
}

/** What a program said beside its text: code of the user’s reads it, and `cost_budget` and `latency_budget`. */
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
