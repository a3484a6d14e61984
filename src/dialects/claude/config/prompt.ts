import type { ImportContext } from '../../import-context.ts';
import type { ClaudeCommand } from './draft.ts';

/** How long a prompt handler may take that names no time, in milliseconds. Source: hooks reference, "Prompt-based hooks". */
export const promptTimeoutMs = 30_000;

/** What answers a handler of type prompt: a program of ours that asks the provider, and blocks when it is not told a yes before the time is up. */
export function promptCommand(
  prompt: string,
  { provider, configFiles }: NonNullable<ImportContext['judge']>,
  timeoutMs = promptTimeoutMs,
): ClaudeCommand {
  const answerMs = Math.max(1, Math.floor(Math.min(timeoutMs * 0.8, timeoutMs - 1_000)));
  return {
    type: 'command',
    command: 'signalbox-prompt',
    args: [
      ...['--prompt', prompt, ...configFiles.flatMap((file) => ['--config', file])],
      ...['--judge', provider, '--timeout', String(answerMs)],
    ],
  };
}
