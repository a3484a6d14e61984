import { resolve } from 'node:path';
import { openKeyFile } from '../../base/files/key-file.ts';
import { readSettings } from '../../builtins/guards/pii/settings.ts';
import { type Invocation, runProgram } from '../../builtins/guards/program/program.ts';
import { createPiiFilter } from '../../builtins/pii/filter.ts';
import { help } from './help.ts';

/** Answers what stdin asks, on stdout. Resolves to the exit code. */
export async function main(invocation: Invocation): Promise<0 | 1 | 2> {
  const openKey = (file: string) => openKeyFile(resolve(file));
  const open = (argv: Invocation['argv'], env: Invocation['env']) =>
    createPiiFilter(readSettings(argv, { env, openKey }));
  return await runProgram({ name: 'signalbox-pii', help, open }, invocation);
}
