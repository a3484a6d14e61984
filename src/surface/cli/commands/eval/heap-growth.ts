import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the heap near what is in use. V8 lets the part for new objects grow to 128 MB for as long as work goes on, and
 * garbage gather to several times what lives, so that the memory of a run would depend on how long it lasts.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=30');
}
