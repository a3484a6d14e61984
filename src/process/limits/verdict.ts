import { RuntimeError } from '../../base/errors.ts';
import type { ExitStatus } from '../launch/launch.ts';
import type { ProcessLimits } from '../process-config.ts';
import { startError } from '../start-error.ts';
import { withStderr } from '../stderr.ts';
import type { GroupEvents } from './cgroup/group.ts';
import { type LimitName, type Reached, reachedOf } from './reached.ts';
import { unsettableExit, unsettableWords } from './restrained-request.ts';

/** What is known of a process when it is over, or given up. */
interface Evidence extends GroupEvents {
  /** The limit for which it was killed by us. */
  readonly killedFor: Reached | undefined;
  /** One of its processes was seen at the limit of computing. */
  readonly sawCpuLimit: Reached | undefined;
  /** Absent when it has not ended. */
  readonly end?: ExitStatus | undefined;
  readonly stderr: string;
  /** It ended well, and without a word on stdout. */
  readonly isSilent: boolean;
}

/**
 * LIMIT_EXCEEDED for a process that reached a limit and failed, PROCESS_START for one that could not be restrained. What ended well
 * with an answer has coped with whatever it reached.
 */
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
    return reachedOf(limits, 'memory_mb', 'the system ended a process of it for want of memory');
  if (end !== undefined && end.exitCode !== 0) {
    const bySignal = findSignal(limits, end);
    if (bySignal !== undefined) return bySignal;
  }
  if (refusedStarts > 0) return reachedOf(limits, 'processes', `${refusedStarts} processes could not start`);
  if (end === undefined || end.exitCode === 0) return undefined;
  return findWords(limits, evidence.stderr) ?? sawCpuLimit;
}

/** A shell exits with 128 and the number when a signal ended what it ran. Source: POSIX, "Exit Status for Commands". */
function findSignal(limits: ProcessLimits, { exitCode, signal }: ExitStatus): Reached | undefined {
  const has = (name: string, number: number) => signal === name || exitCode === 128 + number;
  if (has('SIGXCPU', 24)) return reachedOf(limits, 'cpu_seconds', 'it was ended by SIGXCPU');
  if (has('SIGXFSZ', 25)) return reachedOf(limits, 'file_size_mb', 'it was ended by SIGXFSZ');
  return undefined;
}

/** The last words of a process that could not go on, by the limit that it speaks of. */
function findWords(limits: ProcessLimits, stderr: string): Reached | undefined {
  const tail = stderr.slice(-TAIL_CHARACTERS);
  for (const [limit, pattern] of lastWords) {
    const [words] = pattern.exec(tail) ?? [];
    const reached = words === undefined ? undefined : reachedOf(limits, limit, `its last words: ${words}`);
    if (reached !== undefined) return reached;
  }
  return undefined;
}

const TAIL_CHARACTERS = 4096;

/** As C libraries, Python, Node, Java, Go and shells have them. */
const lastWords: readonly (readonly [LimitName, RegExp])[] = [
  // A child was ended by it. Source: signal(7) for the name, strsignal of glibc, musl and the BSDs for the words.
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
