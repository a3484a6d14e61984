import { basename } from 'node:path';
import type { CommandConfig } from '../sandbox.ts';

type Completed = Pick<CommandConfig, 'args' | 'env' | 'kill'>;

/** Whose command line a client understands. */
export type Client = 'docker' | 'kubectl';

/** The client that a program is, by its name; undefined for any other. */
export function clientOf(command: string): Client | undefined {
  const name = basename(command);
  if (name === 'kubectl') return 'kubectl';
  return ['docker', 'podman', 'nerdctl'].includes(name) ? 'docker' : undefined;
}

/**
 * What a client of containers needs so that variables reach the command and it ends with its call: the arguments with
 * `${id}` and `${env}` at their places, and what ends it. Undefined where they neither run nor enter a container.
 * Source: `docker run --help`, `docker exec --help`, `kubectl exec --help`.
 */
export function completeClient(
  client: Client,
  command: string,
  args: readonly string[],
): Completed | undefined {
  const at = args.findIndex((word) => word === 'run' || word === 'exec');
  if (at === -1) return undefined;
  const [global, verb, rest] = [args.slice(0, at), args[at] ?? '', args.slice(at + 1)];
  if (client === 'kubectl') return verb === 'exec' ? completeKubectl(command, args) : undefined;
  const flags = [...global, verb];
  if (verb === 'exec') {
    const marked = [...flags, '-e', MARK, '${env}', ...rest];
    return { args: marked, env: 'flags', kill: [command, ...flags, ...withoutStdin(rest), ...killer] };
  }
  const named = nameIn(rest);
  const own = named === undefined ? ['--name', NAME] : [];
  return {
    args: [...flags, ...own, '${env}', ...rest],
    env: 'flags',
    kill: [command, ...global, 'kill', named ?? NAME],
  };
}

/** Has no flag for variables, so a shell in the container takes them. */
function completeKubectl(command: string, args: readonly string[]): Completed {
  const end = args.indexOf('--');
  const upTo = end === -1 ? args : args.slice(0, end);
  return {
    args: [...upTo, '--', 'env', MARK, ...(end === -1 ? [] : args.slice(end + 1))],
    env: 'stdin',
    kill: [command, ...withoutStdin(upTo), '--', ...killer],
  };
}

const NAME = 'signalbox-${id}';
const MARK = 'SIGNALBOX_CALL=${id}';

/** Ends every process of the container whose environment has the mark of the call, sessions of their own included. */
const killer = [
  'sh',
  '-c',
  'for p in /proc/[0-9]*; do tr "\\0" "\\n" <"$p/environ" 2>/dev/null | grep -qx "$1" && kill -9 "${p#/proc/}"; done; :',
  'signalbox-end',
  MARK,
];

function nameIn(args: readonly string[]): string | undefined {
  const joined = args.find((word) => word.startsWith('--name='));
  if (joined !== undefined) return joined.slice('--name='.length);
  const at = args.indexOf('--name');
  return at === -1 ? undefined : args[at + 1];
}

function withoutStdin(args: readonly string[]): string[] {
  return args.filter((word) => word !== '-i' && word !== '--interactive' && word !== '--stdin');
}
