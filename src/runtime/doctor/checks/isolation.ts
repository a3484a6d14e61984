import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../../../binding/sandbox.ts';
import { findExecutable } from '../../../files/executable.ts';
import type { Launcher } from '../../../transport/launch/launch.ts';
import { probeBubblewrap } from '../../../transport/sandbox/bubblewrap/probe.ts';
import { type Check, found } from './check.ts';
import type { ProcessEntry } from './entries.ts';

/** Whether each sandbox that entries ask for can be had. Starts bubblewrap with `true`, and nothing of the config. */
export async function checkSandboxes(entries: readonly ProcessEntry[], launch: Launcher): Promise<Check[]> {
  const first = new Map<string, { readonly sandbox: Sandbox; readonly entry: ProcessEntry }>();
  for (const entry of entries) {
    const { sandbox } = entry.binding;
    if (sandbox !== null && !first.has(sandbox.name)) first.set(sandbox.name, { sandbox, entry });
  }
  return await Promise.all(
    [...first.values()].map(async ({ sandbox, entry }) => await checkSandbox(sandbox, entry, launch)),
  );
}

async function checkSandbox(
  sandbox: Sandbox,
  { place, binding }: ProcessEntry,
  launch: Launcher,
): Promise<Check> {
  const about = { check: 'sandbox', subject: sandbox.name, place };
  switch (sandbox.mode) {
    case 'refused':
      return found('error', { ...about, message: `cannot be had: ${sandbox.reason}` });
    case 'command': {
      const program = findExecutable(sandbox.program, binding.cwd, binding.env['PATH'] ?? '');
      if (!program.found) return found('error', { ...about, message: program.reason, hint: program.hint });
      return found('ok', {
        ...about,
        message: `hands its commands to ${program.path}, which is not started here`,
      });
    }
    case 'bubblewrap': {
      const probe = await probeBubblewrap(sandbox, launch);
      if (probe.isolation === undefined)
        return found('error', { ...about, message: probe.reason, hint: probe.hint });
      return found('ok', { ...about, message: `bubblewrap, ${sandbox.program}` });
    }
  }
}

/** By which means the limits of entries are held. */
export function checkLimitMeans(entries: readonly ProcessEntry[]): Check[] {
  const limited = entries.find(({ binding }) => binding.limits !== null);
  if (limited === undefined) return [];
  const about = { check: 'limits', place: limited.place };
  if (process.platform !== 'linux') {
    const hint = 'Use Linux, or take `limits` out of the entries.';
    return [found('error', { ...about, message: 'limits need Linux', hint })];
  }
  const folder = ownControlGroup();
  const message =
    folder === undefined
      ? 'held by rlimits, for each process by itself: no control group of this user can be written'
      : `held by rlimits, and by control groups below ${folder}`;
  return [found('ok', { ...about, message })];
}

/** The folder of this process’s control group, if groups can be made in it. Source: cgroups(7), version 2. */
function ownControlGroup(): string | undefined {
  try {
    const [, path] = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? [];
    if (path === undefined) return undefined;
    const folder = join('/sys/fs/cgroup', path);
    accessSync(join(folder, 'cgroup.subtree_control'), constants.W_OK);
    return folder;
  } catch {
    return undefined;
  }
}
