import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { addToRecord } from './record.ts';
import { runTarget, type TargetRun } from './run-target.ts';
import { targets } from './targets.ts';

// npm run fuzz [-- --target NAME]… [--inputs N] [--seconds T] [--seed S] [--jobs N] [--record]
const { values } = parseArgs({
  options: {
    target: { type: 'string', multiple: true, default: Object.keys(targets) },
    inputs: { type: 'string', default: '50000' },
    seconds: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '1' },
    record: { type: 'boolean', default: false },
  },
});
const folder = fileURLToPath(new URL('../../node_modules/.cache/fuzz/', import.meta.url));
mkdirSync(folder, { recursive: true });
let hasFindings = false;
const waiting = [...values.target];
await Promise.all(Array.from({ length: Number(values.jobs) }, work));
process.exitCode = hasFindings ? 1 : 0;

async function work(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await tryTarget(name);
}

async function tryTarget(name: string): Promise<void> {
  const kept = readKept(name);
  const run = await runTarget(name, {
    inputs: Number(values.inputs),
    seconds: Number(values.seconds),
    seed: Number(values.seed),
    kept,
  });
  report(name, run);
  if (run.corpus.length > 0) writeFileSync(`${folder}${name}.json`, JSON.stringify(run.corpus));
  if (values.record) addToRecord(name, run);
  hasFindings ||= run.findings.length > 0;
}
function readKept(name: string): readonly string[] {
  try {
    return JSON.parse(readFileSync(`${folder}${name}.json`, 'utf8'));
  } catch {
    return [];
  }
}

function report(name: string, { inputs, findings, corpus, cpuSeconds, blocks }: TargetRun): void {
  const speed = Math.round(inputs / Math.max(cpuSeconds, 0.001));
  console.log(
    `${name}: ${inputs} inputs, ${speed}/s, ${corpus.length} kept, ${blocks} blocks, ${findings.length} findings`,
  );
  for (const { input, message } of findings)
    console.log(`  ${JSON.stringify(input).slice(0, 1_000)}\n  ${message}`);
}
