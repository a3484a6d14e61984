import type { CommandSandbox } from '../../binding/sandbox.ts';
import { isAlwaysForwarded } from '../../env.ts';
import type { LaunchRequest } from '../../launch/launch.ts';

/** A request as the program of a sandbox is given it. */
export interface Handed {
  readonly request: LaunchRequest;
  /** What stands before all else on stdin. */
  readonly prelude: string;
}

/**
 * The request for the program that hands it on; `id` names the call. Only names of variables stand on its command line: the
 * values are in its own environment, or on stdin.
 */
export function handOver(sandbox: CommandSandbox, request: LaunchRequest, id: string): Handed {
  const { command, args, cwd, env, input } = request;
  const names = Object.keys(env).filter((name) => !isAlwaysForwarded(name) || sandbox.named.includes(name));
  const isOnStdin = sandbox.env === 'stdin' && names.length > 0;
  const flags = sandbox.env === 'flags' ? names.flatMap((name) => flagOf(sandbox.envFlag, name)) : [];
  const before = sandbox.args.flatMap((word) => (word === '${env}' ? flags : [fill(word, id)]));
  const shell = isOnStdin ? ['sh', '-c', readVariables, 'signalbox'] : [];
  const prelude = isOnStdin
    ? `${names.map((name) => `${name}=${escapeValue(env[name] ?? '')}\n`).join('')}\n`
    : '';
  const kept = isOnStdin
    ? Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)))
    : env;
  return {
    prelude,
    request: {
      command: sandbox.program,
      args: [...before, ...shell, command, ...args],
      ...{ cwd, env: { ...sandbox.own, ...kept } },
      input: input === null || prelude === '' ? input : Buffer.concat([Buffer.from(prelude), input]),
    },
  };
}

/** The text with the name of the call at its place. */
export function fill(word: string, id: string): string {
  return word.replaceAll('${id}', id);
}

/** `-e NAME`, or `--env=NAME`. */
function flagOf(flag: string, name: string): string[] {
  return flag.endsWith('=') ? [`${flag}${name}`] : [flag, name];
}

/**
 * Takes variables from the first lines of stdin, up to an empty one, and becomes the command. A POSIX shell reads no byte more
 * than a line from what is no file.
 */
const readVariables =
  'while IFS= read -r l && [ -n "$l" ]; do v=$(printf "%b." "$l"); export "${v%.}"; done; exec "$@"';

/** As `printf %b` reads it. */
function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
