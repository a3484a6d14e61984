import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Results } from './run/result.ts';
import { cellOf } from './run/table.ts';
import { makeFolder } from './workspace.ts';

/** Measures the lines of a bench on so many cores each, and returns the table of all. */
export function benchCores(
  widths: readonly number[],
  {
    names: [name = 'cores'],
    rounds,
    seconds,
  }: { readonly names: readonly string[]; readonly rounds: number; readonly seconds: number },
): string {
  const usable = usableCores();
  if (usable === undefined) return 'skipped: there is no `taskset` here, which pins processes to cores\n';
  const { path } = makeFolder({});
  const rows: string[][] = [];
  let columns = columnsOfCores;
  const skipped: string[] = [];
  for (const width of widths) {
    if (width > usable.length) {
      skipped.push(`${width} cores: skipped, as this process may use ${usable.length}`);
      continue;
    }
    const file = join(path, `${width}.json`);
    const bench = [fileURLToPath(new URL('./main.ts', import.meta.url)), name];
    const effort = [`--rounds=${rounds}`, `--seconds=${seconds}`, `--json=${file}`];
    const pinned = ['-c', usable.slice(0, width).join(','), process.execPath, ...bench, ...effort];
    process.stdout.write(
      `${width === 1 ? '1 core' : `${width} cores`}:\n${execFileSync('taskset', pinned, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })}`,
    );
    const { lines }: Results = JSON.parse(readFileSync(file, 'utf8'));
    const ways = lines.flatMap((line) => line.ways.map((way, index) => ({ way, index })));
    if (name !== 'cores') columns = ways.map(({ way }) => way.name);
    rows.push([String(width), ...ways.map(({ way, index }) => cellOf(way, index))]);
  }
  const head = ['cores', ...columns];
  const table = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const about = `calls per second: medians of ${rounds} rounds, least to greatest in brackets; in bold the ratio to the baseline on the left, in the same rounds`;
  return `${[...skipped, about, ...(rows.length === 0 ? [] : table)].join('\n')}\n`;
}

/** The ways of the lines of the bench `cores`, in their order. */
const columnsOfCores = [
  ...['C', 'one-shot', 'execa', 'Python in C', 'Python', 'forked Python'],
  ...['bare server, 64', 'server, 64', 'bare server, 1', 'server, 1'],
  ...['bare computing server', 'one instance', 'an instance for each core'],
];

/** The cores that this process may use; undefined without `taskset`. */
function usableCores(): number[] | undefined {
  try {
    const told = execFileSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' });
    return (told.split(':').at(-1) ?? '').split(',').flatMap((part) => {
      const [first = 0, last = first] = part.trim().split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
  } catch {
    return undefined;
  }
}
