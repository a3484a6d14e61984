import type { AttributeValue } from '@opentelemetry/api';
import type { HookAbout, HookOutcome, OperationAbout, OperationEnd } from '../../contract/event.ts';

/** What is known of an operation, of any kind. The members of `OperationEnd` are absent at its start. */
export interface Seen extends Partial<OperationEnd> {
  readonly operation: OperationAbout['operation'];
  readonly name: string;
  readonly call?: string;
  readonly provider?: string;
  readonly eval?: string;
  readonly case?: string;
  readonly epoch?: number;
  readonly variant?: string | undefined;
  readonly run?: string;
  readonly isResumed?: boolean;
  readonly durationMs?: number;
  readonly queueMs?: number;
}

/** An attribute, and where its value comes from. */
export interface Row<Facts> {
  readonly name: string;
  /** `providerOf` returns the conventions' name of a provider. */
  readonly read: (facts: Facts, providerOf: (id: string) => string) => AttributeValue | undefined;
  /** Whether the value is a word of this code, which needs no scrubbing. */
  readonly isWord?: boolean;
}

const row = <Facts>(name: string, read: Row<Facts>['read']): Row<Facts> => ({ name, read });
const word = <Facts>(name: string, read: Row<Facts>['read']): Row<Facts> => ({ name, read, isWord: true });

interface SpanRule<Facts> {
  /** The sampler sees these. */
  readonly start: readonly Row<Facts>[];
  readonly end: readonly Row<Facts>[];
}

/** With microseconds. */
const toSeconds = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms * 1000) / 1e6);

const ends: readonly Row<Seen>[] = [
  word('signalbox.status', ({ status }) => status),
  // An error of an upstream that the gateway passed on has only its HTTP status.
  row('error.type', ({ error, status, httpStatus = '_OTHER' }) =>
    status === 'failed' ? (error?.code ?? String(httpStatus)) : error?.code,
  ),
  row('signalbox.process.duration', ({ durationMs }) => toSeconds(durationMs)),
  row('signalbox.queue.duration', ({ queueMs }) => toSeconds(queueMs || undefined)),
];

const answer: readonly Row<Seen>[] = [
  row('gen_ai.response.model', ({ answeredBy }) => answeredBy?.model),
  row('gen_ai.usage.input_tokens', ({ inputTokens }) => inputTokens),
  row('gen_ai.usage.output_tokens', ({ outputTokens }) => outputTokens),
  row('gen_ai.usage.cache_read.input_tokens', ({ cachedTokens }) => cachedTokens),
  row('gen_ai.response.finish_reasons', ({ finishReason }) => finishReason && [finishReason]),
  row('gen_ai.response.time_to_first_chunk', ({ firstChunkMs }) => toSeconds(firstChunkMs)),
  row('signalbox.cost_usd', ({ costUsd }) => costUsd ?? undefined),
];

const isStreamed = row<Seen>('gen_ai.request.stream', (seen) => seen.isStreamed || undefined);

/** Source of the names that are not ours: OpenTelemetry's conventions for generative AI, version 0.1.0. */
export const operationRules: Readonly<Record<Seen['operation'], SpanRule<Seen>>> = {
  pipeline: {
    start: [
      word('gen_ai.operation.name', () => 'invoke_agent'),
      // Required, and a pipeline may use several.
      word('gen_ai.provider.name', () => 'signalbox'),
      row('gen_ai.agent.name', ({ name }) => name),
      row('signalbox.run.id', ({ run }) => run),
      row('signalbox.run.resumed', ({ isResumed }) => isResumed || undefined),
    ],
    end: ends,
  },
  model: {
    start: [
      word('gen_ai.operation.name', () => 'chat'),
      row('gen_ai.provider.name', ({ provider = '' }, providerOf) => providerOf(provider)),
      row('gen_ai.request.model', ({ name }) => name),
      isStreamed,
    ],
    end: [...answer, ...ends],
  },
  gateway: {
    start: [
      word('gen_ai.operation.name', ({ name }) => endpointOperation(name)),
      word('signalbox.endpoint', ({ name }) => name),
    ],
    end: [
      // Without an upstream, the gateway itself has answered.
      row('gen_ai.provider.name', ({ answeredBy }, providerOf) =>
        answeredBy === undefined ? 'signalbox' : providerOf(answeredBy.provider),
      ),
      row('gen_ai.request.model', ({ model }) => model),
      isStreamed,
      row('http.response.status_code', ({ httpStatus }) => httpStatus),
      ...answer,
      ...ends,
    ],
  },
  tool: {
    start: [word('gen_ai.operation.name', () => 'execute_tool'), row('gen_ai.tool.name', ({ name }) => name)],
    end: [
      row('gen_ai.tool.call.id', ({ call }) => call),
      word('gen_ai.tool.type', () => 'function'),
      ...ends,
    ],
  },
  eval: {
    start: [row('signalbox.eval.name', (seen) => seen.eval), row('signalbox.eval.type', ({ name }) => name)],
    end: ends,
  },
  case: {
    start: [
      row('signalbox.suite', ({ name }) => name),
      row('signalbox.case', (seen) => seen.case),
      row('signalbox.epoch', ({ epoch }) => epoch),
      row('signalbox.variant', ({ variant }) => variant),
    ],
    end: ends,
  },
};

/** Of the event `gen_ai.evaluation.result`. An eval without a score has none, not zero. */
export const evaluationRows: readonly Row<Seen>[] = [
  row('gen_ai.evaluation.name', (seen) => seen.eval),
  row('gen_ai.evaluation.score.value', ({ score }) => score),
  word('gen_ai.evaluation.score.label', ({ score, passed }) =>
    score === undefined || passed === undefined ? undefined : passed ? 'pass' : 'fail',
  ),
  row('error.type', ({ error }) => error?.code),
];

export type HookFacts = HookAbout & HookOutcome;

export const hookRule: SpanRule<HookFacts> = {
  // Each attribute costs twice as much at the start.
  start: [],
  end: [
    row('signalbox.hook.name', ({ hook }) => hook),
    row('signalbox.hook.phase', ({ phase }) => phase),
    word('signalbox.hook.kind', ({ kind }) => kind),
    word('signalbox.hook.mode', ({ mode }) => mode),
    word('signalbox.hook.verdict', ({ verdict }) => verdict),
    row('signalbox.hook.enforced', ({ mode }) => mode === 'filter'),
    row('signalbox.hook.error_code', ({ error }) => error?.code),
    row('error.type', ({ error }) => error?.code),
    row('signalbox.process.duration', ({ durationMs }) => toSeconds(durationMs)),
    row('signalbox.queue.duration', ({ queueMs }) => toSeconds(queueMs || undefined)),
  ],
};

/** The names of the attributes that have content. */
export const contentNames = {
  system: 'gen_ai.system_instructions',
  input: 'gen_ai.input.messages',
  output: 'gen_ai.output.messages',
  args: 'gen_ai.tool.call.arguments',
  result: 'gen_ai.tool.call.result',
} as const;

export function endpointOperation(endpoint: string): string {
  return endpoint === 'embeddings' || endpoint === 'count_tokens' ? endpoint : 'chat';
}

/** The value of `gen_ai.provider.name` for a type of provider, or for a provider of the AI SDK. */
export function providerName(type: string): string {
  return wellKnown.get(type.split('.', 1)[0] ?? '') ?? type;
}

const wellKnown: ReadonlyMap<string, string> = new Map([
  ...['openai', 'anthropic', 'cohere', 'deepseek', 'groq', 'perplexity'].map((name) => [name, name] as const),
  ['claude', 'anthropic'],
  ['gemini', 'gcp.gemini'],
  ['google', 'gcp.gemini'],
  ['vertex', 'gcp.vertex_ai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['azure-openai', 'azure.ai.openai'],
  ['mistral', 'mistral_ai'],
  ['moonshotai', 'moonshot_ai'],
  ['xai', 'x_ai'],
]);
