import { posix } from 'node:path';
import type { SourceFiles } from '../suite-import/source-files.ts';
import { scriptFiles } from './scripts/scripts.ts';

/** How a program that the import writes is run: in the folder of the config, as promptfoo runs the user’s code. */
export function programOf(
  language: keyof typeof scriptFiles,
  args: readonly string[],
  { folderFromOutput, outputFromFolder }: SourceFiles,
): Readonly<Record<string, unknown>> {
  return {
    command: language === 'python' ? 'python3' : 'node',
    args: [posix.join(outputFromFolder, scriptFiles[language]), ...args],
    ...(folderFromOutput !== '' && { cwd: folderFromOutput }),
  };
}
