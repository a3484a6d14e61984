/** What came of one cell. */
export interface GroupResult {
  /** The row of the tally. */
  readonly row: string;
  /** The column: what came of it. */
  readonly word: string;
  /** What is not as its rule says. */
  readonly problem?: string | undefined;
}

/**
 * Cells that share what they need, such as an open runtime, and are numbered from 0. `isChosen` says which of them run; the rest
 * is passed over.
 */
export interface Group {
  readonly name: string;
  /** Of how many cells the slice of CI takes one. */
  readonly every: number;
  /** Why none of its cells can run here. */
  readonly missing?: string | undefined;
  run(isChosen: (at: number) => boolean): AsyncIterable<GroupResult>;
}

/** The numbers of what came of groups, as \`tallyOf\` has those of faults. */
export interface GroupTally {
  readonly cells: number;
  readonly rows: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly problems: readonly string[];
  readonly missing: readonly string[];
}

/** Which cells of groups run. */
interface GroupsOptions {
  /** One of so many; without it each group's own slice. */
  readonly every?: number | undefined;
  /** Groups at once. Default: one. */
  readonly width?: number | undefined;
  /** No cell is begun any more after that time. */
  readonly stopAfterMs?: number | undefined;
  /** Told of each group when it has ended, with the cells and problems so far. */
  readonly onGroup?: ((name: string, cells: number, problems: readonly string[]) => void) | undefined;
}

/** Runs groups, each of them one cell after another. */
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

/** The tally as lines: a row, its cells, and how many came to what. */
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
