import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { HostEnv } from '../binding/env.ts';
import type { Cassette } from '../cassette/cassette.ts';
import type { RuntimeConfig } from '../config/config.ts';
import type { Scrubber } from '../contract/scrub.ts';
import type { AskedTurn, Equipment, ModelRequest } from '../pipeline/state/run-context.ts';
import { createGuard } from '../provider/guard/guard.ts';
import type { Fire } from '../provider/guard/verdict.ts';
import { fromPrompt } from '../provider/messages/prompt.ts';
import { listTools, toModelOptions } from '../provider/messages/tools.ts';
import { openProvider } from '../provider/open/open.ts';
import { hearRetries } from '../provider/open/retries.ts';
import { standIn } from '../provider/open/stand-in.ts';
import type { Provider } from '../provider/provider.ts';
import { openRecorder } from '../provider/recording/record.ts';
import { guardModel } from '../provider/wrap.ts';
import { unknownName } from '../yaml/unknown-name.ts';

export interface ModelsContext {
  readonly config: RuntimeConfig;
  readonly env: HostEnv;
  readonly record: string | undefined;
  readonly replay: string | undefined;
  /** Where the calls stand beside the exchanges of processes. */
  readonly cassette?: Cassette | undefined;
  readonly scrubber?: Scrubber | undefined;
  readonly fire: Fire;
}

/** The models of the declared providers, each behind the guard. */
export interface Models {
  /** The provider's model, or another of its models by name. Throws PROVIDER_UNUSABLE, NAME_UNKNOWN. */
  model(...asked: Parameters<Equipment['model']>): ReturnType<Equipment['model']>;
  /** Never rejects. */
  close(): Promise<void>;
}

export function openModels(parts: ModelsContext): Models {
  const { config, env, record, replay, cassette, scrubber, fire } = parts;
  const recorder = record === undefined ? undefined : openRecorder(record, cassette?.redact);
  const context = { env, folder: config.folder, recorder, replayed: cassette, scrubber };
  const opened = new Map<string, Provider>();
  const ids = () => config.providers.map((each) => each.id);
  const bare = async (id: string, name?: string) => {
    const declared = config.providers.find((each) => each.id === id) ?? unknownName('provider', id, ids());
    const asked = name === undefined ? declared : { ...declared, model: name };
    const key = JSON.stringify([id, asked.model]);
    const provider =
      opened.get(key) ??
      openProvider(standIn(asked, env), { ...context, replay: cassette?.isLive(id) ? undefined : replay });
    opened.set(key, provider);
    return { declared, model: await provider.model() };
  };
  /** A provider by its id or model; any other name is a model of the provider at hand. */
  const named = (id: string, name: string) => {
    const other = config.providers.find((each) => each.id === name || each.model === name);
    return other === undefined ? bare(id, name) : bare(other.id);
  };
  return {
    model: async (id, stream, { name, scene, ...told } = {}) => {
      const { declared, model } = name === undefined ? await bare(id) : await named(id, name);
      const guard = createGuard({
        providerId: declared.id,
        fire: (event, passage) => fire(event, { ...passage, ...(scene && { scene }) }),
        stream,
        select: async (wanted) => announced((await named(declared.id, wanted)).model, told),
      });
      return { model: guardModel(announced(model, told), guard), pricing: declared.pricing };
    },
    close: async () => {
      await recorder?.close();
    },
  };
}

/** A model that says when it is asked, and asked again. */
function announced(
  model: LanguageModelV4,
  { onCall = () => {}, onRetry = () => {} }: Pick<ModelRequest, 'onCall' | 'onRetry'>,
): LanguageModelV4 {
  return guardModel(model, {
    specificationVersion: 'v4',
    wrapGenerate: async ({ doGenerate, model: asked, params }) => {
      onCall(describeCall(asked, params));
      return await hearRetries(onRetry, doGenerate);
    },
    wrapStream: async ({ doStream, model: asked, params }) => {
      onCall(describeCall(asked, params));
      return await hearRetries(onRetry, doStream);
    },
  });
}

function describeCall({ modelId }: LanguageModelV4, params: LanguageModelV4CallOptions): AskedTurn {
  const { messages, system_prompt } = fromPrompt(params.prompt);
  return {
    messages,
    system_prompt,
    tools: listTools(params),
    model: modelId,
    options: toModelOptions(params),
  };
}
