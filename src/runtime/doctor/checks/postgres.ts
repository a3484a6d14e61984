import { toRuntimeError } from '../../../base/errors.ts';
import { formatCount } from '../../../base/text/phrases.ts';
import type { HostEnv } from '../../../process/env.ts';
import { readAddress } from '../../../store/postgres/connection/address.ts';
import { inspectPostgres, type PostgresState } from '../../../store/postgres/layout/migrations.ts';
import { type Check, found } from './check.ts';

/** Changes nothing. */
export async function checkPostgres(variable: string, env: HostEnv): Promise<Check[]> {
  try {
    const address = readAddress(variable, env);
    return describe(await inspectPostgres(address), address.location);
  } catch (thrown) {
    const { message, hint } = toRuntimeError(thrown);
    return [found('error', { check: STORE, subject: variable, message, hint })];
  }
}

const STORE = 'state store';

function describe({ version, knownVersion, waiting, aheadMs }: PostgresState, location: string): Check[] {
  const about = { check: STORE, subject: location };
  if (version === 0) {
    const message = 'has no tables; the first run creates them, or `signalbox store migrate`';
    return [found('ok', { ...about, message }), checkClock(aheadMs, location)];
  }
  const message = `has tables of version ${version}, and this Signalbox needs ${knownVersion}`;
  if (version > knownVersion) {
    return [
      found('error', {
        ...about,
        message,
        hint: 'Use the version of Signalbox that created them, or a newer one.',
      }),
    ];
  }
  if (version < knownVersion) {
    return [found('error', { ...about, message, hint: 'Run `signalbox store migrate`.' })];
  }
  const { calls, runs } = waiting;
  return [
    found('ok', { ...about, message: `is usable, version ${version} of ${knownVersion}` }),
    found('ok', {
      ...{ check: 'waiting', subject: location },
      message: `${formatCount(calls, 'call')} for a person, ${formatCount(runs, 'run')} not ended`,
    }),
    checkClock(aheadMs, location),
  ];
}

/** Each reader decides by its own clock whether calls expire. */
function checkClock(aheadMs: number, subject: string): Check {
  const about = { check: 'server clock', subject };
  const off = Math.abs(aheadMs);
  if (off <= TOLERATED_MS) return found('ok', { ...about, message: 'agrees with the clock of the server' });
  const message = `is ${Math.round(off / 1000)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} the clock of the server`;
  const hint =
    'Set the clock, for instance with NTP: approvals expire by the clocks of all machines that share the store.';
  return found('warning', { ...about, message, hint });
}

const TOLERATED_MS = 2_000;
