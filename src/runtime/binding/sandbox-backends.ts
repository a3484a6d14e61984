import { followLinks } from '../../base/files/paths.ts';
import { configInvalid, type Problem } from '../../base/yaml/problem.ts';
import type { RuntimeConfig, SandboxConfig } from '../../config/config.ts';
import { stateFolderOf } from '../../config/store.ts';
import { findExposure, isTooBroad, type Sandbox } from '../../process/binding.ts';
import type { HostEnv } from '../../process/env.ts';
import type { Launcher } from '../../process/launch/launch.ts';
import { probeBubblewrap } from '../../process/sandbox/bubblewrap/probe.ts';
import { makeFolder } from '../../store/sqlite/folder.ts';
import { resolveSandbox } from './resolve-sandbox.ts';

/** Throws CONFIG_INVALID with `details.problems` if this machine cannot create a sandbox that an entry uses. */
export async function requireSandboxes(
  config: RuntimeConfig,
  host: HostEnv,
  launch: Launcher,
): Promise<void> {
  const problems = await findMissingBackends(config, host, launch);
  if (problems.length > 0) throw configInvalid(config.file, problems);
}

/** Creates the state folder that sandboxes hide, before the first process can look for it. */
export function makeStateFolder({ stateStore }: RuntimeConfig): void {
  const folder = stateFolderOf(stateStore);
  if (folder === undefined) return;
  try {
    makeFolder(folder);
  } catch {}
}

export interface UsedSandbox {
  readonly config: SandboxConfig;
  readonly sandbox: Sandbox | null;
  /** Why this machine cannot create it. Absent if only starting it would show that. */
  readonly fault?: SandboxFault | undefined;
}

interface SandboxFault {
  readonly reason: string;
  readonly hint: string;
}

async function findMissingBackends(
  config: RuntimeConfig,
  host: HostEnv,
  launch: Launcher,
): Promise<Problem[]> {
  const used = await tryUsedSandboxes(config, host, launch);
  return used.flatMap(({ config: { name, position }, fault }) => {
    if (fault === undefined) return [];
    const message = `sandboxes[${name}]: ${fault.reason}`;
    return [{ ...position, severity: 'error', message, hint: fault.hint }];
  });
}

export async function tryUsedSandboxes(
  config: RuntimeConfig,
  host: HostEnv,
  launch: Launcher,
): Promise<UsedSandbox[]> {
  const used = new Set(namesIn(config));
  const declared = config.sandboxes.filter(({ name }) => used.has(name));
  return await Promise.all(declared.map((each) => tryOne(each, { config, host, launch })));
}

function namesIn({ tools, evals, hooks, foreign, imports }: RuntimeConfig): string[] {
  const entries = [...tools, ...evals, ...hooks, ...foreign].flatMap(({ exec }) => exec?.sandbox ?? []);
  return [...entries, ...imports.flatMap(({ sandbox }) => sandbox ?? [])];
}

interface Surroundings {
  readonly config: RuntimeConfig;
  readonly host: HostEnv;
  readonly launch: Launcher;
}

async function tryOne(declared: SandboxConfig, surroundings: Surroundings): Promise<UsedSandbox> {
  const { config, host } = surroundings;
  const launched = { cwd: config.folder, env: [], variables: {} };
  const sandbox = resolveSandbox(declared.name, { config, host, ...launched });
  // Other modes belong to the native protocol, where such an entry fails when it is called.
  const isTried = declared.mode === 'bubblewrap' || declared.mode === 'command';
  const fault = sandbox === null || !isTried ? undefined : await findFault(sandbox, surroundings, declared);
  return { config: declared, sandbox, fault };
}

async function findFault(
  sandbox: Sandbox,
  { config, host, launch }: Surroundings,
  { mode }: SandboxConfig,
): Promise<SandboxFault | undefined> {
  if (sandbox.mode === 'refused') {
    const hint = mode === 'bubblewrap' ? installHint : 'Install it, or correct its name.';
    return { reason: sandbox.reason, hint };
  }
  if (sandbox.mode !== 'bubblewrap') return undefined;
  if (isTooBroad(config.folder, host['HOME']) || isTooBroad(followLinks(config.folder), host['HOME'])) {
    const reason = `it would make all of ${config.folder}, the folder of this file, readable`;
    return { reason, hint: 'Move the file and its scripts to a folder of their own.' };
  }
  const exposure = findExposure(sandbox);
  if (exposure !== undefined) return { reason: exposure, hint: ownFolderHint };
  const probe = await probeBubblewrap(sandbox, launch);
  return probe.isPossible ? undefined : { reason: probe.reason, hint: probe.hint };
}

const ownFolderHint =
  'Put state and secret files into their own folders, such as `.signalbox/state.db` and `secrets/.env`, directly in a writable folder or outside of all.';
const installHint = 'Install it: `apt-get install bubblewrap`, or `dnf install bubblewrap`.';
