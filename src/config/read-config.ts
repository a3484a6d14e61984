import { type HostEnv, hostEnv } from '../process/env.ts';
import { type LoadedConfig, loadConfig } from './load.ts';

/** What a config is read with. */
export interface ReadOptions {
  /** What is filled into values. Default: that of this process. */
  readonly env?: HostEnv;
  /** Files that are laid over the config. */
  readonly overlays?: readonly string[];
  /** Default: true. */
  readonly refusesUnusable?: boolean;
  /** Whether programs are not looked for: another machine has them. */
  readonly ignoresPrograms?: boolean;
}

/** The RuntimeConfig of a file, in which what cannot be used is an error. Throws FILE_UNREADABLE. */
export function readConfig(file: string, { env = hostEnv(), ...options }: ReadOptions = {}): LoadedConfig {
  return loadConfig(file, env['PATH'] ?? '', { refusesUnusable: true, env, ...options });
}
