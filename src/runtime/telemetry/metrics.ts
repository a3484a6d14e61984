import { existsSync } from 'node:fs';
import { catalogue } from '../../base/errors.ts';
import { shareReads } from '../../base/time/async.ts';
import type { StateStoreConfig } from '../../config/config.ts';
import type { ExchangeStatus, MeasuredEnd, Measures, OperationAbout } from '../../contract/event.ts';
import { type HookMode, phasesOf, type Verdict } from '../../contract/hook.ts';
import { foreignDialects } from '../../dialects/registry.ts';
import type { PendingMeasure } from '../../store/store.ts';
import type { LazyStore } from '../lazy-store.ts';
import { endpointOperation, providerName } from './attributes.ts';
import { boundedInstruments, firstNames, type Instruments } from './labels.ts';

/** The names of a config, which names of spans and labels of metrics may be. */
export interface ConfigNames {
  readonly tools: ReadonlySet<string>;
  readonly hooks: ReadonlySet<string>;
  readonly evals: ReadonlySet<string>;
  /** The type of each provider, by its ID. */
  readonly providers: ReadonlyMap<string, string>;
  readonly models: ReadonlySet<string>;
  /** The servers of `spec.mcp_servers`. */
  readonly servers: ReadonlySet<string>;
}

interface MetricsOptions {
  readonly meter: Instruments;
  /** Removes secrets. */
  readonly text: (value: string) => string;
  readonly names: ConfigNames;
  readonly pendings: () => Promise<PendingMeasure>;
}

/** What metrics count. After `close`, the gauges read nothing more. */
export function openMetrics({ meter, text, names, pendings }: MetricsOptions): {
  readonly measures: Measures;
  close(): void;
} {
  const { histogram, counter, gauge } = boundedInstruments(meter, text);
  const errors = new Set(Object.keys(catalogue));
  const model = {
    'gen_ai.operation.name': new Set(['chat', 'embeddings', 'count_tokens']),
    'gen_ai.provider.name': new Set(['signalbox', ...[...names.providers.values()].map(providerName)]),
    'gen_ai.request.model': names.models,
    'gen_ai.response.model': names.models,
  };
  // Names, units and buckets of the conventions for generative AI.
  const modelDuration = histogram({
    name: 'gen_ai.client.operation.duration',
    description: 'The time of a model call with its hooks, without queues',
    buckets: Array.from({ length: 14 }, (_, index) => 0.01 * 2 ** index),
    labels: { ...model, 'error.type': errors },
  });
  const firstChunk = histogram({
    name: 'gen_ai.client.operation.time_to_first_chunk',
    description: 'The time from a request to the first part of the streamed answer',
    buckets: [0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    labels: model,
  });
  const tokens = histogram({
    ...{ name: 'gen_ai.client.token.usage', unit: '{token}' },
    description: 'The tokens of a model call, as the API counted them',
    buckets: Array.from({ length: 14 }, (_, index) => 4 ** index),
    labels: { ...model, 'gen_ai.token.type': new Set(['input', 'output']) },
  });
  const agentDuration = histogram({
    name: 'gen_ai.invoke_agent.duration',
    description: 'The time of a pipeline until it ends or waits, without queues',
    buckets: bucketsOf(0.01, 3600),
    labels: { 'gen_ai.agent.name': firstNames(100), 'error.type': errors },
    always: { 'gen_ai.operation.name': 'invoke_agent' },
  });
  const toolDuration = histogram({
    name: 'gen_ai.execute_tool.duration',
    description: 'The time of a tool call with its hooks, without queues',
    buckets: bucketsOf(0.00025, 300),
    labels: { 'gen_ai.tool.name': names.tools, 'error.type': errors },
    always: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.type': 'function' },
  });
  const hookDuration = histogram({
    name: 'signalbox_hook_duration_seconds',
    description: 'The time until a hook has decided, without queues',
    buckets: bucketsOf(0.00005, 30),
    labels: {
      ...{ hook: names.hooks, phase: phases() },
      mode: new Set<HookMode>(['filter', 'observe', 'shadow']),
      verdict: new Set<Verdict>(['allow', 'modify', 'deny', 'ask', 'respond', 'abort']),
      error_code: errors,
    },
  });
  const entry = new Set([...names.tools, ...names.hooks, ...names.evals, ...names.servers]);
  const processDuration = histogram({
    name: 'signalbox_process_duration_seconds',
    description: 'The time until a process, an HTTP endpoint or an MCP server has answered',
    buckets: bucketsOf(0.00005, 300),
    labels: { entry, status: new Set<ExchangeStatus>(['ok', 'failed', 'cancelled']) },
  });
  const queue = histogram({
    name: 'signalbox_queue_seconds',
    description: 'The wait for a slot before an exchange with a process',
    buckets: bucketsOf(0.00005, 300),
    labels: { entry },
  });
  const overhead = histogram({
    name: 'signalbox_overhead_seconds',
    description: 'The time of a call in which nothing waited for a slot, for a process or for an upstream',
    buckets: bucketsOf(0.00001, 1),
    labels: { operation: new Set(['tool', 'model', 'eval', 'gateway']) },
  });
  const cases = counter({
    name: 'signalbox_eval_cases_total',
    description: 'Evals of suites by outcome',
    labels: {
      suite: firstNames(100),
      eval: firstNames(100),
      outcome: new Set(['passed', 'failed', 'unscored']),
    },
  });
  const requests = counter({
    name: 'signalbox_gateway_requests_total',
    description: 'Requests to the gateway by HTTP status and verdict',
    labels: {
      endpoint: new Set(['chat', 'responses', 'messages', 'count_tokens', 'embeddings']),
      status: new Set(Array.from({ length: 400 }, (_, index) => String(200 + index))),
      verdict: new Set(['allow', 'deny', 'ask']),
    },
  });
  // Once for the gauges of a scrape.
  const waiting = shareReads(pendings);
  const gauges = [
    gauge(
      {
        name: 'signalbox_pending',
        description: 'Calls that wait for a person, or whose time is over without a decision',
        labels: { state: new Set(['open', 'overdue']) },
      },
      async (observe) => {
        const { open, overdue } = await waiting();
        observe(open, { state: 'open' });
        observe(overdue, { state: 'overdue' });
      },
    ),
    gauge(
      {
        ...{ name: 'signalbox_pending_age_seconds', unit: 's', labels: {} },
        description: 'For how long the oldest open call has waited for a person',
      },
      async (observe) => observe((await waiting()).oldestMs / 1000, {}),
    ),
  ];

  const takeModelCall = (about: OperationAbout, end: MeasuredEnd) => {
    // Without an upstream, the gateway itself has answered.
    const provider = end.answeredBy?.provider ?? ('provider' in about ? about.provider : 'signalbox');
    const labels = {
      'gen_ai.operation.name': about.operation === 'gateway' ? endpointOperation(about.name) : 'chat',
      'gen_ai.provider.name': providerName(names.providers.get(provider) ?? provider),
      'gen_ai.request.model': about.operation === 'gateway' ? end.model : about.name,
      'gen_ai.response.model': end.answeredBy?.model,
    };
    modelDuration(end.durationMs / 1000, { ...labels, 'error.type': end.error?.code });
    if (end.firstChunkMs !== undefined) firstChunk(end.firstChunkMs / 1000, labels);
    if (end.inputTokens !== undefined) tokens(end.inputTokens, { ...labels, 'gen_ai.token.type': 'input' });
    if (end.outputTokens !== undefined)
      tokens(end.outputTokens, { ...labels, 'gen_ai.token.type': 'output' });
  };
  return {
    measures: {
      exchange: (name, status, { durationMs, queueMs }) => {
        processDuration(durationMs / 1000, { entry: name, status });
        queue(queueMs / 1000, { entry: name });
      },
      hook: ({ hook, phase, mode }, { verdict, error, durationMs }) =>
        hookDuration(durationMs / 1000, { hook, phase, mode, verdict, error_code: error?.code }),
      operation: (about, end, parent) => {
        const { operation, name } = about;
        const seconds = end.durationMs / 1000;
        const error = { 'error.type': end.error?.code };
        if (operation === 'pipeline') return agentDuration(seconds, { 'gen_ai.agent.name': name, ...error });
        if (operation === 'case') return;
        overhead(end.ownMs / 1000, { operation });
        if (operation === 'tool') toolDuration(seconds, { 'gen_ai.tool.name': name, ...error });
        else if (operation === 'eval' && parent?.operation === 'case') {
          const judged = end.passed === true ? 'passed' : 'failed';
          const outcome = end.score === undefined ? 'unscored' : judged;
          cases({ suite: parent.name, eval: about.eval, outcome });
        } else if (operation === 'model') takeModelCall(about, end);
        else if (operation === 'gateway') {
          takeModelCall(about, end);
          const status = end.httpStatus === undefined ? undefined : String(end.httpStatus);
          requests({ endpoint: name, status, verdict: verdictOf[end.status] });
        }
      },
    },
    close: () => {
      for (const { close } of gauges) close();
    },
  };
}

/** A request that failed has no verdict. */
const verdictOf: Readonly<Partial<Record<MeasuredEnd['status'], string>>> = {
  ...{ ok: 'allow', denied: 'deny', pending: 'ask' },
};

/** 1, 2.5, 5, 10, 25, … between two bounds, in seconds. */
function bucketsOf(from: number, to: number): number[] {
  const bounds = [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000].flatMap((decade) =>
    [1, 2.5, 5].map((factor) => Number((decade * factor).toPrecision(2))),
  );
  return [...bounds.filter((bound) => bound >= from && bound < to), to];
}

/** The phases of all hooks, and the points at which hosts fire hooks of other systems. */
function phases(): ReadonlySet<string> {
  const points = Object.values(foreignDialects).flatMap((dialect) => Object.keys(dialect.points));
  return new Set([...Object.values(phasesOf).flat(), ...points]);
}

/** Reads no store that nothing has created yet. Rejects if the store does not answer in time. */
export async function readPendings(config: StateStoreConfig, store: LazyStore): Promise<PendingMeasure> {
  if (config.type === 'sqlite' && !existsSync(config.file)) return { open: 0, overdue: 0, oldestMs: 0 };
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('the state store did not answer in time')), 2_000);
  try {
    return await Promise.race([store.open().then((opened) => opened.measurePendings(Date.now())), late]);
  } finally {
    clearTimeout(timer);
  }
}
