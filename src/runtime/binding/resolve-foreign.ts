import type { ForeignHookConfig, RuntimeConfig } from '../../config/config.ts';
import { usualLimits } from '../../config/exec.ts';
import { foreignDialects } from '../../dialects/registry.ts';
import { type Binding, type HttpBinding, withWritable } from '../../process/binding.ts';
import { closeEnv, type HostEnv } from '../../process/env.ts';
import { processContext, resolveEntry } from './resolve.ts';

export interface ResolvedForeignHook {
  readonly binding?: Binding;
  readonly http?: HttpBinding;
  /** Absolute; for a hook without a process, the folder that it belongs to. */
  readonly cwd: string;
  readonly missingEnv: readonly string[];
}

export function resolveForeign(
  hook: ForeignHookConfig,
  config: RuntimeConfig,
  host: HostEnv,
): ResolvedForeignHook {
  const { name, exec: declared, settings } = hook;
  const dialect = foreignDialects[hook.dialect];
  if (declared === undefined) return resolveWithoutProcess(hook, config, host);
  const { exec, variables } = dialect.toProcess(settings, declared, processContext(config, host));
  const { binding, missingEnv } = resolveEntry(
    {
      name,
      capability: 'hook',
      exec: { ...exec, dialect: hook.dialect },
      timeoutMs: dialect.timeoutMs(hook),
      leftovers: 'keep',
      ...(variables && { variables }),
    },
    config,
    host,
  );
  const timeoutMs = capTimeout(hook, binding.timeoutMs, config);
  const own = dialect.ownFolderOf?.(settings)?.path;
  const sandbox = own === undefined ? binding.sandbox : withWritable(binding.sandbox, own);
  return { binding: { ...binding, timeoutMs, sandbox }, cwd: binding.cwd, missingEnv };
}

function resolveWithoutProcess(
  hook: ForeignHookConfig,
  config: RuntimeConfig,
  host: HostEnv,
): ResolvedForeignHook {
  const { name, settings } = hook;
  const { endpointOf, folderOf, ...dialect } = foreignDialects[hook.dialect];
  const cwd = folderOf?.(settings) ?? config.folder;
  const endpoint = endpointOf?.(settings);
  if (endpoint === undefined) return { cwd, missingEnv: [] };
  const env = closeEnv(endpoint.env, host);
  const { defaults } = config;
  const timeoutMs = endpoint.timeoutMs ?? defaults.timeoutMs ?? dialect.timeoutMs(hook);
  const http: HttpBinding = {
    name,
    url: endpoint.url,
    privateHosts: config.privateHosts,
    headers: endpoint.headers(env.variables),
    timeoutMs: capTimeout(hook, timeoutMs, config),
    maxOutputBytes: endpoint.maxOutputBytes ?? defaults.maxOutputBytes ?? usualLimits.maxOutputBytes,
    secrets: env.secrets,
  };
  return { http, cwd, missingEnv: env.missing };
}

function capTimeout(hook: ForeignHookConfig, timeoutMs: number, { foreign }: RuntimeConfig): number {
  const all = foreign.filter(({ dialect }) => dialect === hook.dialect);
  return foreignDialects[hook.dialect].capTimeout?.(hook, timeoutMs, all) ?? timeoutMs;
}
