import { totalmem } from 'node:os';

/**
 * Whether there is memory for processes that only wait: at least a tenth of what this process may use at most (by its control
 * group, where there is one), or 512 MiB, is free.
 */
export function hasMemoryToSpare(): boolean {
  const allowed = process.constrainedMemory();
  const total = allowed > 0 ? Math.min(allowed, totalmem()) : totalmem();
  return process.availableMemory() >= Math.min(total / 10, FLOOR_BYTES);
}

const FLOOR_BYTES = 512 * 1024 * 1024;
