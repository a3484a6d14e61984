import type { RuntimeConfig } from '../../../config/config.ts';
import type { HostEnv } from '../../../process/env.ts';
import type { Launcher } from '../../../process/launch/launch.ts';
import { openGroupMaker } from '../../../process/limits/cgroup/places.ts';
import type { ProcessLimits } from '../../../process/process-config.ts';
import { tryUsedSandboxes } from '../../binding/sandbox-backends.ts';
import { type Check, found } from './check.ts';
import type { ProcessEntry } from './entries.ts';

/** Whether each sandbox that entries ask for can be had. Starts bubblewrap with `true`, and nothing of the config. */
export async function checkSandboxes(
  config: RuntimeConfig,
  env: HostEnv,
  launch: Launcher,
): Promise<Check[]> {
  const used = await tryUsedSandboxes(config, env, launch);
  return used.flatMap(({ config: { name, position: place }, sandbox, fault }) => {
    const about = { check: 'sandbox', subject: name, place };
    if (fault !== undefined) return [found('error', { ...about, message: fault.reason, hint: fault.hint })];
    if (sandbox === null) return [];
    if (sandbox.mode === 'refused') return [found('error', { ...about, message: sandbox.reason })];
    const message =
      sandbox.mode === 'bubblewrap'
        ? `bubblewrap, ${sandbox.program}`
        : `hands its commands to ${sandbox.program}, which is not started here`;
    return [found('ok', { ...about, message })];
  });
}

/** By which means the limits of entries are held. Makes a control group, and removes it, to find out. */
export async function checkLimitMeans(entries: readonly ProcessEntry[]): Promise<Check[]> {
  const limited = entries.find(({ binding }) => binding.limits !== null);
  if (limited === undefined) return [];
  const about = { check: 'limits', place: limited.place };
  if (process.platform !== 'linux') {
    const hint = 'Use Linux, or take `limits` out of the entries.';
    return [found('error', { ...about, message: 'limits need Linux', hint })];
  }
  const groups = await openGroupMaker();
  const message =
    groups === undefined
      ? 'held by rlimits and by watching what runs: no control group can be made here'
      : `held by rlimits, and by control groups in ${groups.folders.join(' and ')}`;
  const escapable = entries.find(({ binding: { limits, sandbox } }) => isShared(limits) && sandbox === null);
  const note = 'memory_mb and processes bind no hostile process without a sandbox: it can leave its group';
  return [
    found('ok', { ...about, message }),
    ...(escapable === undefined ? [] : [found('ok', { ...about, place: escapable.place, message: note })]),
  ];
}

/** Whether a limit counts several processes together, in a group that one of them could leave. */
function isShared(limits: ProcessLimits | null): boolean {
  return limits?.memoryMb !== undefined || limits?.processes !== undefined;
}
