import type { ProcessLimits } from '../process-config.ts';

/** A limit as the config names it. */
export type LimitName = 'memory_mb' | 'cpu_seconds' | 'open_files' | 'processes' | 'file_size_mb';

/** A limit that was reached. */
export interface Reached {
  readonly limit: LimitName;
  /** What the limit allows. */
  readonly value: number;
  /** What showed it, as the end of a sentence. */
  readonly seen: string;
}

/** A reached limit of that name; undefined where the entry has none of it. */
export function reachedOf(limits: ProcessLimits, limit: LimitName, seen: string): Reached | undefined {
  const value = limits[memberOf[limit]];
  return value === undefined ? undefined : { limit, value, seen };
}

const memberOf = {
  memory_mb: 'memoryMb',
  cpu_seconds: 'cpuSeconds',
  open_files: 'openFiles',
  processes: 'processes',
  file_size_mb: 'fileSizeMb',
} as const satisfies Record<LimitName, keyof ProcessLimits>;
