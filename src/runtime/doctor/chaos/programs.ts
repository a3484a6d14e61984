import { symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempFolder, removeTempFolder } from '../../../base/files/temp-folder.ts';
import type { Binding } from '../../../process/binding.ts';
import type { Fault } from './faults.ts';

/** What a program says when it does not fail. */
export interface Speech {
  readonly consent: string;
  /** Absent where a server is not greeted. */
  readonly greeting?: string | undefined;
}

/** The command of a program of ours in the place of a hook's own. */
export interface StandIn extends Pick<Binding, 'command' | 'args'> {
  /** Takes the program away; only where it goes between two calls. */
  readonly remove?: () => void;
}

/** Programs for /bin/sh that fail in the place of hooks, and one that consents. */
export interface Programs {
  consenting(mode: Binding['mode'], speech: Speech): StandIn;
  failing(fault: Fault, mode: Binding['mode'], speech: Speech): StandIn;
  close(): void;
}

/** Makes a temporary folder for the programs that are files. Throws the system error. */
export function openPrograms(): Programs {
  const folder = makeTempFolder('doctor');
  let count = 0;
  for (const mode of ['oneshot', 'server'] as const) {
    const script = scriptOf(mode, mode === 'oneshot' ? sayOnce : `${reply}; exit 0`);
    writeFileSync(join(folder, mode), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  }
  const deleted = (mode: Binding['mode'], args: readonly string[]): StandIn => {
    count += 1;
    const command = join(folder, `deleted-${count}`);
    symlinkSync(join(folder, mode), command);
    return { command, args, remove: () => unlinkSync(command) };
  };
  return {
    consenting: (mode, speech) => inShell(mode, mode === 'oneshot' ? sayOnce : reply, speech),
    failing: (fault, mode, speech) => {
      if (fault.file === 'missing') return { command: join(folder, 'missing'), args: [] };
      if (fault.file === 'deleted') return deleted(mode, argsOf(speech));
      if (fault.isUngreeted === true) return inShell(mode, ':', { consent: speech.consent });
      return inShell(mode, fault[mode] ?? ':', speech);
    },
    close: () => removeTempFolder(folder),
  };
}

const sayOnce = 'printf %s "$1"';
const reply = 'printf \'{"jsonrpc": "2.0", "id": %s, "result": %s}\\n\' "$id" "$1"';

function inShell(mode: Binding['mode'], lines: string, speech: Speech): StandIn {
  return { command: '/bin/sh', args: ['-c', scriptOf(mode, lines), 'sh', ...argsOf(speech)] };
}

function argsOf({ consent, greeting = '' }: Speech): string[] {
  return [consent, greeting];
}

/** No core file may be left where the hook starts, which is a folder of its owner. */
function scriptOf(mode: Binding['mode'], lines: string): string {
  if (mode === 'oneshot') return `ulimit -c 0\n${lines}`;
  return `ulimit -c 0
greeting=$2
while IFS= read -r line; do
  id=\${line#*\\"id\\":}
  id=\${id%%,*}
  if [ -n "$greeting" ]; then
    printf '{"jsonrpc": "2.0", "id": %s, "result": %s}\\n' "$id" "$greeting"
    greeting=
    continue
  fi
  ${lines}
done`;
}
