import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { benchCores } from './cores.ts';
import { benchGuards } from './guards/report.ts';
import { benchJson } from './json.ts';
import { benches, chooseLines } from './lines/benches.ts';
import { benchPii } from './pii.ts';
import { type Asked, help, readArguments } from './run/arguments.ts';
import {
  describeFall,
  findFalls,
  type Recorded,
  record,
  type Yardstick,
  yardstickFor,
} from './run/compare.ts';
import type { Line } from './run/line.ts';
import { measureLine } from './run/measure.ts';
import { describeMachine, type LineResult, type Results } from './run/result.ts';
import { renderLine, renderMarkdown, replaceFigures } from './run/table.ts';
import { benchSuite } from './suite.ts';

/** Reports without a baseline in the same run. They run only when they are named. */
const reports: Readonly<Record<string, () => Promise<string>>> = {
  suite: benchSuite,
  pii: benchPii,
  guards: benchGuards,
  json: benchJson,
};
const recordedFile = fileURLToPath(new URL('./recorded.json', import.meta.url));
/** A noisy machine can make one measurement slow, so slow lines are measured again. */
const retries = 3;

try {
  process.exitCode = await main(readArguments(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}

async function main(asked: Asked): Promise<number> {
  if (asked.help) return print(help);
  if (asked.list) return print(await list());
  if (asked.cores.length > 0) return print(benchCores(asked.cores, asked));
  checkNames(asked.names);
  for (const name of asked.names.filter((one) => one in reports)) print(`${await reports[name]?.()}\n`);
  const names = asked.names.filter((one) => !(one in reports));
  if (names.length === 0 && asked.names.length > 0) return 0;
  const { results, faults } =
    asked.from.length > 0 ? readResults(asked.from) : await measureAll(asked, names);
  if (asked.json !== undefined) writeFileSync(asked.json, `${JSON.stringify(results, null, 1)}\n`);
  if (asked.table !== undefined) {
    writeFileSync(asked.table, replaceFigures(readFileSync(asked.table, 'utf8'), renderMarkdown(results)));
  }
  if (asked.record) {
    const recorded = record(readRecorded(), results.machine.class, results.lines);
    writeFileSync(recordedFile, `${JSON.stringify(recorded, null, 2)}\n`);
  }
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  return faults.length === 0 ? 0 : 1;
}

interface Outcome {
  readonly results: Results;
  readonly faults: readonly string[];
}

async function measureAll(asked: Asked, names: readonly string[]): Promise<Outcome> {
  const machine = describeMachine();
  const yardstick = asked.check ? yardstickFor(machine.class, readRecorded()) : undefined;
  if (asked.check) print(`${describeYardstick(machine.class, yardstick)}\n`);
  const { lines, skipped } = await chooseLines(names, asked.short);
  for (const reason of skipped) print(`${reason}\n`);
  const results: LineResult[] = [];
  const faults: string[] = [];
  for (const line of lines) {
    try {
      const { result, falls } = await measureUntilGood(line, asked, yardstick);
      print(`${renderLine(result)}\n`);
      results.push(result);
      faults.push(...falls);
    } catch (error) {
      faults.push(`${line.id} failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { results: { machine, rounds: asked.rounds, lines: results }, faults };
}

/** Measures slow lines again and reports a regression only if every attempt is slow. */
async function measureUntilGood(line: Line, asked: Asked, yardstick: Yardstick | undefined) {
  for (let attempt = 0; ; attempt++) {
    const result = await measureLine(line, { ...asked, progress });
    progress('');
    const falls = yardstick === undefined ? [] : findFalls(result, yardstick);
    if (falls.length === 0 || attempt === retries) return { result, falls: falls.map(describeFall) };
  }
}

function describeYardstick(machine: string, yardstick: Yardstick | undefined): string {
  if (yardstick === undefined)
    return 'there are no recorded ratios to compare with; record them with npm run bench -- --record';
  return yardstick.class === machine
    ? `compared with the recorded ratios of ${machine}`
    : `there are no recorded ratios of ${machine}: half the speed of ${yardstick.class} is required`;
}

/** Merges the lines of several files. Of lines with the same id, the later one applies. */
function readResults(files: readonly string[]): Outcome {
  const all = files.map((file): Results => JSON.parse(readFileSync(file, 'utf8')));
  const [first] = all;
  if (first === undefined) throw new Error('--from names no file');
  const lines = new Map(all.flatMap((results) => results.lines).map((line) => [line.id, line]));
  for (const line of lines.values()) print(`${renderLine(line)}\n`);
  return { results: { ...first, lines: [...lines.values()] }, faults: [] };
}

function readRecorded(): Recorded {
  return JSON.parse(readFileSync(recordedFile, 'utf8'));
}

function checkNames(names: readonly string[]): void {
  const known = [...benches.map(({ name }) => name), ...Object.keys(reports)];
  const unknown = names.find((name) => !known.includes(name.split('/')[0] ?? ''));
  if (unknown !== undefined) throw new Error(`there is no bench "${unknown}"; there are ${known.join(', ')}`);
}

async function list(): Promise<string> {
  const parts = benches.map(async ({ name, about, lines }) => {
    const found = await lines();
    const rows = typeof found === 'string' ? [`  ${found}`] : found.map(toRow);
    return [`${name}: ${about}`, ...rows].join('\n');
  });
  return `${[...(await Promise.all(parts)), `not in the default run: ${Object.keys(reports).join(', ')}`].join('\n\n')}\n`;
}

function toRow({ id, title, short }: Line): string {
  return `  ${id.padEnd(24)} ${title}${short ? ' (short)' : ''}`;
}

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

/** On a terminal, overwrites one line. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text.slice(0, process.stderr.columns - 1)}`);
}
