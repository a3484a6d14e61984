import { RuntimeError } from '../errors.ts';
import { isObject } from '../json/json.ts';

/** Lines and columns count from 1. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The same text for the same place. */
export function placeKey({ file, line, column }: SourceLocation): string {
  return `${line}:${column}:${file}`;
}

/** A message about a file. `error` stops the load; `warning` and `note` are only reported. */
export interface Problem extends SourceLocation {
  readonly severity: 'error' | 'warning' | 'note';
  /** Starts with the path of the value, as in `hooks[guard].phases: …`. */
  readonly message: string;
  readonly hint?: string;
  /**
   * `program`: this machine lacks or cannot start a program, script or folder. `file`: a file that a run needs is
   * missing. `runtime`: the runtime that the file names has errors.
   */
  readonly about?: 'program' | 'file' | 'runtime';
}

/** `FILE:LINE:COL message`, marked unless it is an error, with the hint on its own line. */
export function formatProblem(problem: Problem): string {
  const { file, line, column, severity, message, hint } = problem;
  const mark = severity === 'error' ? '' : `${severity}: `;
  const text = `${file}:${line}:${column} ${mark}${message}`;
  return hint === undefined ? text : `${text}\n    hint: ${hint}`;
}

export function problemsOf({ details }: RuntimeError): readonly Problem[] {
  const { problems } = details;
  return Array.isArray(problems) ? problems.filter(isProblem) : [];
}

function isProblem(value: unknown): value is Problem {
  return isObject(value) && typeof value['file'] === 'string' && typeof value['message'] === 'string';
}

/** Throws CONFIG_INVALID with `details.problems` if there is no value. */
export function requireLoaded<Value>(
  file: string,
  value: Value | undefined,
  problems: readonly Problem[],
): Value {
  if (value !== undefined) return value;
  throw new RuntimeError('CONFIG_INVALID', countProblems(file, problems), { details: { problems } });
}

/** CONFIG_INVALID with `details.problems`. Its message is the first error. */
export function configInvalid(file: string, problems: readonly Problem[], hint?: string): RuntimeError {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  const place = first && `${first.file}:${first.line}:${first.column} ${first.message}`;
  const more = errors.length > 1 ? ` (the first of ${errors.length} errors)` : '';
  const message = place === undefined ? `${file} is not valid` : place + more;
  return new RuntimeError('CONFIG_INVALID', message, { hint, details: { problems } });
}

/** `FILE has a problem`, or the number of errors. */
export function countProblems(file: string, problems: readonly Problem[]): string {
  const { length } = problems.filter(({ severity }) => severity === 'error');
  return `${file} has ${length === 1 ? 'a problem' : `${length} problems`}`;
}

/** Sorts by file, line and column; the sort is stable. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
