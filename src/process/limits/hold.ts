import { existsSync } from 'node:fs';
import { RuntimeError } from '../../base/errors.ts';
import { findInterpreterFault } from '../../base/files/interpreter.ts';
import type { Binding } from '../binding.ts';
import {
  type ExitStatus,
  type Launcher,
  type LaunchRequest,
  type Restraint,
  type ShellLimit,
  startError,
} from '../launch/launch.ts';
import type { ProcessLimits } from '../process-config.ts';
import { withStderr } from '../stderr.ts';
import { type ControlGroup, type GroupEvents, type GroupMaker, openGroupMaker } from './cgroup.ts';
import { type LimitName, type Reached, reachedOf, type Supervision, supervise } from './supervisor.ts';

interface Hold {
  readonly launch: Launcher;
  begin(pid: number): void;
  /** `end` is absent if the process was abandoned. Returns undefined if it failed by no limit. */
  fault(how: HeldEnd): RuntimeError | undefined;
  /** Call it once the process has ended or failed to start. Safe to call again. */
  release(): void;
}

interface HeldEnd {
  readonly end?: ExitStatus | undefined;
  readonly stderr: string;
  readonly isSilent?: boolean;
}

const noEvents = { oomKills: 0, refusedStarts: 0 };

export type FindGroups = () => Promise<GroupMaker | undefined>;

let maker: Promise<GroupMaker | undefined> | undefined;

const findGroupsOnce: FindGroups = () => {
  maker ??= openGroupMaker();
  return maker;
};

export async function openHold(
  { name, limits: own, nice }: Pick<Binding, 'name' | 'limits' | 'nice'>,
  {
    launch,
    findGroups = findGroupsOnce,
  }: { readonly launch: Launcher; readonly findGroups?: FindGroups | undefined },
): Promise<Hold> {
  const limits = own ?? {};
  const group = await makeGroup(limits, findGroups);
  const restraint = { joins: group?.joins ?? [], limits: shellLimitsOf(limits), nice: nice ?? 0 };
  let supervision: Supervision | undefined;
  return {
    launch: async (request, watch) => {
      requireStartable(request);
      return await launch(restrainRequest(request, restraint), watch);
    },
    begin: (pid) => {
      const unbound = withoutBounds(limits, group);
      if (Object.keys(unbound).length > 0) supervision = supervise(pid, unbound);
    },
    fault: ({ isSilent = false, ...how }) => {
      const events = group?.events() ?? noEvents;
      const fault = faultOf(name, limits, {
        ...{ ...how, ...events, isSilent },
        ...{ killedFor: supervision?.reached(), sawCpuLimit: supervision?.sawCpuLimit() },
      });
      // Also ends processes in sessions of their own.
      if (fault !== undefined) group?.kill();
      return fault;
    },
    release: () => {
      supervision?.end();
      group?.release();
    },
  };
}

function requireStartable({ command, cwd, env }: LaunchRequest): void {
  const isThere = existsSync(cwd);
  if (!isThere || findInterpreterFault(command, { cwd, searchPath: env['PATH'] ?? '' }) !== undefined)
    throw new Error('ENOENT');
}

async function makeGroup(limits: ProcessLimits, find: FindGroups): Promise<ControlGroup | undefined> {
  if (limits.memoryMb === undefined && limits.processes === undefined) return undefined;
  try {
    return (await find())?.make(limits);
  } catch {
    return undefined;
  }
}

function withoutBounds(
  { memoryMb, processes, cpuSeconds }: ProcessLimits,
  group: ControlGroup | undefined,
): ProcessLimits {
  return {
    ...(memoryMb !== undefined && group?.bounds.has('memory') !== true && { memoryMb }),
    ...(processes !== undefined && group?.bounds.has('pids') !== true && { processes }),
    ...(cpuSeconds !== undefined && { cpuSeconds }),
  };
}

interface Evidence extends GroupEvents {
  readonly killedFor: Reached | undefined;
  readonly sawCpuLimit: Reached | undefined;
  readonly end?: ExitStatus | undefined;
  readonly stderr: string;
  readonly isSilent: boolean;
}

/** LIMIT_EXCEEDED, or PROCESS_START if a limit could not be set. A success with output is never a fault. */
export function faultOf(name: string, limits: ProcessLimits, evidence: Evidence): RuntimeError | undefined {
  const { end, stderr, isSilent } = evidence;
  if (end?.exitCode === 0 && !isSilent) return undefined;
  const reached = findReached(limits, evidence);
  if (reached === undefined) return findStartFault(name, evidence);
  const { limit, value, seen } = reached;
  const error = new RuntimeError(
    'LIMIT_EXCEEDED',
    `"${name}" reached its limit ${limit}: ${value} (${seen})`,
    { details: { limit, value, seen, ...(end && { exit_code: end.exitCode, signal: end.signal }) } },
  );
  return withStderr(error, stderr);
}

function findReached(limits: ProcessLimits, evidence: Evidence): Reached | undefined {
  const { killedFor, sawCpuLimit, oomKills, refusedStarts, end } = evidence;
  if (killedFor !== undefined) return killedFor;
  if (oomKills > 0)
    return reachedOf(limits, 'memory_mb', 'the system killed one of its processes for lack of memory');
  if (end !== undefined && end.exitCode !== 0) {
    const bySignal = findSignal(limits, end);
    if (bySignal !== undefined) return bySignal;
  }
  if (refusedStarts > 0) return reachedOf(limits, 'processes', `${refusedStarts} processes could not start`);
  if (end === undefined || end.exitCode === 0) return undefined;
  return findWords(limits, evidence.stderr) ?? sawCpuLimit;
}

/** A shell exits with 128 plus the signal number. Source: POSIX, "Exit Status for Commands". */
function findSignal(limits: ProcessLimits, { exitCode, signal }: ExitStatus): Reached | undefined {
  const has = (name: string, number: number) => signal === name || exitCode === 128 + number;
  if (has('SIGXCPU', 24)) return reachedOf(limits, 'cpu_seconds', 'it was ended by SIGXCPU');
  if (has('SIGXFSZ', 25)) return reachedOf(limits, 'file_size_mb', 'it was ended by SIGXFSZ');
  return undefined;
}

function findWords(limits: ProcessLimits, stderr: string): Reached | undefined {
  const tail = stderr.slice(-TAIL_CHARACTERS);
  for (const [limit, pattern] of lastWords) {
    const [words] = pattern.exec(tail) ?? [];
    const reached =
      words === undefined ? undefined : reachedOf(limits, limit, `its stderr ends with: ${words}`);
    if (reached !== undefined) return reached;
  }
  return undefined;
}

const TAIL_CHARACTERS = 4096;

/** The messages of C libraries, Python, Node, Java, Go and shells. */
const lastWords: readonly (readonly [LimitName, RegExp])[] = [
  // Source: signal(7) for the name, strsignal of glibc, musl and the BSDs for the words.
  ['cpu_seconds', /\bSIGXCPU\b|cpu ?time limit exceeded/i],
  ['open_files', /EMFILE|too many open files|\bErrno 24\b|: error 24\b/i],
  ['file_size_mb', /EFBIG|file too large|file size limit exceeded|\bErrno 27\b/i],
  [
    'memory_mb',
    /ENOMEM|MemoryError|out of memory|cannot allocate memory|OutOfMemoryError|bad_alloc|\bErrno 12\b|failed to map segment/i,
  ],
  ['processes', /cannot fork|unable to create (?:native )?thread|can't start new thread/i],
];

function findStartFault(name: string, { end, stderr }: Evidence): RuntimeError | undefined {
  const [line = ''] = stderr.split('\n', 1);
  const isUnsettable = end?.exitCode === unsettableExit && line.startsWith(unsettableWords);
  const isExec = /^signalbox-limits: (?:line )?\d+: exec: /.test(line) && (end?.exitCode ?? 0) >= 126;
  return isUnsettable || isExec ? startError(name, line) : undefined;
}

/**
 * The shell restrains itself and execs the command, so the pid stays the same. Exits with `unsettableExit` on failure.
 */
function restrainRequest(request: LaunchRequest, restraint: Restraint): LaunchRequest {
  const { joins, limits, nice } = restraint;
  const lines = [
    helpers,
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

const unsettableExit = 125;
const unsettableWords = 'signalbox: the system does not let it set its';

/** A stricter existing limit stays. */
const helpers = `cannot() { echo "${unsettableWords} $1" >&2; exit ${unsettableExit}; }
limit() {
ulimit -S "$1" "$2" 2>/dev/null && ulimit -H "$1" "$3" 2>/dev/null && return
has=$(ulimit -H "$1")
[ "$has" != unlimited ] && [ "$has" -le "$3" ] || cannot "limit $1"
ulimit -S "$1" "$has" 2>/dev/null
}`;

const shellVariables = ['PWD', 'OLDPWD', 'SHLVL'];

function shellLimitsOf({
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

/** In MiB, beyond the limit: Node 24 maps 560 MiB when it uses 43; Java reserves a 64th of the memory. */
const RESERVED_MB = 1024;

/** The time between SIGXCPU, which a process may catch, and SIGKILL. */
const CPU_GRACE_SECONDS = 2;

function nicePath(): string {
  return existsSync('/usr/bin/nice') ? '/usr/bin/nice' : '/bin/nice';
}
