import { dirname, resolve } from 'node:path';
import type { ReadOptions } from '../../config/load.ts';
import { findOrigins, type ValueOrigin } from '../../config/overlay/origins.ts';
import { hostEnv } from '../../process/env.ts';

/** The origin of each value of a RuntimeConfig: its file and its variables. Throws FILE_UNREADABLE. */
export function listValues(file: string, { env = hostEnv(), overlays = [] }: ReadOptions): ValueOrigin[] {
  return findOrigins(file, { overlays, env, folder: dirname(resolve(file)) });
}
