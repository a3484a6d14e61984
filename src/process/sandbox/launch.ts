import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { RuntimeError } from '../../base/errors.ts';
import { findExecutable } from '../../base/files/executable.ts';
import { findInterpreterFault } from '../../base/files/interpreter.ts';
import { waitForSettled } from '../../base/time/deadline.ts';
import type { Emit } from '../../contract/event.ts';
import type { SandboxMark } from '../../contract/exchange.ts';
import type { Binding, BubblewrapSandbox, CommandSandbox, Sandbox } from '../binding.ts';
import { isAlwaysForwarded } from '../env.ts';
import {
  describeLaunchError,
  type ExitStatus,
  type Inside,
  type LaunchedProcess,
  type Launcher,
  type LaunchRequest,
  startError,
} from '../launch/launch.ts';
import {
  type Leftovers,
  launchListener,
  releaseGroup,
  signalGroup,
  signalProcess,
  withOwnerMark,
} from '../launch/process-groups.ts';
import { probeBubblewrap, wordsOf } from './bubblewrap/probe.ts';
import { openStatusFile, type StatusFile, sandboxError, startBubblewrap } from './bubblewrap/start.ts';

interface SandboxContext {
  readonly launch: Launcher;
  readonly emit: Emit;
  readonly input: Uint8Array | null;
}

/** Never starts the process outside its sandbox. Throws SANDBOX_FAILED and PROCESS_START. */
export async function launchInSandbox(
  binding: Binding,
  sandbox: Sandbox,
  { launch, input, emit }: SandboxContext,
): Promise<LaunchedProcess> {
  const { name, cwd, env, leftovers } = binding;
  switch (sandbox.mode) {
    case 'refused':
      throw sandboxError(name, sandbox, sandbox.reason);
    case 'bubblewrap': {
      // The mark covers bwrap's setup, during which its children do not end with it.
      const marked = withOwnerMark(env, leftovers);
      const request = { ...requireCommand(binding), cwd, env: marked, input };
      return await launchBubblewrapped(name, sandbox, { request, launch }).catch((error: unknown) => {
        if (error instanceof RuntimeError) throw error;
        throw startError(name, describeLaunchError(error, cwd, sandbox.program), { cause: error });
      });
    }
    case 'command': {
      const note = (message: string) => emit({ type: 'note', name, level: 'warn', message });
      const request = { command: binding.command, args: binding.args, cwd, env, input };
      return await launchHanded(name, sandbox, { request, launch, leftovers, note });
    }
  }
}

function requireCommand({ name, command, args, cwd, env }: Binding): Pick<LaunchRequest, 'command' | 'args'> {
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw startError(name, `the folder ${cwd} does not exist`);
  const executable = findExecutable(command, cwd, env['PATH'] ?? '');
  if (!executable.found) throw startError(name, executable.reason, { hint: executable.hint });
  return { command: executable.path, args: [...(executable.leading ?? []), ...args] };
}

/** The sandbox ends with its command, bwrap or this process. Throws SANDBOX_FAILED if there can be none. */
async function launchBubblewrapped(
  entry: string,
  sandbox: BubblewrapSandbox,
  { request, launch }: { readonly request: LaunchRequest; readonly launch: Launcher },
): Promise<LaunchedProcess> {
  const probe = await probeBubblewrap(sandbox, launch);
  if (!probe.isPossible) throw sandboxError(entry, sandbox, probe.reason, { hint: probe.hint });
  const status = openStatusFile();
  try {
    const launched = await startBubblewrap(entry, sandbox, request, {
      launch,
      status,
      watch: launchListener,
    });
    const ended = launched.ended.then((end) => {
      // bwrap may have been killed before its child was bound to it.
      killInside(status);
      status.close();
      return trueEnd(end, status.exitCode());
    });
    const startFault = (said: string) => findStartFault(entry, sandbox, { request, status, said });
    return { ...launched, ended, inside: { ...insideOf(status), startFault: whenOver(ended, startFault) } };
  } catch (error) {
    status.close();
    throw error;
  }
}

/** A start has no fault before its end, or after a signal. */
function whenOver(
  ended: Promise<ExitStatus>,
  find: (said: string) => RuntimeError | undefined,
): Inside['startFault'] {
  let end: ExitStatus | undefined;
  void ended.then((known) => {
    end = known;
  });
  return (said) => (end === undefined || end.signal !== null ? undefined : find(said));
}

function insideOf(status: StatusFile): Omit<Inside, 'startFault'> {
  return {
    terminate: () => {
      const child = runningChild(status);
      // The signal reaches the command's group; its leader is bwrap's own process and ignores all but SIGKILL.
      return child !== undefined && signalGroup(child, 'SIGTERM');
    },
    kill: async () => killInside(status),
  };
}

function runningChild(status: StatusFile): number | undefined {
  return status.isOpen && status.exitCode() === undefined ? status.child() : undefined;
}

function killInside(status: StatusFile): void {
  const child = runningChild(status);
  if (child !== undefined) signalProcess(child, 'SIGKILL');
}

/** bwrap exits with 128 plus the signal number; such an exit code of the command counts as a signal, too. */
function trueEnd(end: ExitStatus, inner: number | undefined): ExitStatus {
  if (end.exitCode === null || inner === undefined || inner <= 128) return end;
  const known = Object.entries(constants.signals).find(([, number]) => number === inner - 128);
  return known === undefined ? end : { exitCode: null, signal: known[0] };
}

interface Start {
  readonly request: LaunchRequest;
  readonly status: StatusFile;
  readonly said: string;
}

/** bwrap reports an exit code only for a started command. */
function findStartFault(entry: string, sandbox: BubblewrapSandbox, start: Start): RuntimeError | undefined {
  if (start.status.exitCode() !== undefined) return undefined;
  const words = wordsOf(start.said) || 'bubblewrap failed without an error message';
  const { command, cwd, env } = start.request;
  const fault = words.includes('execvp')
    ? findInterpreterFault(command, { cwd, searchPath: env['PATH'] ?? '' })
    : undefined;
  if (fault !== undefined) return sandboxError(entry, sandbox, fault.reason, { hint: fault.hint });
  const hint = `A sandbox shows the system’s folders, the folder of the config file and the program. Add what else is needed to \`read\` of spec.sandboxes.${sandbox.name}.`;
  return sandboxError(entry, sandbox, `its sandbox "${sandbox.name}" could not start it: ${words}`, { hint });
}

type Note = (message: string) => void;

interface HandingOver {
  readonly request: LaunchRequest;
  readonly launch: Launcher;
  readonly leftovers: Leftovers;
  readonly note: Note;
}

async function launchHanded(
  entry: string,
  sandbox: CommandSandbox,
  { request, launch, leftovers, note }: HandingOver,
): Promise<LaunchedProcess> {
  const id = randomUUID();
  const { prelude, request: unmarked } = handOver(sandbox, request, id);
  const handed = { ...unmarked, env: withOwnerMark(unmarked.env, leftovers) };
  const launched = await launch(handed, launchListener).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw startError(entry, `${sandbox.program}, which its sandbox "${sandbox.name}" starts: ${reason}`, {
      cause,
    });
  });
  if (request.input === null && prelude !== '') launched.stdin?.write(prelude);
  if (sandbox.kill === null) return launched;
  const kill = sandbox.kill.map((word) => fill(word, id));
  return withEnd(launched, (isNeeded) =>
    runKill(kill, { request: handed, launch, note: isNeeded ? note : () => {} }),
  );
}

/** Runs the kill command once after the program ends, unless the command ended by itself. */
function withEnd(launched: LaunchedProcess, run: (isNeeded: boolean) => Promise<void>): LaunchedProcess {
  let isAsked = false;
  let isOver = false;
  let killing: Promise<void> | undefined;
  const kill = async (isNeeded: boolean) => {
    killing ??= run(isNeeded);
    await killing;
  };
  const ended = launched.ended.then(async (end) => {
    isOver = true;
    // A program that was asked to end may or may not have ended the command.
    if (end.signal !== null || isAsked) await kill(end.signal !== null);
    await killing;
    return end;
  });
  const inside: Inside = {
    terminate: () => {
      isAsked = true;
      return false;
    },
    kill: async () => {
      if (!isOver) await kill(true);
      await killing;
    },
    startFault: () => undefined,
  };
  return { ...launched, ended, inside };
}

async function runKill(
  [command = '', ...args]: readonly string[],
  { request, launch, note }: Pick<HandingOver, 'request' | 'launch' | 'note'>,
): Promise<void> {
  try {
    const { cwd, env } = request;
    const launched = await launch({ command, args, cwd, env, input: new Uint8Array() }, launchListener);
    for (const output of [launched.stdout, launched.stderr])
      output.listen({ onData: () => {}, onClose: () => {} });
    const isOver = await waitForSettled(launched.ended, KILL_MS);
    if (!isOver) signalGroup(launched.pid, 'SIGKILL');
    const end = await launched.ended;
    releaseGroup(launched.pid);
    for (const stream of [launched.stdin, launched.stdout, launched.stderr]) stream?.destroy();
    if (end.exitCode !== 0)
      note(
        `the command that ends it where it runs failed: ${command} ended with ${end.exitCode ?? end.signal}`,
      );
  } catch (error) {
    note(
      `the command that ends it where it runs could not be started: ${error instanceof Error ? error.message : error}`,
    );
  }
}

const KILL_MS = 10_000;

interface Handed {
  readonly request: LaunchRequest;
  /** Written to stdin before the input. */
  readonly prelude: string;
}

/** `id` names the call. Command lines are visible, so values go through the environment or stdin. */
function handOver(sandbox: CommandSandbox, request: LaunchRequest, id: string): Handed {
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

function fill(word: string, id: string): string {
  return word.replaceAll('${id}', id);
}

/** `-e NAME`, or `--env=NAME`. */
function flagOf(flag: string, name: string): string[] {
  return flag.endsWith('=') ? [`${flag}${name}`] : [flag, name];
}

/** A POSIX shell reads no byte beyond the line from a pipe. */
const readVariables =
  'while IFS= read -r l && [ -n "$l" ]; do v=$(printf "%b." "$l"); export "${v%.}"; done; exec "$@"';

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

/** Returns the sandbox for the error details, and a hint if stderr suggests which permission is missing. */
export function markSandbox(
  sandbox: Sandbox,
  { stdout, stderr }: { readonly stdout: Uint8Array; readonly stderr: string },
): SandboxMark {
  const { name, mode } = sandbox;
  const words = `${Buffer.from(stdout.subarray(0, WORDS)).toString()}\n${stderr.slice(-WORDS)}`;
  const hint = findHint(sandbox, words);
  return hint === undefined ? { name, mode } : { name, mode, hint };
}

const WORDS = 4096;

const network =
  /ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|EAI_AGAIN|ENOTFOUND|getaddrinfo|network is unreachable|connection refused|name resolution|name or service not known|could not resolve host|fetch failed/i;
const write = /EROFS|read-only file system/i;
const read =
  /ENOENT|EACCES|no such file or directory|permission denied|cannot find module|no module named|not found|cannot open shared object/i;

/** Returns a hint for the first of network, write and read that is denied and that stderr mentions. */
function findHint(sandbox: Sandbox, words: string): string | undefined {
  if (sandbox.mode !== 'bubblewrap') return undefined;
  const { name } = sandbox;
  const place = `spec.sandboxes.${name}`;
  if (!sandbox.network && network.test(words))
    return `Its sandbox "${name}" has no network: \`network: true\` in ${place} gives it that of this machine.`;
  if (write.test(words))
    return `Its sandbox "${name}" lets it write to /tmp and to what \`write\` of ${place} names: add the path there.`;
  if (read.test(words))
    return `Its sandbox "${name}" shows it the system’s programs, the folder of the config file and what \`read\` of ${place} names: if it misses a file, add it there.`;
  return undefined;
}
