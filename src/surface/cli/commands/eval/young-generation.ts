import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the part of the heap for new objects as small as it is. V8 lets it grow to 128 MB for as long as work goes on,
 * so that the memory of a run would depend on how long it lasts, however little of it is in use.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
