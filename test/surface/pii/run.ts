import { fileURLToPath } from 'node:url';
import { type Circumstances, type Ran, start } from '../cli/command-line.ts';

/** The program, from source. */
export const program = fileURLToPath(new URL('../../../src/surface/pii/main.ts', import.meta.url));

/** Runs it to its end. */
export async function runPii(args: readonly string[], circumstances: Circumstances = {}): Promise<Ran> {
  return await start([program, ...args], circumstances, [process.execPath]).ran;
}
