import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { unknownName } from '../base/yaml/wording.ts';
import type { ProviderConfig, RuntimeConfig } from '../config/config.ts';
import type { KeepCall } from '../contract/decision.ts';
import type { Emit } from '../contract/event.ts';
import { trackedOperation } from '../contract/operation.ts';
import type { Scrubber } from '../contract/scrub.ts';
import { withRetryListener } from '../models/call-scope.ts';
import { createTextMemory, type EmbedByTool, rememberTexts, requireTexts } from '../models/embedding.ts';
import {
  BREAKER_FAILURES,
  BREAKER_PAUSE_MS,
  createBreaker,
  createFallbackModel,
  type FallbackOptions,
  noBreaker,
} from '../models/fallback.ts';
import { createGuard } from '../models/guard/guard.ts';
import type { Fire } from '../models/guard/guard-outcome.ts';
import { fromPrompt } from '../models/messages/prompt.ts';
import { listTools, toModelOptions } from '../models/messages/tools.ts';
import { replaceMock } from '../models/open/mock-replacement.ts';
import { openProvider } from '../models/open/open-provider.ts';
import { openCallRecorder } from '../models/recording/call-recorder.ts';
import { meterModel } from '../models/spending/metered-model.ts';
import { type Provider, wrapModel } from '../models/wrapped-model.ts';
import type {
  Answerer,
  ModelCallParameters,
  ModelRequest,
  Services,
} from '../pipelines/state/run-context.ts';
import type { Cassette } from '../process/cassette/cassette.ts';
import type { HostEnv } from '../process/env.ts';
import type { Rates } from './stages/rates.ts';

export interface ModelsContext {
  readonly config: RuntimeConfig;
  readonly env: HostEnv;
  readonly record: string | undefined;
  readonly replay: string | undefined;
  readonly cassette?: Cassette | undefined;
  readonly scrubber?: Scrubber | undefined;
  readonly rates: Rates;
  readonly fire: Fire;
  readonly emit: Emit;
  readonly keepCall?: KeepCall | undefined;
  readonly embedByTool: EmbedByTool;
}

export interface Models {
  model(...asked: Parameters<Services['model']>): ReturnType<Services['model']>;
  close(): Promise<void>;
}

export function openModels(parts: ModelsContext): Models {
  const { config, env, record, replay, cassette, scrubber, rates, fire, emit, keepCall, embedByTool } = parts;
  const recorder = record === undefined ? undefined : openCallRecorder(record, cassette?.redact);
  const context = { env, folder: config.folder, recorder, replayContext: cassette, scrubber, embedByTool };
  const memory = createTextMemory();
  const opened = new Map<string, Provider>();
  const ids = () => config.providers.map((each) => each.id);
  const warn = (name: string, message: string) => emit({ type: 'note', name, level: 'warn', message });
  const openModel = async (id: string, role: ProviderConfig['role'], name?: string) => {
    const declared = config.providers.find((each) => each.id === id) ?? unknownName('provider', id, ids());
    const requested = name === undefined ? declared : { ...declared, model: name };
    const key = JSON.stringify([id, requested.model, role]);
    const actual = replaceMock(requested, env);
    const replayed = cassette?.isLive(id) ? undefined : replay;
    const provider =
      opened.get(key) ??
      openProvider(actual, {
        ...context,
        ...{ role, rate: rates.of(declared), streams: rates.streamsOf(declared) },
        warn: (message) => warn(id, message),
        replay: replayed,
      });
    opened.set(key, provider);
    return { declared, model: meterModel(await provider.model(), actual, replayed !== undefined) };
  };
  /** Finds a provider by ID or model; any other name is a model of the given provider. */
  const openNamedModel = (id: string, role: ProviderConfig['role'], name: string) => {
    const other = config.providers.find((each) => each.id === name || each.model === name);
    return other === undefined ? openModel(id, role, name) : openModel(other.id, role);
  };
  const isReplayable = [record, replay, cassette].some((each) => each !== undefined);
  const breaker = isReplayable ? noBreaker : createBreaker();
  const chain: FallbackOptions = {
    breaker,
    onFallback: (from, to, { message }) => warn(from, `${message}; "${to}" is called instead`),
    onOpen: (id) =>
      warn(
        id,
        `it failed ${BREAKER_FAILURES} times in a row: for ${PAUSE}, other providers are called first`,
      ),
  };
  return {
    model: async (id, stream, { name, embeds, hookContext, ...callbacks } = {}) => {
      const role = embeds && ('embedding' as const);
      let answerer: Answerer | undefined;
      type Opened = Awaited<ReturnType<typeof openModel>>;
      const watched = ({ declared, model }: Opened): LanguageModelV4 => {
        const { id: provider, pricing } = declared;
        const onCall = (asked: ModelCallParameters) => {
          answerer = { provider, model: model.modelId, pricing };
          trackedOperation()?.note({ answeredBy: { provider, model: model.modelId } });
          callbacks.onCall?.(asked);
        };
        const called = embeds ? requireTexts(rememberTexts(model, provider, memory), embeds) : model;
        return withCallCallbacks(called, { ...callbacks, onCall });
      };
      const guarded = (opened: Opened): LanguageModelV4 => {
        const { declared } = opened;
        const guard = createGuard({
          emit,
          providerId: declared.id,
          fire: (event, passage) => fire(event, { ...passage, ...(hookContext && { hookContext }) }),
          stream,
          keepCall,
          select: async (wanted) => watched(await openNamedModel(declared.id, role, wanted)),
        });
        return wrapModel(watched(opened), guard);
      };
      const opened = name === undefined ? await openModel(id, role) : await openNamedModel(id, role, name);
      const { fallback = [], pricing } = opened.declared;
      const own = guarded(opened);
      // A caller that names a model gets no fallback.
      if (name !== undefined || fallback.length === 0)
        return { model: own, pricing, answeredBy: () => answerer };
      const others = fallback.map((next) => ({
        id: next,
        open: async () => guarded(await openModel(next, role)),
      }));
      const candidates = [{ id, open: async () => own }, ...others].map((candidate) => ({
        id: candidate.id,
        open: () => {
          answerer = undefined;
          return candidate.open();
        },
      }));
      return { model: createFallbackModel(own, candidates, chain), pricing, answeredBy: () => answerer };
    },
    close: async () => {
      await recorder?.close();
    },
  };
}

const PAUSE = `${BREAKER_PAUSE_MS / 1000} s`;

function withCallCallbacks(
  model: LanguageModelV4,
  { onCall = () => {}, onRetry = () => {} }: Pick<ModelRequest, 'onCall' | 'onRetry'>,
): LanguageModelV4 {
  return wrapModel(model, {
    wrapGenerate: async ({ doGenerate, model: asked, params }) => {
      onCall(describeCall(asked, params));
      return await withRetryListener(onRetry, doGenerate);
    },
    wrapStream: async ({ doStream, model: asked, params }) => {
      onCall(describeCall(asked, params));
      return await withRetryListener(onRetry, doStream);
    },
  });
}

function describeCall({ modelId }: LanguageModelV4, params: LanguageModelV4CallOptions): ModelCallParameters {
  const { messages, system_prompt } = fromPrompt(params.prompt);
  return {
    messages,
    system_prompt,
    tools: listTools(params),
    model: modelId,
    options: toModelOptions(params),
  };
}
