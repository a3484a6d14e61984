import type { EvalConfig, HookConfig, RuntimeConfig } from '../../config/config.ts';
import type { Binding } from '../../process/binding.ts';
import type { HostEnv } from '../../process/env.ts';
import { type ResolvedEntry, resolveExec, resolveHook } from '../binding/resolve.ts';
import { resolveForeign } from '../binding/resolve-foreign.ts';
import type { ForeignEntry } from '../foreign-links.ts';

interface SecretHolder {
  readonly binding: Pick<ResolvedEntry['binding'], 'name' | 'secrets'>;
  readonly missingEnv: readonly string[];
}

interface Entry<Config> {
  readonly config: Config;
  readonly resolved: ResolvedEntry;
}

export type Entries = ReturnType<typeof resolveEntries>;

export function resolveEntries(config: RuntimeConfig, host: HostEnv) {
  const tools = config.tools.map((tool) => ({
    config: tool,
    resolved:
      tool.exec && resolveExec({ name: tool.name, capability: 'tool', exec: tool.exec }, config, host),
  }));
  const evals: Entry<EvalConfig>[] = config.evals.map((entry) => ({
    config: entry,
    resolved: resolveExec({ name: entry.name, capability: 'eval', exec: entry.exec }, config, host),
  }));
  const hooks: Entry<HookConfig>[] = config.hooks.map((hook) => ({
    config: hook,
    resolved: resolveHook(hook, config, host),
  }));
  const foreign = config.foreign.map(
    (hook): ForeignEntry => ({ config: hook, resolved: resolveForeign(hook, config, host) }),
  );
  const foreignHooks = foreign.flatMap(({ config: { name }, resolved: { binding, http, missingEnv } }) => {
    const holder = binding ?? (http && { name, secrets: http.secrets });
    return holder === undefined ? [] : [{ binding: holder, missingEnv }];
  });
  const nativeEntries = [...tools, ...evals, ...hooks].flatMap(({ resolved }) =>
    resolved === undefined ? [] : [resolved],
  );
  const all: readonly SecretHolder[] = [...nativeEntries, ...foreignHooks];
  return { tools, evals, hooks, foreign, all };
}

export function bindingsOf({ tools, evals, hooks, foreign }: Entries): readonly Binding[] {
  const all = [...tools, ...evals, ...hooks, ...foreign];
  return all.flatMap(({ resolved }) => (resolved?.binding === undefined ? [] : [resolved.binding]));
}
