import { type Invocation, runProgram } from '../../guards/program/program.ts';
import { createPiiFilter } from '../../pii/filter.ts';
import { help } from './help.ts';
import { readSettings } from './settings.ts';

/** Answers what stdin asks, on stdout. Resolves to the exit code. */
export async function main(invocation: Invocation): Promise<0 | 1 | 2> {
  const open = (argv: Invocation['argv'], env: Invocation['env']) => createPiiFilter(readSettings(argv, env));
  return await runProgram({ name: 'signalbox-pii', help, open }, invocation);
}
