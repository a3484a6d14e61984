import type { HostEnv } from './binding/env.ts';
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
  readonly fire: Fire;
}

/** The models of the declared providers, each behind the guard. */
export interface Models extends Pick<Equipment, 'model'> {
  /** Never rejects. */
  close(): Promise<void>;
}

export function openModels({ config, env, record, replay, fire }: ModelsContext): Models {
  const recorder = record === undefined ? undefined : openRecorder(record);
  const context = { env, folder: config.folder, recorder, replay };
  const opened = new Map<string, Provider>();
  const ids = () => config.providers.map((each) => each.id);
  return {
    model: async (id, stream) => {
      const declared = config.providers.find((each) => each.id === id) ?? unknownName('provider', id, ids());
      const provider = opened.get(id) ?? openProvider(standIn(declared, env), context);
      opened.set(id, provider);
      const guard = createGuard({ providerId: id, fire, stream });
      return { model: guardModel(await provider.model(), guard), pricing: declared.pricing };
    },
    close: async () => {
      await recorder?.close();
    },
  };
}
