import { fileURLToPath } from 'node:url';
import { sweepTempFolders } from '../../base/files/temp-folder.ts';
import { requirePlatform } from '../../base/platform.ts';
import { decodePercent } from '../../base/text/url.ts';
import { once } from '../../base/time/async.ts';
import type { ForeignName, ProviderConfig, RuntimeConfig } from '../../config/config.ts';
import { environmentOf } from '../../config/environment/read.ts';
import { configOf, type LoadedConfig, loadConfig } from '../../config/load.ts';
import type { RuntimeEvent } from '../../contract/event.ts';
import { foreignDialects } from '../../dialects/registry.ts';
import { secretsOfHeaders } from '../../models/open/credential.ts';
import { closeEnv, type HostEnv, hostEnv } from '../../process/env.ts';
import type { Launcher } from '../../process/launch/launch.ts';
import { type LauncherName, openLauncher } from '../../process/launch/native.ts';
import type { ProcessContext } from '../../process/process.ts';
import type { RuntimeOptions } from '../api.ts';
import { isCredentialName } from '../log/redact.ts';
import { createScrubber, type RuntimeScrubber } from '../log/scrub.ts';

export interface LoadedRuntime {
  readonly config: RuntimeConfig;
  readonly host: HostEnv;
  readonly launch: Launcher;
  readonly scrubber: RuntimeScrubber;
  readonly events: readonly RuntimeEvent[];
}

/** Throws CONFIG_INVALID, FILE_UNREADABLE, PLATFORM_UNSUPPORTED, ABORTED. */
export async function loadRuntime(
  file: string | URL,
  options: RuntimeOptions,
  askPlugins: AskPlugins = withPlugins,
): Promise<LoadedRuntime> {
  // Cleans up after killed processes in the background and delayed. It must not slow down the start, and most commands
  // end earlier.
  setTimeout(() => void sweepLeftBehind(), SWEEP_AFTER_MS).unref();
  const { config: declared, host, launch, problems } = await readOpenable(file, options);
  if (hasSandboxes(declared)) (await import('../binding/sandbox-backends.ts')).makeStateFolder(declared);
  const events: RuntimeEvent[] = [];
  const scrubber = createScrubber(secretsOf(declared, host));
  const context = { launch, scrubber, emit: (event: RuntimeEvent) => events.push(event) };
  const config = await askPlugins(withOptions(declared, options), host, context, options.signal);
  for (const { file: place, line, column, severity, message } of problems) {
    const level = severity === 'warning' ? 'warn' : 'debug';
    events.push({ type: 'note', name: `${place}:${line}:${column}`, level, message });
  }
  return { config, host, launch, scrubber, events };
}

/**
 * Reads a config that can be opened, for runtimes and for `validate`. Starts no process of the config and writes
 * nothing. Throws as `loadRuntime`.
 */
export async function readOpenable(
  file: string | URL,
  options: Pick<RuntimeOptions, 'env' | 'overlays' | 'launcher'>,
  known?: LoadedConfig,
) {
  requirePlatform();
  const env = options.env ?? hostEnv();
  const path = file instanceof URL ? fileURLToPath(file) : file;
  const searchPath = env['PATH'] ?? '';
  const { overlays = [] } = options;
  const loaded = known ?? loadConfig(path, searchPath, { env, overlays });
  const config = configOf(path, loaded);
  const host = environmentOf(config, env);
  const launch = await lazyLauncher(options.launcher ?? 'auto');
  if (hasSandboxes(config))
    await (await import('../binding/sandbox-backends.ts')).requireSandboxes(config, host, launch);
  return { config, host, launch, problems: loaded.problems };
}

function hasSandboxes({ sandboxes }: RuntimeConfig): boolean {
  return sandboxes.some(({ mode }) => mode !== 'direct');
}

type AskPlugins = typeof withPlugins;

const SWEEP_AFTER_MS = 1000;

async function sweepLeftBehind(): Promise<void> {
  await sweepTempFolders();
  const { sweepOrphans } = await import('../../process/orphans/sweep-orphans.ts');
  await sweepOrphans();
}

async function lazyLauncher(name: LauncherName): Promise<Launcher> {
  let opened: Launcher | undefined;
  const launcher = once(async () => {
    opened = await openLauncher(name);
    return opened;
  });
  if (name === 'native') return await launcher.open();
  return async (request, watch) => await (opened ?? (await launcher.open()))(request, watch);
}

function withOptions(
  declared: RuntimeConfig,
  { concurrency = declared.concurrency, logLevel, logFormat }: RuntimeOptions,
): RuntimeConfig {
  return {
    ...declared,
    ...(concurrency !== undefined && { concurrency }),
    logging: {
      ...declared.logging,
      ...(logLevel && { level: logLevel }),
      ...(logFormat && { format: logFormat }),
    },
  };
}

async function withPlugins(
  config: RuntimeConfig,
  host: HostEnv,
  context: ProcessContext,
  signal: AbortSignal | undefined,
): Promise<RuntimeConfig> {
  const isPlugin = ({ dialect }: { readonly dialect: ForeignName }) =>
    foreignDialects[dialect].plugins !== undefined;
  const hasPlugins = config.imports.length > 0 || config.foreign.some(isPlugin);
  if (!hasPlugins) return config;
  const { loadPlugins } = await import('../plugins.ts');
  return await loadPlugins(config, host, context, signal);
}

/**
 * The secrets of a config: forwarded environment values, literals with names of credentials, keys and secret headers of
 * providers, and filled-in values. A key in a file is added by the code that reads it.
 */
export function secretsOf(config: RuntimeConfig, host: HostEnv): string[] {
  const servers = config.mcpServers ?? [];
  const entries = [...config.tools, ...config.evals, ...config.hooks, ...servers].flatMap(
    ({ exec }) => exec?.env ?? [],
  );
  const foreign = config.foreign.flatMap(({ exec }) => exec?.env ?? []);
  const imported = config.imports.flatMap(({ env }) => env);
  const endpoints = config.foreign.flatMap(
    ({ dialect, settings }) => foreignDialects[dialect].endpointOf?.(settings)?.env ?? [],
  );
  const all = [...entries, ...foreign, ...imported, ...endpoints];
  return [
    ...closeEnv(all, host).secrets,
    ...all.flatMap(literalOf),
    ...config.providers.flatMap((provider) => secretsOfProvider(provider, host)),
    ...config.hooks.flatMap(({ exec }) => secretsOfEndpoint(exec)),
    ...servers.flatMap(secretsOfServer),
    ...secretOfAudit(config, host),
    ...secretsOfStore(config, host),
    ...(config.environment?.secrets ?? []),
  ];
}

function literalOf(entry: string): string[] {
  const equals = entry.indexOf('=');
  return equals > 0 && isCredentialName(entry.slice(0, equals)) ? [entry.slice(equals + 1)] : [];
}

function secretOfAudit({ gateway }: RuntimeConfig, host: HostEnv): string[] {
  const name = gateway.audit?.keyEnv;
  return [(name === undefined ? undefined : host[name]) ?? ''].filter(({ length }) => length >= SHORTEST);
}

function secretsOfStore({ stateStore }: RuntimeConfig, host: HostEnv): string[] {
  if (stateStore.type !== 'postgres' || !Object.hasOwn(host, stateStore.urlEnv)) return [];
  return [host[stateStore.urlEnv] ?? ''].filter(({ length }) => length >= SHORTEST);
}

function secretsOfProvider({ credential, headers }: ProviderConfig, host: HostEnv): string[] {
  const { apiKey, env } = credential;
  const value = env !== undefined && Object.hasOwn(host, env) ? host[env] : undefined;
  const all = [apiKey ?? '', value ?? '', ...secretsOfHeaders(headers)];
  return all.filter(({ length }) => length >= SHORTEST);
}

function secretsOfEndpoint({ endpoint }: RuntimeConfig['hooks'][number]['exec']): string[] {
  if (endpoint === undefined) return [];
  const password = decodePercent(URL.parse(endpoint.url)?.password ?? '');
  return [...secretsOfHeaders(endpoint.headers), password].filter(({ length }) => length >= SHORTEST);
}

function secretsOfServer({ headers, auth }: NonNullable<RuntimeConfig['mcpServers']>[number]): string[] {
  const all = [...secretsOfHeaders(headers), auth?.clientSecret ?? '', auth?.privateKey ?? ''];
  return all.filter(({ length }) => length >= SHORTEST);
}

/** Shorter values would redact too much ordinary text. */
const SHORTEST = 8;
