import { statSync } from 'node:fs';
import { RuntimeError } from '../../base/errors.ts';
import { findExecutable } from '../../base/files/executable.ts';
import type { Emit } from '../../contract/event.ts';
import type { Sandbox } from '../binding/sandbox.ts';
import type { Binding } from '../binding.ts';
import type { LaunchedProcess, Launcher, LaunchRequest } from '../launch/launch.ts';
import { withOwnerMark } from '../launch/system/owner-mark.ts';
import { describeLaunchError, startError } from '../start-error.ts';
import { launchBubblewrapped } from './bubblewrap/launch.ts';
import { launchHanded } from './command/launch.ts';
import { sandboxError } from './fault.ts';

/** What a sandbox is started with. */
export interface SandboxContext {
  readonly launch: Launcher;
  readonly emit: Emit;
  readonly input: Uint8Array | null;
}

/** Starts the binding’s process in its sandbox, never without. Throws SANDBOX_FAILED and PROCESS_START. */
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
      // bwrap ends what it has started with itself, but for the moment in which it sets up.
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

/** The program on this machine, which a sandbox of its files shows at the same place. */
function requireCommand({ name, command, args, cwd, env }: Binding): Pick<LaunchRequest, 'command' | 'args'> {
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw startError(name, `the folder ${cwd} does not exist`);
  const executable = findExecutable(command, cwd, env['PATH'] ?? '');
  if (!executable.found) throw startError(name, executable.reason, { hint: executable.hint });
  return { command: executable.path, args: [...(executable.leading ?? []), ...args] };
}
