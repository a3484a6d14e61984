import { resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { matchesGlob } from '../../base/text/glob.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import { environmentOf } from '../../config/environment/read.ts';
import { requireConfig } from '../../config/load.ts';
import type { NewKey } from '../../gateway/keys/manager.ts';
import { type KeyManager, openKeyManager } from '../../gateway/keys/manager.ts';
import { hostEnv } from '../../process/env.ts';

export { parseDuration } from '../../config/duration.ts';
export type {
  KeyDetails,
  KeyDocument,
  KeyManager,
  NewKey,
  UsageDocument,
} from '../../gateway/keys/manager.ts';

/**
 * Opens the keys of a RuntimeConfig file. A new key may name only models and hook sets of the config. Throws
 * CONFIG_INVALID, FILE_UNREADABLE, STORE_FAILED, and USAGE for a store in memory.
 */
export async function openKeys(file: string, overlays: readonly string[] = []): Promise<KeyManager> {
  const env = hostEnv();
  const config = requireConfig(resolve(file), env['PATH'] ?? '', { env, overlays });
  if (config.stateStore.type === 'memory') {
    throw new RuntimeError(
      'USAGE',
      'keys need a persistent state store, but the store of this config is memory',
      {
        hint: 'Set spec.state_store to `type: sqlite` or `type: postgres`, or leave it out.',
      },
    );
  }
  const manager = await openKeyManager(config.stateStore, { env: environmentOf(config, env) });
  return {
    ...manager,
    create: async (wanted) => {
      checkNames(config, wanted);
      return await manager.create(wanted);
    },
  };
}

function checkNames(config: RuntimeConfig, { models = [], hooks, tools = [] }: NewKey): void {
  const { gateway, providers, imports } = config;
  const offered = gateway.models?.map(({ name }) => name) ?? providers.map(({ model }) => model);
  const unknown = models.find((model) => !offered.includes(model));
  if (unknown !== undefined) throw unknownName('model', unknown, offered);
  if (hooks !== undefined && !gateway.hooks.has(hooks)) {
    throw unknownName('hook set', hooks, [...gateway.hooks.keys()]);
  }
  // Imported plugins and MCP servers name their tools later.
  if (imports.length > 0 || config.mcpServers !== undefined) return;
  const declared = config.tools.map(({ name }) => name);
  const matchless = tools.find((pattern) => !declared.some((name) => matchesGlob(pattern, name)));
  if (matchless !== undefined) throw unknownName('tool', matchless, declared);
}

function unknownName(what: string, name: string, known: readonly string[]): RuntimeError {
  return new RuntimeError('USAGE', `this config has no ${what} "${name}"`, {
    hint: known.length === 0 ? `It has none.` : `It has ${[...new Set(known)].join(', ')}.`,
  });
}
