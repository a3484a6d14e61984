import type { HostEnv } from '../../process/env.ts';
import type { RuntimeConfig } from '../config.ts';

/** The environment with the variables of the config's own file, which count where the host has none of the name. */
export function environmentOf({ environment }: RuntimeConfig, host: HostEnv): HostEnv {
  if (environment === undefined) return host;
  const set = Object.entries(host).filter(([, value]) => value !== undefined);
  return { ...environment.variables, ...Object.fromEntries(set) };
}
