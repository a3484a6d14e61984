import { existsSync } from 'node:fs';
import type { RuntimeError } from '../../base/errors.ts';
import { findInterpreterFault } from '../../base/files/interpreter.ts';
import type { Binding } from '../binding.ts';
import type { ExitStatus, Launcher, LaunchRequest } from '../launch/launch.ts';
import type { ProcessLimits } from '../process-config.ts';
import type { ControlGroup } from './cgroup/group.ts';
import { type GroupMaker, openGroupMaker } from './cgroup/places.ts';
import { restrainRequest, shellLimitsOf } from './restrained-request.ts';
import { type Supervision, supervise } from './supervisor.ts';
import { faultOf } from './verdict.ts';

/** How one process is held to its limits. */
interface Hold {
  /** Starts it held from its first instruction on. */
  readonly launch: Launcher;
  /** To be called with its number as soon as it has started. */
  begin(pid: number): void;
  /** The error of a process that reached a limit and failed; `end` is absent where it was given up before it ended. */
  fault(how: HeldEnd): RuntimeError | undefined;
  /** To be called once it has ended, or could not be started. Safe to call again. */
  release(): void;
}

/** How a held process ended. */
interface HeldEnd {
  readonly end?: ExitStatus | undefined;
  readonly stderr: string;
  /** It wrote nothing to stdout. */
  readonly isSilent?: boolean;
}

const noEvents = { oomKills: 0, refusedStarts: 0 };

/** Where control groups may be had. */
export type FindGroups = () => Promise<GroupMaker | undefined>;

let maker: Promise<GroupMaker | undefined> | undefined;

/** Looks for control groups once. */
const findGroupsOnce: FindGroups = () => {
  maker ??= openGroupMaker();
  return maker;
};

/** Holds a process that is about to start to the limits of its binding: by control groups where there are some, else by a supervisor. */
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
      // What it has started goes with it, in sessions of its own too.
      if (fault !== undefined) group?.kill();
      return fault;
    },
    release: () => {
      supervision?.end();
      group?.release();
    },
  };
}

/** Throws what the system would say, which a shell says in other words. */
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
    // The groups that this process was in are gone: the supervisor takes over.
    return undefined;
  }
}

/** What nobody else looks after, but for what the system counts for each process by itself. */
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
