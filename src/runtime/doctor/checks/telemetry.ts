import { toRuntimeError } from '../../../base/errors.ts';
import type { RuntimeConfig } from '../../../config/config.ts';
import type { HostEnv } from '../../../process/env.ts';
import { canSee, findApis, findExporter, installCommand, type Signal } from '../../telemetry/packages.ts';
import { readSettings, shownUrl } from '../../telemetry/variables.ts';
import { type Check, type CheckStatus, found } from './check.ts';

/** The packages of the command line, where it exports to, and the copies of the API. Sends nothing. */
export function checkTelemetry({ telemetry, folder }: RuntimeConfig, env: HostEnv): Check[] {
  if (telemetry === undefined) return [];
  const checks: Check[] = [];
  const add = (status: CheckStatus, subject: string, message: string, hint?: string) =>
    checks.push(found(status, { check: 'telemetry', subject, message, hint }));
  const settings = readSettings(telemetry, env, (sentence) => add('warning', 'variables', sentence));
  const signals: readonly Signal[] = ['traces', 'metrics'];
  const wanted = signals.filter((signal) => settings[signal] !== undefined);
  const where = {
    traces: settings.traces && `are sent to ${shownUrl(settings.traces.url)}`,
    metrics: `are served at ${settings.metrics?.listen ? `http://${settings.metrics.listen}/metrics` : '/metrics of `signalbox serve`'}`,
  };
  for (const signal of signals) {
    if (!wanted.includes(signal)) {
      add('not applicable', signal, 'are off');
      continue;
    }
    try {
      const { name, version } = findExporter(signal, folder);
      add('ok', signal, `${where[signal]}, by ${name} ${version}`);
    } catch (thrown) {
      const message = `are not exported by the command line: ${toRuntimeError(thrown).message}`;
      add('warning', signal, message, `In ${folder}, run: ${installCommand(wanted)}`);
    }
  }
  const copies = findApis(folder);
  for (const { name, version, file } of copies) {
    const blind = copies.filter((other) => !canSee(other.version, version)).map((other) => other.version);
    const effect =
      blind.length === 0
        ? 'every copy sees an SDK that it registers'
        : `spans of libraries that use ${[...new Set(blind)].join(' and ')} are lost if it registers the SDK; Signalbox then uses this copy`;
    add('ok', file, `${name} ${version}: ${effect}`);
  }
  return checks;
}
