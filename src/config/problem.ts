import type { Problem } from './config.ts';

/** `FILE:LINE:COL message`, marked where it is no error, and the hint on a line of its own. */
export function formatProblem(problem: Problem): string {
  const { file, line, column, severity, message, hint } = problem;
  const mark = severity === 'error' ? '' : `${severity}: `;
  const text = `${file}:${line}:${column} ${mark}${message}`;
  return hint === undefined ? text : `${text}\n    hint: ${hint}`;
}

/** By file, then line, then column; what stands at one place keeps its order. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
