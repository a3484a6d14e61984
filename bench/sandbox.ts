import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRuntime } from '../src/index.ts';

/**
 * Prints the duration of a one-shot call of `cat`, directly and in a bubblewrap sandbox, in sequence: the medians of
 * alternating rounds.
 */
const ROUNDS = 5;
const CALLS = 20;

const folder = mkdtempSync(join(tmpdir(), 'bench-sandbox-'));
const file = join(folder, 'runtime.yaml');
const exec = (sandbox: string) => `{exec: {command: cat, sandbox: ${sandbox}}}`;
writeFileSync(
  file,
  `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  sandboxes: {none: {mode: direct}, box: {mode: bubblewrap}}
  tools: {direct: ${exec('none')}, boxed: ${exec('box')}}
`,
);
await using runtime = await openRuntime(file, { log: false });
const took: Record<'direct' | 'boxed', number[]> = { direct: [], boxed: [] };
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const name of ['direct', 'boxed'] as const) {
    const from = performance.now();
    for (let call = 0; call < CALLS; call += 1) await runtime.tools.call(name);
    // The first round is a warm-up.
    if (round > 0) took[name].push((performance.now() - from) / CALLS);
  }
}
for (const [name, values] of Object.entries(took)) {
  const sorted = values.toSorted((a, b) => a - b);
  const show = (index: number) => (sorted[index] ?? 0).toFixed(2);
  console.log(`${name}: ${show(Math.floor(ROUNDS / 2))} ms (${show(0)}–${show(ROUNDS - 1)}) for a call`);
}
