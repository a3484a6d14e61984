import { closeSync } from 'node:fs';
import type { BubblewrapSandbox } from '../../binding/sandbox.ts';
import type { LaunchedProcess, Launcher, LaunchListener, LaunchRequest } from '../../launch/launch.ts';
import { sandboxError } from '../fault.ts';
import { bubblewrapCommand, bubblewrapEnvironment } from './arguments.ts';
import { type OpenedMounts, openMounts } from './mounts.ts';
import { keyringFilter } from './seccomp.ts';
import { openDataFile, type StatusFile } from './status.ts';

/**
 * Starts bwrap with the request; what it is to show is opened for this start, and stays the same whatever happens at its paths
 * meanwhile. Throws SANDBOX_FAILED, and what `launch` throws.
 */
export async function startBubblewrap(
  entry: string,
  sandbox: BubblewrapSandbox,
  request: LaunchRequest,
  {
    launch,
    status,
    watch,
  }: { readonly launch: Launcher; readonly status: StatusFile; readonly watch?: LaunchListener },
): Promise<LaunchedProcess> {
  const filter = keyringFilter();
  if (filter === undefined)
    throw sandboxError(
      entry,
      sandbox,
      `the system calls of ${process.arch} that must be refused are not known`,
    );
  const { mounts, close } = openOrFail(entry, sandbox, request);
  let seccomp: number | undefined;
  try {
    seccomp = openDataFile(filter);
    const { network, program } = sandbox;
    const command = bubblewrapCommand({ network, mounts }, request, { status: status.fd, seccomp });
    const env = bubblewrapEnvironment(request.env);
    return await launch({ command: program, cwd: '/', input: request.input, env, ...command }, watch);
  } finally {
    if (seccomp !== undefined) closeSync(seccomp);
    close();
  }
}

function openOrFail(entry: string, sandbox: BubblewrapSandbox, request: LaunchRequest): OpenedMounts {
  try {
    return openMounts(sandbox, request);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const told = `its sandbox "${sandbox.name}" could not start it: ${reason}`;
    throw sandboxError(entry, sandbox, told, { cause: error });
  }
}
