import { fileURLToPath } from 'node:url';
import type { Circumstances, Ran } from '../command-line.ts';
import { openStreams } from '../in-process.ts';

export const program = fileURLToPath(new URL('../../../src/cli/pii/main.ts', import.meta.url));

export async function runPii(
  args: readonly string[],
  { stdin, env }: Pick<Circumstances, 'stdin' | 'env'> = {},
): Promise<Ran> {
  const { streams, texts } = openStreams({ stdin });
  const { runGuard } = await import('../../../src/cli/guards/run.ts');
  const printError = (line: string) => void streams.stderr.write(`${line}\n`);
  const invocation = { ...streams, argv: args, printError, env: { ...process.env, ...env } };
  const code = await runGuard('signalbox-pii', invocation);
  return { code, ...texts() };
}
