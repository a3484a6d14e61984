import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ownerToText, thisOwner } from '../../../src/base/files/owner.ts';
import { openRuntime } from '../../../src/index.ts';
import { OWNER_VARIABLE, readOwnerMark } from '../../../src/process/launch/process-groups.ts';
import { listOrphans, sweepOrphans } from '../../../src/process/orphans/sweep-orphans.ts';
import { expectOrphan } from '../../leaks.ts';
import { isRunning, launchers } from '../harness.ts';
import { killWithWatcher, scripts, startHost, textOf } from './hosts.ts';

const soon = { watcherMs: 50, graceMs: 500 };
const words = ['leader', 'session', 'double'];

function tablesOf(pid: number | undefined): string[] {
  return ['/dev/shm', tmpdir()]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder))
    .filter((name) => name.startsWith(`signalbox-groups-${pid}.`));
}

/** Starts a sleeping process with that mark. It is killed after the test. */
async function startMarked(mark: string, more: { readonly uid?: number } = {}): Promise<number> {
  const env = { ...process.env, [OWNER_VARIABLE]: mark };
  const child = spawn('sleep', ['600'], { env, stdio: 'ignore', detached: true, ...more });
  await once(child, 'spawn');
  const closed = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  return child.pid ?? 0;
}

function markOf(pid: number): string {
  const mark = readOwnerMark(Buffer.from(textOf(`/proc/${pid}/environ`)));
  if (mark === undefined) throw new Error(`process ${pid} has no mark`);
  return `${ownerToText(mark.owner)}.${mark.leftovers}`;
}

// Sweeping requires /proc.
describe.runIf(process.platform === 'linux')('leftovers of a killed Signalbox', () => {
  test.each(launchers)(
    'are ended with their daemons even if the watcher was killed as well: %s launcher [DS-ORPHAN-01@oneshot]',
    async (launcher) => {
      const host = await startHost({ command: scripts.hangs, launcher }, ...words);
      const pids = [...host.pids.values()];
      await killWithWatcher(host);
      expect(pids.filter(isRunning)).toEqual(pids);
      const found = (await listOrphans()).map(({ pid }) => pid);
      expect(pids.filter((pid) => !found.includes(pid))).toEqual([]);
      await sweepOrphans(soon);
      expect(pids.filter(isRunning)).toEqual([]);
      expect(tablesOf(host.child.pid)).toEqual([]);
    },
  );

  test('are ended even if they left their group, where the watcher has ended the rest [DS-ORPHAN-01@oneshot]', async () => {
    const { child, pids } = await startHost({ command: scripts.hangs }, ...words);
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
    await expect.poll(() => isRunning(pids.get('leader') ?? 0), { timeout: 10_000 }).toBe(false);
    expect(isRunning(pids.get('double') ?? 0)).toBe(true);
    await sweepOrphans(soon);
    expect([...pids.values()].filter(isRunning)).toEqual([]);
  });

  test('are ended a second after the next runtime was opened [DS-ORPHAN-01@oneshot]', async () => {
    const host = await startHost({ command: scripts.hangs }, ...words);
    await killWithWatcher(host);
    writeFileSync(
      join(tmpdir(), 'runtime.yaml'),
      'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n',
    );
    await using _runtime = await openRuntime(join(tmpdir(), 'runtime.yaml'), { log: false });
    await expect
      .poll(() => [...host.pids.values()].filter(isRunning), { timeout: 30_000, interval: 200 })
      .toEqual([]);
  });

  test('are ended, if an entry keeps leftovers, only for calls in progress [DS-ORPHAN-02@oneshot]', async () => {
    const cut = await startHost({ command: scripts.hangs, leftovers: 'keep' }, ...words);
    const over = await startHost({ command: scripts.answers, leftovers: 'keep' }, ...words, 'answered');
    const kept = ['session', 'double'].map((word) => over.pids.get(word) ?? 0);
    await Promise.all([killWithWatcher(cut), killWithWatcher(over)]);
    await sweepOrphans(soon);
    expect(['leader', 'session'].map((word) => isRunning(cut.pids.get(word) ?? 0))).toEqual([false, false]);
    expect(kept.map(isRunning)).toEqual([true, true]);
    for (const pid of [...kept, cut.pids.get('double') ?? 0]) expectOrphan(pid);
  });

  test('stay if no call was in progress [DS-ORPHAN-02@oneshot]', async () => {
    const host = await startHost({ command: scripts.answers }, ...words, 'answered');
    await killWithWatcher(host);
    await sweepOrphans(soon);
    const left = ['session', 'double'].map((word) => host.pids.get(word) ?? 0);
    expect(left.map(isRunning)).toEqual([true, true]);
    expect(tablesOf(host.child.pid)).toEqual([]);
    for (const pid of left) expectOrphan(pid);
  });

  test('are finished by the next sweep when one is killed, and two concurrent sweeps do no harm [DS-ORPHAN-03@oneshot]', async () => {
    const host = await startHost({ command: scripts.hangs }, ...words);
    const pids = [...host.pids.values()];
    await killWithWatcher(host);
    const sweeper = spawn(process.execPath, [join(import.meta.dirname, 'sweeps.ts')], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await expect.poll(() => isRunning(host.pids.get('double') ?? 0), { timeout: 30_000 }).toBe(false);
    sweeper.kill('SIGKILL');
    await once(sweeper, 'close');
    const others = [0, 1].map(() =>
      spawn(process.execPath, [join(import.meta.dirname, 'sweeps.ts')], {
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    );
    await Promise.all(others.map((other) => once(other, 'close')));
    expect(pids.filter(isRunning)).toEqual([]);
    expect(tablesOf(host.child.pid)).toEqual([]);
  });
});

describe.runIf(process.platform === 'linux')('a sweep ignores', () => {
  test('processes of a living Signalbox, in any session [DS-ORPHAN-03@oneshot]', async () => {
    const killed = await startHost({ command: scripts.hangs }, ...words);
    const living = await startHost({ command: scripts.hangs }, ...words);
    const forged = await startMarked(markOf(living.pids.get('leader') ?? 0));
    await killWithWatcher(killed);
    await sweepOrphans(soon);
    expect([...killed.pids.values()].filter(isRunning)).toEqual([]);
    expect([...living.pids.values(), forged].map(isRunning)).toEqual([true, true, true, true]);
  });

  test('processes without a mark, or with that of another machine or boot [DS-ORPHAN-03@oneshot]', async () => {
    const killed = await startHost({ command: scripts.hangs }, ...words);
    const mark = markOf(killed.pids.get('leader') ?? 0);
    const [pid, thread, startedAt, , leftovers] = mark.split('.');
    const elsewhere = await startMarked(`${pid}.${thread}.${startedAt}.00000000.${leftovers}`);
    const later = await startMarked(
      `${pid}.${thread}.${Number(startedAt) + 1}.${thisOwner().hostId}.${leftovers}`,
    );
    const senseless = await startMarked(`${mark} and more`);
    const forged = await startMarked(mark);
    await killWithWatcher(killed);
    await sweepOrphans(soon);
    expect([elsewhere, later, senseless].map(isRunning)).toEqual([true, true, true]);
    expect(isRunning(forged)).toBe(false);
  });

  test.runIf(process.getuid?.() === 0)('processes of another user [DS-ORPHAN-03@oneshot]', async () => {
    const killed = await startHost({ command: scripts.hangs }, ...words);
    const other = await startMarked(markOf(killed.pids.get('leader') ?? 0), { uid: 65_534 });
    await killWithWatcher(killed);
    await sweepOrphans(soon);
    expect([...killed.pids.values()].filter(isRunning)).toEqual([]);
    expect(isRunning(other)).toBe(true);
  });
});
