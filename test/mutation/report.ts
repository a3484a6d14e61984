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

export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

/** Whether no test detects it, or its tests also fail without it. */
export function isSurvivor({ status }: Mutant): boolean {
  return status === 'Survived' || status === 'NoCoverage' || status === 'RuntimeError';
}

export function isFound({ status }: Mutant): boolean {
  return status === 'Killed' || status === 'Timeout';
}

export function linesOfSurvivors({ files }: MutationReport): string[] {
  return Object.entries(files).flatMap(([file, { mutants }]) => {
    const lines = mutants
      .filter(isSurvivor)
      .map(({ location: { start, end } }) => `${start.line}-${end.line}`);
    return [...new Set(lines)].map((range) => `${file}:${range}`);
  });
}

/** Adds the mutants that a later run over some of the lines has found. */
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
