import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isObject } from '../../base/json/json.ts';
import type { ExecConfig, ForeignHookConfig, ProviderConfig, RuntimeConfig } from '../../config/config.ts';
import { findServer } from '../../config/mcp-servers.ts';
import type { HookKind } from '../../contract/hook.ts';
import { replaceMock } from '../../models/open/mock-replacement.ts';
import type { SubjectContext } from './adapter.ts';

// Everything that determines answers, as JSON values for cache keys: config entries without positions, and digests of
// the files they name. Contains no secrets, only names of forwarded variables.

export function describeTools(config: RuntimeConfig, names: readonly string[]): unknown {
  const tools = config.tools
    .filter(({ name }) => names.includes(name))
    .map(({ position: _position, exec, ...tool }) => ({ ...tool, exec: exec && describeExec(config, exec) }));
  const servers = new Map(config.mcpServers?.map((server) => [server.name, server]));
  const asked = new Set(names.flatMap((name) => findServer(name, servers)?.server ?? []));
  return [
    ...tools,
    ...[...asked].map(({ name, url, exec, toolFilter }) => ({
      ...{ name, url, toolFilter },
      exec: exec && describeExec(config, exec),
    })),
  ];
}

export function describeEvals(config: RuntimeConfig, names: readonly string[]): unknown {
  return config.evals
    .filter(({ name }) => names.includes(name))
    .map(({ exec, ...entry }) => ({ ...entry, exec: describeExec(config, exec) }));
}

/** The filters of `kind`, and all hooks of foreign dialects, with their programs. */
export function describeHooks(config: RuntimeConfig, kind?: HookKind): unknown {
  const natives = config.hooks
    .filter(({ hook, mode }) => mode === 'filter' && (kind === undefined || hook === kind))
    .map(({ fileIndex, exec, ...entry }) => ({
      place: fileIndex,
      said: { ...entry, exec: describeExec(config, exec) },
    }));
  const foreignHooks = config.foreign.map((hook) => ({
    place: hook.fileIndex,
    said: describeForeign(config, hook),
  }));
  // Their relative order matters, not their position in the file.
  return [...natives, ...foreignHooks]
    .toSorted((one, other) => one.place - other.place)
    .map(({ said: description }) => description);
}

function describeForeign(config: RuntimeConfig, hook: ForeignHookConfig): unknown {
  const { source: _source, fileIndex: _place, exec, ...entry } = hook;
  if (exec === undefined) return entry;
  // Words of a shell line may be file names.
  const words = exec.command.split(/[\s"';|&()<>]+/);
  const files = digestFiles(words, resolve(config.folder, exec.cwd ?? '.'));
  return { ...entry, exec: describeExec(config, exec), files };
}

type ProviderContext = Pick<SubjectContext, 'config' | 'env'>;

export function describeProviders({ config, env }: ProviderContext, ids: readonly string[]): unknown {
  return config.providers
    .filter(({ id }) => ids.includes(id))
    .map((provider) => describeProvider(config, withStandIn(provider, env)));
}

export function describeConfig(context: ProviderContext): unknown {
  const { config } = context;
  const { file, tools, evals, hooks, foreign, providers } = config;
  const execs = [...tools.flatMap(({ exec }) => exec ?? []), ...[...evals, ...hooks].map(({ exec }) => exec)];
  return {
    text: digestFiles([resolve(file)], ''),
    execs: execs.map((exec) => describeExec(config, exec)),
    foreign: foreign.map((hook) => describeForeign(config, hook)),
    models: describeProviders(
      context,
      providers.map(({ id }) => id),
    ),
  };
}

function describeExec(
  { folder }: RuntimeConfig,
  { position: _position, endpoint, ...exec }: ExecConfig,
): unknown {
  const { command, args, env, cwd } = exec;
  const words = [...args, ...env].flatMap((word) => [word, word.slice(word.indexOf('=') + 1)]);
  return {
    ...exec,
    // Headers may contain a secret.
    ...(endpoint && { url: endpoint.url }),
    // A bare name is an interpreter from PATH, which is not part of the subject.
    program: command.includes('/') ? digestFiles([command], folder) : [],
    files: digestFiles(words, resolve(folder, cwd ?? '.')),
  };
}

function withStandIn(provider: ProviderConfig, env: SubjectContext['env']): ProviderConfig {
  try {
    return replaceMock(provider, env);
  } catch {
    return provider;
  }
}

function describeProvider({ folder }: RuntimeConfig, provider: ProviderConfig): unknown {
  const { position: _position, credential: _credential, ...rest } = provider;
  return { ...rest, files: digestFiles(textsIn(rest.additionalConfig), folder) };
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

export function digestFiles(words: readonly string[], folder: string): [name: string, digest: string][] {
  const names = [...new Set(words)].filter((word) => word !== '' && isFile(resolve(folder, word)));
  return names.map((name) => [name, digestFile(resolve(folder, name))]);
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}

function digestFile(path: string): string {
  const hash = createHash('sha256');
  try {
    const fd = openSync(path, 'r');
    try {
      const buffer = Buffer.alloc(64 * 1024);
      for (let size = 1; size > 0; ) {
        size = readSync(fd, buffer);
        hash.update(buffer.subarray(0, size));
      }
    } finally {
      closeSync(fd);
    }
  } catch {
    return 'unreadable';
  }
  return hash.digest('hex');
}
