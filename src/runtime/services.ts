import { RuntimeError } from '../base/errors.ts';
import { suggest } from '../base/text/suggest.ts';
import { once } from '../base/time/async.ts';
import type { CheckInput, Embed, Judge } from '../builtins/checks/check.ts';
import {
  type EvalBatches,
  meetsThreshold,
  requireThreshold,
  runEval,
  type TimedOutcome,
} from '../calls/capability/eval.ts';
import { type Port, trackCall } from '../calls/capability/invoke.ts';
import { type Link, passGate } from '../calls/hooks/gate.ts';
import { isHeard } from '../calls/hooks/links.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { askedProvider } from '../config/provider-use.ts';
import type { KeepCall } from '../contract/decision.ts';
import type { EvalOutcome, EvalRequest } from '../contract/eval.ts';
import type { Emit, OperationEnd } from '../contract/event.ts';
import { trackOperation } from '../contract/operation.ts';
import type { Scrubber } from '../contract/scrub.ts';
import { nextEventId, nextExchangeId } from '../contract/tool.ts';
import { createHookContext } from '../contract/turn.ts';
import { toScoredEvent } from '../pipelines/run/eval-request.ts';
import type { JudgedEval, OfferedTool, Services } from '../pipelines/state/run-context.ts';
import type { Cassette } from '../process/cassette/cassette.ts';
import type { HostEnv } from '../process/env.ts';
import type { Models } from './models.ts';
import type { Rates } from './stages/rates.ts';

interface ServicesContext {
  readonly config: RuntimeConfig;
  readonly tools: ReadonlyMap<string, OfferedTool>;
  readonly prepareTools?: Services['prepareTools'];
  readonly evals: ReadonlyMap<string, Port<EvalRequest, EvalOutcome>>;
  readonly batches?: ReadonlyMap<string, EvalBatches> | undefined;
  readonly links: readonly Link[];
  readonly emit: Emit;
  readonly env: HostEnv;
  readonly record: string | undefined;
  readonly replay: string | undefined;
  readonly cassette?: Cassette | undefined;
  readonly scrubber?: Scrubber | undefined;
  readonly rates: Rates;
  readonly keepCall?: KeepCall | undefined;
  readonly requireOpen: () => void;
}

export interface RuntimeServices extends Services {
  readonly fire: ReturnType<typeof openFire>;
  close(): Promise<void>;
}

export function openServices(context: ServicesContext): RuntimeServices {
  const { config, evals, links, emit, requireOpen } = context;
  const fire = openFire(links);
  const foreignLinks = links.filter((link) => 'group' in link);
  const { env, record, replay, cassette, scrubber, rates, keepCall } = context;
  const models = once(async () => {
    const { openModels } = await import('./models.ts');
    const { openEmbeddingTools } = await import('./judge/embedding-tool.ts');
    const embedByTool = openEmbeddingTools(context.tools, emit);
    const recording = { record, replay, cassette, scrubber };
    return openModels({ config, env, ...recording, rates, fire, emit, keepCall, embedByTool });
  });
  const model = models.method((opened) => opened.model);
  const judge = openJudge(config, model);
  const embed = openEmbedder(config, model);
  return {
    tools: context.tools,
    prepareTools: context.prepareTools,
    emit,
    readEnv: (names) => readEnv(names, context),
    fire,
    model: async (id, stream, options) => {
      requireOpen();
      return await model(id, stream, options);
    },
    modelOf: (id) => config.providers.find((each) => each.id === id)?.model ?? '',
    score: async ({ id, type, request, threshold, signal, batch }) => {
      requireOpen();
      const score = async () => {
        const port = evals.get(type);
        if (threshold !== undefined) requireThreshold(threshold);
        const call = nextExchangeId();
        // An eval of the config takes precedence over a built-in check of the same name.
        const batches = batch && context.batches?.get(type);
        const timed = batches
          ? await batches.score({ input: request, call, signal, alone: batch === 'alone' })
          : port
            ? await runEval(port, { input: request, call, signal })
            : await askCheck({ request, signal, judge, embed, emit, call, declared: evals.keys() });
        const passed = meetsThreshold(timed.outcome, threshold);
        if (isHeard(links, 'scored'))
          void passGate(links, toScoredEvent({ id, request, passed }, timed), { call });
        return { ...timed, passed };
      };
      const about = () => ({ operation: 'eval', name: type, eval: id }) as const;
      return await trackOperation(emit, about, score, endOfEval);
    },
    links: foreignLinks,
    takeLateContext: (session) => foreignLinks.flatMap(({ group }) => group.takeLateContext(session)),
    notifySession: async (phase, event, signal) => {
      // The run itself calls the foreign hooks of session_start.
      const notified = phase === 'session_start' ? links.filter((link) => !('group' in link)) : links;
      const { session_id, messages } = event;
      const host = { tool_count: context.tools.size };
      const hookContext = { ...createHookContext(session_id), messages, now: new Date().toISOString(), host };
      await passGate(
        notified,
        { hook: 'session', phase, event },
        { call: nextExchangeId(), hookContext, signal },
      );
    },
    close: async () => await (await models.opened())?.close(),
  };
}

/** An eval that declines to score has not failed. */
function endOfEval({ outcome, passed }: Pick<JudgedEval, 'outcome' | 'passed'>): OperationEnd {
  if (outcome.status === 'scored') return { status: 'ok', score: outcome.score, passed };
  return { status: outcome.error === undefined ? 'ok' : 'failed', error: outcome.error, passed };
}

function readEnv(
  names: readonly string[],
  { env, scrubber }: Pick<ServicesContext, 'env' | 'scrubber'>,
): Record<string, string> {
  const values = names.map((name) => [name, Object.hasOwn(env, name) ? env[name] : undefined] as const);
  const missing = values.filter(([, value]) => value === undefined).map(([name]) => name);
  if (missing.length > 0) {
    const what = missing.length === 1 ? 'variable' : 'variables';
    const { hint } = suggest(missing[0] ?? '', Object.keys(env));
    throw new RuntimeError(
      'ENV_MISSING',
      `the pipeline needs the ${what} ${missing.join(', ')}, which the environment does not have`,
      { hint },
    );
  }
  scrubber?.add(values.map(([, value]) => value ?? ''));
  return Object.fromEntries(values.map(([name, value]) => [name, value ?? '']));
}

interface CheckCall extends Pick<CheckInput, 'request' | 'signal' | 'judge' | 'embed'> {
  readonly emit: Emit;
  readonly call: string;
  readonly declared: Iterable<string>;
}

async function askCheck({ emit, call, declared, ...asked }: CheckCall): Promise<TimedOutcome> {
  const { type } = asked.request;
  const { findCheck, runCheck, suggestEval } = loadedChecks ?? (await loadChecks());
  if (findCheck(type) === undefined) {
    const message = `there is no eval "${type}"`;
    throw new RuntimeError('NAME_UNKNOWN', message, { hint: suggestEval(type, [...declared]) });
  }
  const { run, finish } = trackCall(emit, 'eval', { name: type, call });
  const outcome = await run(() => runCheck(type, asked.request, asked));
  const error = outcome.status === 'unscored' ? outcome.error : undefined;
  return { outcome, ...finish({ status: outcome.status, error }), stderr: '' };
}

let loadedChecks: typeof import('../builtins/checks/all.ts') | undefined;

async function loadChecks(): Promise<typeof import('../builtins/checks/all.ts')> {
  loadedChecks = await import('../builtins/checks/all.ts');
  return loadedChecks;
}

function openFire(links: readonly Link[]) {
  return async (
    event: Parameters<typeof passGate>[1],
    options: Partial<Parameters<typeof passGate>[2]> = {},
  ) => await passGate(links, event, { call: nextEventId(), ...options });
}

/** All texts of a call are embedded by one model. Throws PROVIDER_UNUSABLE, PROVIDER_FAILED, DENIED, … */
function openEmbedder({ providers }: RuntimeConfig, openModel: Models['model']): Embed {
  return async ({ provider: id = askedProvider('embedding', providers), texts, signal }) => {
    const { toEmbeddingCall, readEmbedded } = await import('../models/embedding.ts');
    const { model, answeredBy } = await openModel(id, 'hold', { embeds: texts });
    const result = await model.doGenerate(toEmbeddingCall(texts, signal));
    const { vectors } = readEmbedded(result, { count: texts.length, provider: id });
    const { provider = id, model: name = model.modelId } = answeredBy() ?? {};
    return { vectors, provider, model: name };
  };
}

function openJudge({ providers }: RuntimeConfig, openModel: Models['model']): Judge {
  return async ({ provider = askedProvider('llm', providers), model: name, ...question }) => {
    const { repair } = question;
    const { model } = await openModel(provider, 'hold', { name });
    const options = {
      prompt: [
        { role: 'system' as const, content: question.system },
        user(question.prompt),
        ...(repair === undefined ? [] : [assistant(repair.answer), user(repair.complaint)]),
      ],
      responseFormat: { type: 'json' as const, schema: question.schema },
      abortSignal: question.signal,
    };
    const { callModel } = await import('../pipelines/chat/model-call.ts');
    const { message } = await callModel(model, { options, isStreamed: false, onText: () => {} });
    return message.content;
  };
}

function user(text: string) {
  return { role: 'user' as const, content: [{ type: 'text' as const, text }] };
}

function assistant(text: string) {
  return { role: 'assistant' as const, content: [{ type: 'text' as const, text }] };
}
