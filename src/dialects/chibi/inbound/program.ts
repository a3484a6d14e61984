import { toShellLine } from '../../../inbound/shell-line.ts';

/** A plugin that runs a command, for a file with an exec bit in chibi's folder of plugins. */
export function programFor(words: readonly string[]): string {
  return `#!/bin/sh\nexec ${toShellLine(words)} "$@"`;
}
