/** A mutant as Stryker reports it; lines and columns count from 1. */
export interface Mutant {
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** What Stryker's JSON reporter writes, as far as it is read. */
export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

/** Whether no test has seen it, or nobody could tell: its tests failed without it, too. */
export function isSurvivor({ status }: Mutant): boolean {
  return status === 'Survived' || status === 'NoCoverage' || status === 'RuntimeError';
}

/** Found by a failing test, or by a time limit. */
export function isFound({ status }: Mutant): boolean {
  return status === 'Killed' || status === 'Timeout';
}

/** The lines on which a mutant lives, as patterns of files and lines. */
export function linesOfSurvivors({ files }: MutationReport): string[] {
  return Object.entries(files).flatMap(([file, { mutants }]) => {
    const lines = mutants
      .filter(isSurvivor)
      .map(({ location: { start, end } }) => `${start.line}-${end.line}`);
    return [...new Set(lines)].map((range) => `${file}:${range}`);
  });
}

/** The report, with what a later run over some of the same lines has found besides. */
export function withFound(report: MutationReport, later: MutationReport): MutationReport {
  const files = Object.entries(report.files).map(([file, { source, mutants }]) => {
    const found = new Set(later.files[file]?.mutants.filter(isFound).map(keyOf));
    const now = mutants.map((mutant) =>
      found.has(keyOf(mutant)) ? { ...mutant, status: 'Killed' } : mutant,
    );
    return [file, { source, mutants: now }] as const;
  });
  return { files: Object.fromEntries(files) };
}

function keyOf({ mutatorName, replacement, location: { start, end } }: Mutant): string {
  return [mutatorName, replacement, start.line, start.column, end.line, end.column].join(' ');
}
