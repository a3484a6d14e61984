import type { HostEnv } from './binding/env.ts';
import type { Cassette } from './cassette/cassette.ts';
import type { RuntimeConfig } from './config/config.ts';
import { unknownName } from './config/unknown-name.ts';
import type { Equipment } from './pipeline/run-context.ts';
import { createGuard } from './provider/guard.ts';
import type { Fire } from './provider/guard-verdict.ts';
import { openProvider } from './provider/open.ts';
import type { Provider } from './provider/provider.ts';
import { openRecorder } from './provider/record.ts';
import { standIn } from './provider/stand-in.ts';
import { guardModel } from './provider/wrap.ts';

export interface ModelsContext {
  readonly config: RuntimeConfig;
  readonly env: HostEnv;
  readonly record: string | undefined;
  readonly replay: string | undefined;
  /** Where the calls stand beside the exchanges of processes. */
  readonly cassette?: Cassette | undefined;
  readonly fire: Fire;
}

/** The models of the declared providers, each behind the guard. */
export interface Models {
  /** The provider's model, or another of its models by name. Throws PROVIDER_UNUSABLE, NAME_UNKNOWN. */
  model(id: string, stream: 'hold' | 'windowed', name?: string): ReturnType<Equipment['model']>;
  /** Never rejects. */
  close(): Promise<void>;
}

export function openModels({ config, env, record, replay, cassette, fire }: ModelsContext): Models {
  const recorder = record === undefined ? undefined : openRecorder(record, cassette?.redact);
  const context = { env, folder: config.folder, recorder, replayed: cassette };
  const opened = new Map<string, Provider>();
  const ids = () => config.providers.map((each) => each.id);
  return {
    model: async (id, stream, name) => {
      const declared = config.providers.find((each) => each.id === id) ?? unknownName('provider', id, ids());
      const asked = name === undefined ? declared : { ...declared, model: name };
      const key = JSON.stringify([id, asked.model]);
      const provider =
        opened.get(key) ??
        openProvider(standIn(asked, env), { ...context, replay: cassette?.isLive(id) ? undefined : replay });
      opened.set(key, provider);
      const guard = createGuard({ providerId: id, fire, stream });
      return { model: guardModel(await provider.model(), guard), pricing: declared.pricing };
    },
    close: async () => {
      await recorder?.close();
    },
  };
}
