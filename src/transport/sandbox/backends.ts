import type { HostEnv } from '../../binding/env.ts';
import { findExposure, isTooBroad, resolveSandbox } from '../../binding/resolve-sandbox.ts';
import type { RuntimeConfig, SandboxConfig } from '../../config/config.ts';
import type { Problem } from '../../yaml/problem.ts';
import type { Launcher } from '../launch/launch.ts';
import { probeBubblewrap } from './bubblewrap/probe.ts';

/**
 * An error for each sandbox that an entry names and this machine cannot make, where it stands in the file: a filter in it could
 * only deny. Makes one of bubblewrap's, which shows nothing, to find out. Empty, without a look at anything, where none is named.
 */
export async function findMissingBackends(
  config: RuntimeConfig,
  host: HostEnv,
  launch: Launcher,
): Promise<Problem[]> {
  const used = new Set(namesIn(config));
  const declared = config.sandboxes.filter(({ name }) => used.has(name));
  const problems = await Promise.all(declared.map((sandbox) => findFault(sandbox, { config, host, launch })));
  return problems.flatMap((problem) => problem ?? []);
}

/** The sandboxes that entries name. */
function namesIn({ tools, evals, hooks, foreign, imports }: RuntimeConfig): string[] {
  const entries = [...tools, ...evals, ...hooks, ...foreign].flatMap(({ exec }) => exec?.sandbox ?? []);
  return [...entries, ...imports.flatMap(({ sandbox }) => sandbox ?? [])];
}

interface Surroundings {
  readonly config: RuntimeConfig;
  readonly host: HostEnv;
  readonly launch: Launcher;
}

async function findFault(
  { name, position, mode }: SandboxConfig,
  { config, host, launch }: Surroundings,
): Promise<Problem | undefined> {
  if (mode !== 'bubblewrap' && mode !== 'command') return undefined;
  const sandbox = resolveSandbox(name, { config, host, cwd: config.folder, env: [], variables: {} });
  const fault = (what: string, hint: string): Problem => {
    const message = `sandboxes[${name}]: ${what}`;
    return { ...position, severity: 'error', message, hint };
  };
  if (sandbox?.mode === 'refused')
    return fault(sandbox.reason, mode === 'bubblewrap' ? installHint : 'Install it, or correct its name.');
  if (sandbox?.mode !== 'bubblewrap') return undefined;
  if (isTooBroad(config.folder, host['HOME'])) {
    const what = `it would show all of ${config.folder}, the folder of this file`;
    return fault(what, 'Move the file and its scripts to a folder of their own.');
  }
  const exposure = findExposure(sandbox);
  if (exposure !== undefined)
    return fault(
      exposure,
      'Give the state store a folder of its own, as in `state_store: {path: .signalbox/state.db}`.',
    );
  const probe = await probeBubblewrap(sandbox, launch);
  return probe.isolation === undefined ? fault(probe.reason, probe.hint) : undefined;
}

const installHint = 'Install it: `apt-get install bubblewrap`, or `dnf install bubblewrap`.';
