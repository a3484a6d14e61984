import { fileURLToPath } from 'node:url';
import { sweepTempFolders } from '../../base/files/temp-folder.ts';
import { requirePlatform } from '../../base/platform.ts';
import { once } from '../../base/time/once.ts';
import type { ForeignName, RuntimeConfig } from '../../config/config.ts';
import { environmentOf } from '../../config/environment/host.ts';
import { loadConfig, requireConfig } from '../../config/load.ts';
import type { RuntimeEvent } from '../../contract/event.ts';
import { foreignDialects } from '../../dialects/registry.ts';
import { type HostEnv, hostEnv } from '../../process/env.ts';
import type { Launcher } from '../../process/launch/launch.ts';
import { type LauncherName, openLauncher } from '../../process/launch/native.ts';
import type { ProcessContext } from '../../process/process.ts';
import type { RuntimeOptions } from '../api.ts';
import { createScrubber, type RuntimeScrubber } from '../log/scrub.ts';
import { secretsOf } from './config-secrets.ts';

/** A config file that was read, and what everything after it needs. */
export interface LoadedRuntime {
  /** With the options of the caller, and the entries that its plugins gave. */
  readonly config: RuntimeConfig;
  readonly host: HostEnv;
  readonly launch: Launcher;
  readonly scrubber: RuntimeScrubber;
  /** What happened before there was anybody to tell it to. */
  readonly events: readonly RuntimeEvent[];
}

/** Reads the config file. Throws CONFIG_INVALID, FILE_UNREADABLE, PLATFORM_UNSUPPORTED, ABORTED. */
export async function loadRuntime(
  file: string | URL,
  options: RuntimeOptions,
  askPlugins: AskPlugins = withPlugins,
): Promise<LoadedRuntime> {
  // In the background: what killed processes left must not delay the start, and most commands are over by then.
  setTimeout(() => void sweepLeftBehind(), SWEEP_AFTER_MS).unref();
  const { config: declared, host, launch, problems } = await readOpenable(file, options);
  if (hasSandboxes(declared)) (await import('./sandboxes.ts')).makeStateFolder(declared);
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
 * The config of a file that can be opened: what every runtime begins with, and `validate` too. Starts none of its processes and
 * writes nothing. Throws as `loadRuntime` does.
 */
export async function readOpenable(
  file: string | URL,
  options: Pick<RuntimeOptions, 'env' | 'overlays' | 'launcher'>,
) {
  requirePlatform();
  const env = options.env ?? hostEnv();
  const path = file instanceof URL ? fileURLToPath(file) : file;
  const searchPath = env['PATH'] ?? '';
  const { overlays = [] } = options;
  const read = { env, overlays };
  const loaded = loadConfig(path, searchPath, read);
  const { config = requireConfig(path, searchPath, read), problems } = loaded;
  const host = environmentOf(config, env);
  const launch = await lazyLauncher(options.launcher ?? 'auto');
  if (hasSandboxes(config)) await (await import('./sandboxes.ts')).requireSandboxes(config, host, launch);
  return { config, host, launch, problems };
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

/** The launcher of that name, opened for the first process that is started, but a native one, which may be refused, at once. */
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

/** The config with what its plugins say about themselves, if there are any. Throws CONFIG_INVALID, ABORTED. */
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
