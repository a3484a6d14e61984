import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { listCells, roundOf, sliceOf } from './cells.ts';
import { allFaults } from './faults/index.ts';
import { linesOf, runGroups } from './group.ts';
import { allGroups } from './groups.ts';
import { runHosts } from './hosts.ts';
import type { Cell } from './run-cell.ts';
import { runMatrix } from './run-matrix.ts';
import { tableOf, tallyOf } from './tally.ts';

/**
 * `npm run faults` runs every fault on every target that it fits. `-- --only WORDS` runs the cells whose fault or
 * target contains the words, `--all` every cell, `--slice` those of CI, `--minutes N` stops after that time, `--json`
 * prints the tally as JSON. The groups follow: contents, surroundings and gateways, as a slice, all with `--all`, or
 * one of N cells with `--every N`. `--groups` runs only those. Exits with 1 if a rule is violated.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    slice: { type: 'boolean' },
    all: { type: 'boolean' },
    json: { type: 'boolean' },
    groups: { type: 'boolean' },
    width: { type: 'string' },
    minutes: { type: 'string' },
    every: { type: 'string' },
  },
});
const limitMs = values.minutes === undefined ? undefined : Number(values.minutes) * 60_000;
const every = listCells(allFaults);
const round = values.slice ? sliceOf(every) : values.all ? every : roundOf(every);
const chosen = values.groups ? [] : round;
const cells = chosen.filter(({ fault, target }) =>
  `${fault.area}: ${fault.id} | ${target.id}`.includes(values.only ?? ''),
);
const run = await runMatrix(values.minutes === undefined ? cells : spread(cells), {
  width: Number(values.width ?? 24),
  stopAfterMs: limitMs,
  onResult: showProgress,
});
const tally = tallyOf(run);
// Partial runs leave out the hosts.
const isPart = values.slice || values.groups || values.only !== undefined;
const hosts = isPart ? [] : await runHosts();
const groups = await runGroups(
  allGroups.filter(({ name }) => name.includes(values.only ?? '')),
  {
    every: values.all ? 1 : values.every === undefined ? undefined : Number(values.every),
    width: values.groups ? Number(values.width ?? 1) : 1,
    stopAfterMs: limitMs,
    onGroup: (name, count, problems) =>
      void process.stderr.write(`${name}: ${count} cells so far, ${problems.length} not as they should be\n`),
  },
);
const lost = hosts.filter(({ isExpected }) => !isExpected);
process.stdout.write(
  values.json ? `${JSON.stringify({ ...tally, hosts, groups }, null, 2)}\n` : `${reportOf()}\n`,
);
process.exitCode = tally.problems.length + lost.length + groups.problems.length === 0 ? 0 : 1;

function spread(list: readonly Cell[]): Cell[] {
  return list.toSorted((one, other) => rankOf(one) - rankOf(other));
}

function rankOf({ fault, target }: Cell): number {
  return createHash('sha256').update(`${fault.id} ${target.id}`).digest().readUInt32BE(0);
}

function showProgress(done: number, of: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${of}${done === of ? '\n' : ''}`);
}

function longest(): string[] {
  const sorted = run.results.toSorted((one, other) => other.ms - one.ms);
  const shown = sorted.slice(0, 3);
  return shown.map(({ fault, target, ms }) => `${(ms / 1000).toFixed(1)} s ${fault.id} (${target.id})`);
}

function reportOf(): string {
  const rules = Object.entries(tally.open).map(([rule, count]) => `  ${rule}  ${count}`);
  return [
    tableOf(run),
    '',
    `${tally.faults} faults, ${tally.cells} cells of ${cells.length}, ${(run.ms / 1000).toFixed(1)} s`,
    `the longest: ${longest().join('; ')}`,
    ...hosts.map(({ title, said, isExpected }) => `${isExpected ? '✓' : '✗'} ${title}: ${said}`),
    'open, by the rule of its dialect:',
    ...rules,
    tally.problems.length === 0
      ? 'everything as it should be'
      : `${tally.problems.length} not as they should be:`,
    ...tally.problems,
    '',
    ...linesOf(groups),
  ].join('\n');
}
