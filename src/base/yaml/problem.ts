import { RuntimeError } from '../errors.ts';
import { isObject } from '../json/json.ts';

/** Where a value stands: lines and columns count from 1. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Something to say about a file. `error` stops the load; `warning` and `note` are only told. */
export interface Problem extends SourceLocation {
  readonly severity: 'error' | 'warning' | 'note';
  /** Starts with the path of the value, as in `hooks[guard].phases: …`. */
  readonly message: string;
  readonly hint?: string;
  /** `program`: this machine lacks or cannot start a program, script or folder. `file`: a file that is needed for a run is not there. `runtime`: what the file names as its runtime has errors of its own. */
  readonly about?: 'program' | 'file' | 'runtime';
}

/** `FILE:LINE:COL message`, marked where it is no error, and the hint on a line of its own. */
export function formatProblem(problem: Problem): string {
  const { file, line, column, severity, message, hint } = problem;
  const mark = severity === 'error' ? '' : `${severity}: `;
  const text = `${file}:${line}:${column} ${mark}${message}`;
  return hint === undefined ? text : `${text}\n    hint: ${hint}`;
}

/** The problems of files that an error carries in `details.problems`; none where it carries none. */
export function problemsOf({ details }: RuntimeError): readonly Problem[] {
  const { problems } = details;
  return Array.isArray(problems) ? problems.filter(isProblem) : [];
}

function isProblem(value: unknown): value is Problem {
  return isObject(value) && typeof value['file'] === 'string' && typeof value['message'] === 'string';
}

/** The value that was read from the file. Throws CONFIG_INVALID with `details.problems` when these left none. */
export function requireLoaded<Value>(
  file: string,
  value: Value | undefined,
  problems: readonly Problem[],
): Value {
  if (value !== undefined) return value;
  throw new RuntimeError('CONFIG_INVALID', countProblems(file, problems), { details: { problems } });
}

/** `FILE has a problem`, or how many errors there are. */
export function countProblems(file: string, problems: readonly Problem[]): string {
  const { length } = problems.filter(({ severity }) => severity === 'error');
  return `${file} has ${length === 1 ? 'a problem' : `${length} problems`}`;
}

/** Sorted by file, line and column; problems at one location keep their order. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
