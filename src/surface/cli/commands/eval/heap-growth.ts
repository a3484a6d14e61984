import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the heap close to what is in use. By default V8 lets the young generation grow to 128 MB and the
 * heap to several times the live objects, so that the memory of a run would depend on its length.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=30');
}
