import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { HostEnv } from '../binding/env.ts';
import type { Cassette } from '../cassette/cassette.ts';
import type { RuntimeConfig } from '../config/config.ts';
import type { Emit } from '../contract/event.ts';
import type { Scrubber } from '../contract/scrub.ts';
import type { ModelCallParameters, ModelRequest, Services } from '../pipeline/state/run-context.ts';
import { createGuard } from '../provider/guard/guard.ts';
import type { Fire } from '../provider/guard/guard-outcome.ts';
import { fromPrompt } from '../provider/messages/prompt.ts';
import { listTools, toModelOptions } from '../provider/messages/tools.ts';
import { replaceMock } from '../provider/open/mock-replacement.ts';
import { openProvider } from '../provider/open/open-provider.ts';
import { withRetryListener } from '../provider/open/retry-listener.ts';
import type { Provider } from '../provider/provider.ts';
import { openCallRecorder } from '../provider/recording/call-recorder.ts';
import { wrapModel } from '../provider/wrapped-model.ts';
import { unknownName } from '../yaml/unknown-name.ts';
import type { Rates } from './stages/rates.ts';

export interface ModelsContext {
  readonly config: RuntimeConfig;
  readonly env: HostEnv;
  readonly record: string | undefined;
  readonly replay: string | undefined;
  /** The cassette that records or replays model calls too. */
  readonly cassette?: Cassette | undefined;
  readonly scrubber?: Scrubber | undefined;
  readonly rates: Rates;
  readonly fire: Fire;
  readonly emit: Emit;
}

/** The models of the declared providers, each behind the guard. */
export interface Models {
  /** The provider's model, or another of its models by name. Throws PROVIDER_UNUSABLE, NAME_UNKNOWN. */
  model(...asked: Parameters<Services['model']>): ReturnType<Services['model']>;
  /** Never rejects. */
  close(): Promise<void>;
}

export function openModels(parts: ModelsContext): Models {
  const { config, env, record, replay, cassette, scrubber, rates, fire, emit } = parts;
  const recorder = record === undefined ? undefined : openCallRecorder(record, cassette?.redact);
  const context = { env, folder: config.folder, recorder, replayContext: cassette, scrubber };
  const opened = new Map<string, Provider>();
  const ids = () => config.providers.map((each) => each.id);
  const openModel = async (id: string, name?: string) => {
    const declared = config.providers.find((each) => each.id === id) ?? unknownName('provider', id, ids());
    const requested = name === undefined ? declared : { ...declared, model: name };
    const key = JSON.stringify([id, requested.model]);
    const provider =
      opened.get(key) ??
      openProvider(replaceMock(requested, env), {
        ...context,
        rate: rates.of(declared),
        warn: (message) => emit({ type: 'note', name: id, level: 'warn', message }),
        replay: cassette?.isLive(id) ? undefined : replay,
      });
    opened.set(key, provider);
    return { declared, model: await provider.model() };
  };
  /** Opens a provider by its id or model; any other name is another model of the given provider. */
  const openNamedModel = (id: string, name: string) => {
    const other = config.providers.find((each) => each.id === name || each.model === name);
    return other === undefined ? openModel(id, name) : openModel(other.id);
  };
  return {
    model: async (id, stream, { name, hookContext, ...callbacks } = {}) => {
      const { declared, model } = name === undefined ? await openModel(id) : await openNamedModel(id, name);
      const guard = createGuard({
        providerId: declared.id,
        fire: (event, passage) => fire(event, { ...passage, ...(hookContext && { hookContext }) }),
        stream,
        select: async (wanted) =>
          withCallCallbacks((await openNamedModel(declared.id, wanted)).model, callbacks),
      });
      return { model: wrapModel(withCallCallbacks(model, callbacks), guard), pricing: declared.pricing };
    },
    close: async () => {
      await recorder?.close();
    },
  };
}

/** The model with callbacks before each call and each retry. */
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
