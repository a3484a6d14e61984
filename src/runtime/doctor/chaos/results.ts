// What `loadChaos()` gives. Loaded only when it is asked for.

export { runChaos } from './chaos.ts';
export { writeChaosJunit } from './junit.ts';
