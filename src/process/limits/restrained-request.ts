import { existsSync } from 'node:fs';
import type { LaunchRequest, Restraint, ShellLimit } from '../launch/launch.ts';
import type { ProcessLimits } from '../process-config.ts';

/**
 * The same request through a shell that joins control groups, limits itself and becomes the command, so that whatever the command
 * starts is held as well and its number stays the same. What cannot be set ends it with `unsettableExit`.
 */
export function restrainRequest(request: LaunchRequest, restraint: Restraint): LaunchRequest {
  const { joins, limits, nice } = restraint;
  const lines = [
    helpers,
    // What a shell adds to the environment by itself.
    ...shellVariables.filter((name) => request.env[name] === undefined).map((name) => `unset ${name}`),
    ...joins.map((file) => `{ echo 0 >'${file}'; } 2>/dev/null || cannot 'control group'`),
    ...limits.map(({ option, soft, hard }) => `limit -${option} ${soft} ${hard}`),
    `exec ${nice === 0 ? '' : `${nicePath()} -n ${nice} `}"$@"`,
  ];
  return {
    ...request,
    command: '/bin/sh',
    args: ['-c', lines.join('\n'), 'signalbox-limits', request.command, ...request.args],
    restraint,
  };
}

/** The exit code of a process that cannot be restrained, and the beginning of what it then says on stderr. */
export const unsettableExit = 125;
export const unsettableWords = 'signalbox: the system does not let it set its';

/** A limit that is stricter already stays. */
const helpers = `cannot() { echo "${unsettableWords} $1" >&2; exit ${unsettableExit}; }
limit() {
ulimit -S "$1" "$2" 2>/dev/null && ulimit -H "$1" "$3" 2>/dev/null && return
has=$(ulimit -H "$1")
[ "$has" != unlimited ] && [ "$has" -le "$3" ] || cannot "limit $1"
ulimit -S "$1" "$has" 2>/dev/null
}`;

const shellVariables = ['PWD', 'OLDPWD', 'SHLVL'];

/** The limits that the system keeps for each process by itself, in the units of a shell. */
export function shellLimitsOf({
  memoryMb,
  cpuSeconds,
  openFiles,
  fileSizeMb,
}: ProcessLimits): readonly ShellLimit[] {
  const limits: ShellLimit[] = [];
  const add = (option: ShellLimit['option'], soft: number, hard = soft) =>
    limits.push({ option, soft, hard });
  if (fileSizeMb !== undefined) add('f', fileSizeMb * 2048);
  if (memoryMb !== undefined) add('d', (memoryMb + RESERVED_MB) * 1024);
  if (cpuSeconds !== undefined) add('t', cpuSeconds, cpuSeconds + CPU_GRACE_SECONDS);
  // Last, since the shell itself opens files.
  if (openFiles !== undefined) add('n', openFiles);
  return limits;
}

/**
 * What a process may reserve beyond what it may use: Node 24 has 560 MiB of writable memory when it uses 43, and a Java
 * with default options commits a 64th of the machine at once.
 */
const RESERVED_MB = 1024;

/** Between SIGXCPU, which a process may catch to say something yet, and SIGKILL. */
const CPU_GRACE_SECONDS = 2;

function nicePath(): string {
  return existsSync('/usr/bin/nice') ? '/usr/bin/nice' : '/bin/nice';
}
