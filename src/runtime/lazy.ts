import type { ForeignName, RuntimeConfig } from '../config/config.ts';
import { foreignDialects } from '../dialects/registry.ts';
import type { Models, ModelsContext } from './models.ts';
import type { loadPlugins } from './plugins.ts';
import type { RunsApi, RunsApiContext } from './runs-api.ts';

// What most calls never need is neither read from disk nor opened before it is first used.

export function lazyModels(context: ModelsContext): Models {
  let opening: Promise<Models> | undefined;
  return {
    model: async (...given) => {
      opening ??= import('./models.ts').then(({ openModels }) => openModels(context));
      return await (await opening).model(...given);
    },
    close: async () => await (await opening)?.close(),
  };
}

/**
 * The config with what its plugins say of themselves, if it has any. Throws CONFIG_INVALID, ABORTED.
 */
export async function lazyPlugins(
  config: RuntimeConfig,
  ...given: Parameters<typeof loadPlugins> extends [unknown, ...infer Rest] ? Rest : never
): Promise<RuntimeConfig> {
  const isPlugin = ({ dialect }: { readonly dialect: ForeignName }) =>
    foreignDialects[dialect].plugins !== undefined;
  const isAsked = config.imports.length > 0 || config.foreign.some(isPlugin);
  return isAsked ? await (await import('./plugins.ts')).loadPlugins(config, ...given) : config;
}

export function lazyRunsApi(context: RunsApiContext): RunsApi {
  let opening: Promise<RunsApi> | undefined;
  const open = () => {
    context.requireOpen();
    opening ??= import('./runs-api.ts').then(({ openRunsApi }) => openRunsApi(context));
    return opening;
  };
  return {
    run: async (...given) => await (await open()).run(...given),
    runs: {
      list: async (...given) => await (await open()).runs.list(...given),
      show: async (...given) => await (await open()).runs.show(...given),
      resume: async (...given) => await (await open()).runs.resume(...given),
      cancel: async (...given) => await (await open()).runs.cancel(...given),
      prune: async (...given) => await (await open()).runs.prune(...given),
    },
    pending: {
      list: async (...given) => await (await open()).pending.list(...given),
      show: async (...given) => await (await open()).pending.show(...given),
      approve: async (...given) => await (await open()).pending.approve(...given),
      reject: async (...given) => await (await open()).pending.reject(...given),
      respond: async (...given) => await (await open()).pending.respond(...given),
    },
    suspendRuns: async () => await (await opening)?.suspendRuns(),
  };
}
