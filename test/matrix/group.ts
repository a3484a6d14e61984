export interface GroupResult {
  readonly row: string;
  readonly word: string;
  readonly problem?: string | undefined;
}

/** Cells that share a setup, such as an open runtime, numbered from 0. `isChosen` selects the cells that run. */
export interface Group {
  readonly name: string;
  /** The slice of CI takes one of this many cells. */
  readonly every: number;
  /** The reason why its cells cannot run on this machine. */
  readonly missing?: string | undefined;
  run(isChosen: (at: number) => boolean): AsyncIterable<GroupResult>;
}

export interface GroupTally {
  readonly cells: number;
  readonly rows: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly problems: readonly string[];
  readonly missing: readonly string[];
}

interface GroupsOptions {
  /** Runs one of this many cells. Default: each group's own slice. */
  readonly every?: number | undefined;
  readonly width?: number | undefined;
  readonly stopAfterMs?: number | undefined;
  /** Called after each group with the cells and problems so far. */
  readonly onGroup?: ((name: string, cells: number, problems: readonly string[]) => void) | undefined;
}

/** Runs groups; the cells of each run in sequence. */
export async function runGroups(
  groups: readonly Group[],
  { every, width = 1, stopAfterMs = Number.POSITIVE_INFINITY, onGroup }: GroupsOptions = {},
): Promise<GroupTally> {
  const rows: Record<string, Record<string, number>> = {};
  const problems: string[] = [];
  let cells = 0;
  const stopAt = performance.now() + stopAfterMs;
  const waiting = groups.filter(({ missing }) => missing === undefined).values();
  const work = async () => {
    for (const { name, run, every: own } of waiting) {
      for await (const { row, word, problem } of run(
        (at) => at % (every ?? own) === 0 && performance.now() < stopAt,
      )) {
        cells += 1;
        rows[row] ??= {};
        const counts = rows[row];
        counts[word] = (counts[word] ?? 0) + 1;
        if (problem !== undefined) problems.push(`${row} | ${problem}`);
      }
      onGroup?.(name, cells, problems);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  const left = groups.flatMap(({ name, missing }) => (missing === undefined ? [] : [`${name}: ${missing}`]));
  return { cells, rows, problems, missing: left };
}

export function linesOf({ cells, rows, problems, missing }: GroupTally): string[] {
  const width = Math.max(...Object.keys(rows).map((row) => row.length), 0);
  const lines = Object.entries(rows).map(([row, counts]) => {
    const parts = Object.entries(counts).map(([word, count]) => `${word} ${count}`);
    return `${row.padEnd(width)}  ${parts.sort().join(', ')}`;
  });
  return [
    ...lines,
    `${cells} cells of contents, surroundings and gateways, ${problems.length} not as they should be`,
    ...missing.map((each) => `not tried here: ${each}`),
    ...problems,
  ];
}
