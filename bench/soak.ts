import { readdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { buildNative, type Native, withoutCompiler } from './native/build.ts';
import { type Counts, runLoads } from './soak/load.ts';
import { loads, specOf } from './soak/plan.ts';
import { renderCurves, toCsv } from './soak/report.ts';
import { listChildren, lookAtSelf, type Sample } from './soak/sample.ts';
import { findGrowth } from './soak/verdict.ts';
import { openSpec } from './workspace.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    every: { type: 'string', default: '5' },
    csv: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const help = `npm run soak -- [--minutes 10] [--every 5] [--csv FILE] [--json FILE]

Calls one-shot tools and servers as fast as they go while servers are killed at random, looks at this process every so many
seconds, and fails when memory, descriptors, processes or handles grow, or when a call fails for a reason that was not brought
about. Ctrl-C ends it early, with what there is.
`;
/** Descriptors that a process opens once and keeps: epoll, eventfd, a signal pipe. */
const opened = 4;

const native = buildNative();
if (values.help) process.stdout.write(help);
else if (native === undefined) process.stdout.write(`soak: ${withoutCompiler}\n`);
else process.exitCode = await soak(native, Number(values.minutes) * 60_000, Number(values.every) * 1000);

async function soak(programs: Native, forMs: number, everyMs: number): Promise<number> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const runtime = await openSpec(specOf(programs));
  const counts: Counts = { calls: {}, errors: {}, unexpected: [] };
  const before = readDescriptors();
  const startedAt = performance.now();
  const kills = { count: 0 };
  const samples: Sample[] = [];
  const look = () => {
    const seconds = (performance.now() - startedAt) / 1000;
    const { calls, errors } = structuredClone(counts);
    samples.push({ seconds, ...lookAtSelf(), calls, errors, kills: kills.count });
    showProgress(samples);
  };
  const end = setTimeout(() => stop.abort(), forMs);
  const sampling = repeat(everyMs, stop.signal, look);
  const killing = repeat(2000, stop.signal, () => killServer(programs['echo-server'], kills));
  await runLoads(runtime, loads, counts, stop.signal);
  clearTimeout(end);
  await Promise.all([sampling, killing]);
  await runtime.close();
  await sleep(500);
  return report(samples, counts, { before, after: readDescriptors(), children: listChildren().length });
}

async function repeat(everyMs: number, signal: AbortSignal, work: () => void): Promise<void> {
  while (!signal.aborted) {
    await sleep(everyMs, undefined, { signal }).catch(() => {});
    if (!signal.aborted) work();
  }
}

function killServer(program: string, kills: { count: number }): void {
  const servers = listChildren().filter(({ command }) => command.startsWith(program));
  const victim = servers[Math.floor(Math.random() * servers.length)];
  if (victim === undefined) return;
  process.kill(victim.pid, 'SIGKILL');
  kills.count += 1;
}

interface Leftovers {
  readonly before: number;
  readonly after: number;
  readonly children: number;
}

function report(samples: readonly Sample[], counts: Counts, left: Leftovers): number {
  const growth = findGrowth(samples);
  const faults = [
    ...growth.filter(({ grows }) => grows).map(({ name, growth: by }) => `${name} grew by ${by.toFixed(1)}`),
    ...counts.unexpected.map((text) => `unexpected: ${text}`),
    ...(left.children > 0 ? [`${left.children} processes are left after the close`] : []),
    ...(left.after > left.before + opened
      ? [`${left.after - left.before} descriptors are left after the close`]
      : []),
  ];
  if (values.csv !== undefined) writeFileSync(values.csv, toCsv(samples));
  if (values.json !== undefined)
    writeFileSync(values.json, JSON.stringify({ samples, growth, faults }, null, 1));
  const text = [
    `soak of ${((samples.at(-1)?.seconds ?? 0) / 60).toFixed(1)} minutes, ${samples.at(-1)?.kills ?? 0} servers killed`,
    ...Object.entries(counts.calls).map(([tool, count]) => `  ${tool}: ${count.toLocaleString('en')} calls`),
    `  errors: ${JSON.stringify(counts.errors)}`,
    renderCurves(samples, growth),
    ...(growth.length === 0 ? ['  too short to say whether anything grows'] : []),
    ...faults,
    faults.length === 0 ? 'nothing grows, nothing is left' : 'FAILED',
  ];
  process.stdout.write(`${text.join('\n')}\n`);
  return faults.length === 0 ? 0 : 1;
}

function readDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}

function showProgress(samples: readonly Sample[]): void {
  const last = samples.at(-1);
  if (!process.stderr.isTTY || last === undefined) return;
  const calls = Object.entries(last.calls).map(([tool, count]) => `${tool} ${count.toLocaleString('en')}`);
  process.stderr.write(
    `\r\x1b[K${last.seconds.toFixed(0)} s: ${calls.join(', ')}, ${last.rssMb.toFixed(0)} MB`,
  );
}
