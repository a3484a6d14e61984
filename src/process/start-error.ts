import { RuntimeError } from '../base/errors.ts';
import { findInterpreterFault } from '../base/files/interpreter.ts';
import type { Binding } from './binding.ts';

/** PROCESS_START, for a process that could not be started. */
export function startError(
  name: string,
  reason: string,
  options: { hint?: string; cause?: unknown } = {},
): RuntimeError {
  return new RuntimeError('PROCESS_START', `"${name}" could not be started: ${reason}`, options);
}

/** The interpreter that the script names, if that is what the system did not find. */
export function findMissingInterpreter(error: unknown, path: string, { cwd, env }: Binding) {
  if (!(error instanceof Error) || !error.message.includes('ENOENT')) return undefined;
  return findInterpreterFault(path, { cwd, searchPath: env['PATH'] ?? '' });
}

/** The file passed every check, so what is left is its interpreter, its folder or the system's limits. */
export function describeLaunchError(error: unknown, cwd: string, path: string): string {
  const text = error instanceof Error ? error.message : String(error);
  if (text.includes('ENOENT'))
    return `the interpreter that ${path} names, or the folder ${cwd}, does not exist`;
  if (text.includes('ENOEXEC')) return `${path} has no #! line, or is built for another machine`;
  if (text.includes('E2BIG')) return 'its arguments and environment are too long';
  if (text.includes('EMFILE') || text.includes('ENFILE'))
    return 'too many files are open; lower the concurrency';
  if (text.includes('EAGAIN') || text.includes('ENOMEM')) return 'the system has no room for another process';
  return text;
}
