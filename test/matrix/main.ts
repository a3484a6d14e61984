import { parseArgs } from 'node:util';
import { listCells, roundOf, sliceOf } from './cells.ts';
import { allFaults } from './faults/index.ts';
import { runHosts } from './hosts.ts';
import { runMatrix } from './run-matrix.ts';
import { tableOf, tallyOf } from './tally.ts';

/**
 * `npm run faults`: every way to misbehave, on everything that can meet it, and what comes of it. `-- --only WORDS` runs the cells
 * whose fault or target holds the words, `--all` every cell there is, `--slice` those of CI, `--json` prints the tally as JSON.
 * Ends with 1 when something is not as its rule says.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    slice: { type: 'boolean' },
    all: { type: 'boolean' },
    json: { type: 'boolean' },
    width: { type: 'string' },
  },
});
const every = listCells(allFaults);
const chosen = values.slice ? sliceOf(every) : values.all ? every : roundOf(every);
const cells = chosen.filter(({ fault, target }) =>
  `${fault.area}: ${fault.id} | ${target.id}`.includes(values.only ?? ''),
);
const run = await runMatrix(cells, { width: Number(values.width ?? 24), onResult: showProgress });
const tally = tallyOf(run);
// The hosts take no part in a part of the cells.
const hosts = values.slice || values.only !== undefined ? [] : await runHosts();
const lost = hosts.filter(({ isExpected }) => !isExpected);
process.stdout.write(values.json ? `${JSON.stringify({ ...tally, hosts }, null, 2)}\n` : `${reportOf()}\n`);
process.exitCode = tally.problems.length + lost.length === 0 ? 0 : 1;

function showProgress(done: number, of: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${of}${done === of ? '\n' : ''}`);
}

function reportOf(): string {
  const rules = Object.entries(tally.open).map(([rule, count]) => `  ${rule}  ${count}`);
  return [
    tableOf(run),
    '',
    `${tally.faults} faults, ${tally.cells} cells, ${(run.ms / 1000).toFixed(1)} s`,
    ...hosts.map(({ title, said, isExpected }) => `${isExpected ? '✓' : '✗'} ${title}: ${said}`),
    'open, by the rule of its dialect:',
    ...rules,
    tally.problems.length === 0
      ? 'everything as it should be'
      : `${tally.problems.length} not as they should be:`,
    ...tally.problems,
  ].join('\n');
}
