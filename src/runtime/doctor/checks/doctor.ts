import { existsSync, readdirSync } from 'node:fs';
import { toRuntimeError } from '../../../base/errors.ts';
import { formatCount } from '../../../base/text/format-count.ts';
import type { RuntimeConfig } from '../../../config/config.ts';
import { environmentOf } from '../../../config/environment/of.ts';
import { type LoadedConfig, loadConfig } from '../../../config/load.ts';
import { scrubMembers } from '../../../contract/scrub.ts';
import { hostEnv } from '../../../process/env.ts';
import { openLauncher } from '../../../process/launch/open.ts';
import { acquireWatcher } from '../../../process/launch/process-groups.ts';
import type { RuntimeOptions } from '../../api-options.ts';
import { createScrubber } from '../../log/scrub.ts';
import { secretsOf } from '../../stages/config-secrets.ts';
import { resolveEntries } from '../../stages/resolve.ts';
import { type Check, found } from './check.ts';
import { checkEntries, processEntries } from './entries.ts';
import { checkLimitMeans, checkSandboxes } from './isolation.ts';
import { checkMachine } from './machine.ts';
import { checkEndpoints, checkListen, checkProviders } from './services.ts';
import { checkState } from './state.ts';

export interface DoctorOptions extends Pick<RuntimeOptions, 'env' | 'launcher' | 'overlays'> {
  /** Of this Signalbox. */
  readonly version: string;
  /** Whether somebody has named the file, which must be there then. */
  readonly isNamed: boolean;
}

/**
 * Checks a config and its machine: every command, script, variable, store, provider, sandbox and limit. Starts no command of the
 * config, calls no address and changes nothing. What a config with errors leaves unknown is not applicable. Throws
 * FILE_UNREADABLE when a config that was named cannot be read.
 */
export async function runDoctor(file: string, options: DoctorOptions): Promise<readonly Check[]> {
  const env = options.env ?? hostEnv();
  const read = { env, overlays: options.overlays ?? [] };
  const loaded = options.isNamed || existsSync(file) ? loadConfig(file, env['PATH'] ?? '', read) : undefined;
  const machine = await checkMachine(options.version, env);
  if (loaded === undefined) {
    const hint = 'Name one, or make one with `signalbox init`.';
    return [
      found('not applicable', { check: 'config', subject: file, message: 'there is none', hint }),
      ...machine,
    ];
  }
  const { config } = loaded;
  if (config === undefined) return [...problemsOf(file, loaded, []), ...machine];
  const host = environmentOf(config, env);
  const ofConfig = await checkConfig(config, options, host);
  const checks = [...problemsOf(file, loaded, ofConfig), ...ofConfig, ...machine];
  return scrubMembers(checks, createScrubber(secretsOf(config, host)).values);
}

/** The problems of the file, without those that a check has told already. */
function problemsOf(file: string, { config, problems }: LoadedConfig, told: readonly Check[]): Check[] {
  const isTold = ({ message, line }: LoadedConfig['problems'][number]) =>
    told.some((check) => check.line === line && message.endsWith(check.message));
  const checks = problems
    .filter((problem) => problem.severity !== 'note' && !isTold(problem))
    .map(({ severity, message, hint, ...place }) =>
      found(severity === 'error' ? 'error' : 'warning', {
        check: 'config',
        subject: file,
        message,
        hint,
        place,
      }),
    );
  if (config === undefined) {
    const message =
      'its entries, state store, providers and sandboxes could not be checked: the config has errors';
    return [...checks, found('not applicable', { check: 'entries', subject: file, message })];
  }
  return checks.length > 0 ? checks : [found('ok', { check: 'config', subject: file, message: 'is valid' })];
}

async function checkConfig(
  config: RuntimeConfig,
  { launcher = 'auto' }: DoctorOptions,
  env: NonNullable<DoctorOptions['env']>,
): Promise<Check[]> {
  const entries = resolveEntries(config, env);
  const processes = processEntries(entries);
  const releaseWatcher = acquireWatcher(() => {});
  try {
    return [
      ...checkEntries(processes),
      ...checkEndpoints(entries.foreign),
      ...config.imports.map(checkPluginFolder),
      ...(await checkSandboxes(
        config,
        env,
        async (...given) => await (await openLauncher(launcher))(...given),
      )),
      ...(await checkLimitMeans(processes)),
      ...(await checkProviders(config, env)),
      ...(await checkState(config.stateStore, env)),
      await checkListen(config),
    ];
  } finally {
    await releaseWatcher();
  }
}

function checkPluginFolder({ pluginsDir, position: place }: RuntimeConfig['imports'][number]): Check {
  const about = { check: 'plugins', subject: pluginsDir, place };
  try {
    const { length } = readdirSync(pluginsDir);
    return found('ok', {
      ...about,
      message: `${formatCount(length, 'file')}, none of which is asked what it is`,
    });
  } catch (thrown) {
    return found('error', { ...about, message: toRuntimeError(thrown).message, hint: 'Correct the path.' });
  }
}
