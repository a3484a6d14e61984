import { hostEnv } from '../binding/env.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';

/** The RuntimeConfig of a file, in which what can never be used is an error. Throws FILE_UNREADABLE. */
export function readConfig(file: string): LoadedConfig {
  return loadConfig(file, hostEnv()['PATH'] ?? '', { refusesUnusable: true });
}
