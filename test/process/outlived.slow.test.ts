import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { thisOwner } from '../../src/base/files/owner.ts';
import {
  describeGroup,
  describeRest,
  describeStart,
  ownerOfTable,
  readRows,
  startWatcher,
  tableFolders,
} from '../../src/process/launch/process-groups.ts';
import { requireLibc } from '../../src/process/launch/system/libc.ts';
import { findSurvivors, settle } from '../leaks.ts';
import { bind, isRunning, launchers, numberAfter, open, until, waitFor } from './harness.ts';

const program = join(import.meta.dirname, 'stays.ts');
const starter = join(import.meta.dirname, 'starts.ts');
const launchFolder = join(import.meta.dirname, '../../src/process/launch');
const hasBubblewrap = spawnSync('bwrap', ['--dev-bind', '/', '/', 'true']).status === 0;

interface Host {
  readonly child: ChildProcess;
  readonly said: () => string;
  kill(signal: NodeJS.Signals): Promise<void>;
}

const usual = {
  command: 'hang-ignoring-term.sh',
  launcher: 'auto',
  mode: 'oneshot',
  leftovers: 'kill',
  thread: 'main',
};

async function startHost(plan: Partial<typeof usual>, word: string): Promise<Host> {
  const child = spawn(process.execPath, [program, JSON.stringify({ ...usual, ...plan })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = () => lines.join('\n');
  await until(() => said().includes(word), `"${word}" from the host`);
  const kill = async (signal: NodeJS.Signals) => {
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
  };
  return { child, said, kill };
}

async function expectGone(...pids: readonly number[]): Promise<void> {
  await expect.poll(() => pids.filter(isRunning), { timeout: 10_000 }).toEqual([]);
}

function watchersOf(owner: number | undefined): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => textOf(`/proc/${pid}/cmdline`).endsWith('\0signalbox-watcher\0'))
    .filter((pid) => /^PPid:\t(\d+)$/m.exec(textOf(`/proc/${pid}/status`))?.[1] === String(owner))
    .map(Number);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const ends = launchers.flatMap((launcher) =>
  (['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const).map((signal) => ({ launcher, signal })),
);

test.each(ends)(
  'no process outlives a host that $signal ends: $launcher launcher',
  async ({ launcher, signal }) => {
    const { said, kill } = await startHost({ launcher }, 'parent');
    await kill(signal);
    await expectGone(numberAfter('parent', said()), numberAfter('child', said()));
    expect(said()).not.toContain('answered');
  },
);

test.each(launchers)('no server outlives a killed host: %s launcher', async (launcher) => {
  const { said, kill } = await startHost({ launcher, mode: 'server' }, 'parent');
  await kill('SIGKILL');
  await expectGone(numberAfter('parent', said()), numberAfter('child', said()));
});

test.each(launchers)('no process outlives a terminated worker thread: %s launcher', async (launcher) => {
  const { child, said } = await startHost({ launcher, thread: 'worker' }, 'parent');
  child.stdin?.write('now\n');
  await until(() => said().includes('terminated'), 'end of the worker');
  await expectGone(numberAfter('parent', said()), numberAfter('child', said()));
  expect(child.exitCode).toBeNull();
});

test.each(launchers)(
  'no process outlives a host that is killed in the middle of eight starts: %s launcher',
  async (launcher) => {
    for (const afterMs of [0, 1, 2, 3, 5, 8, 13, 21]) {
      const host = spawn(process.execPath, [starter, launcher], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(host.stdout, 'data');
      await sleep(afterMs);
      const closed = once(host, 'exit');
      host.kill('SIGKILL');
      await closed;
      host.stdout.destroy();
      expect(await settle(() => findSurvivors(tmpdir()), 10_000)).toEqual([]);
    }
  },
);

test('processes of a killed host get SIGTERM first', async () => {
  const { said, kill } = await startHost({ command: 'obeys-term.sh' }, 'ready');
  await kill('SIGKILL');
  await expectGone(numberAfter('ready', said()));
  expect(readFileSync(join(tmpdir(), 'asked'), 'utf8')).toBe('asked\n');
});

test('a finished child’s leftovers outlive a killed host only if the entry keeps them', async () => {
  const kept = await startHost({ command: 'grandchild-quiet.sh', leftovers: 'keep' }, 'answered');
  const running = await startHost({ leftovers: 'keep' }, 'parent');
  await kept.kill('SIGKILL');
  await running.kill('SIGKILL');
  await expectGone(numberAfter('parent', running.said()));
  const left = numberAfter('child', kept.said());
  expect(isRunning(left)).toBe(true);
  process.kill(left, 'SIGKILL');
});

test('a killed watcher is replaced, and learns what runs', async () => {
  const { child, said, kill } = await startHost({}, 'parent');
  const [first = 0] = watchersOf(child.pid);
  process.kill(first, 'SIGKILL');
  await waitFor(() => watchersOf(child.pid).find((pid) => pid !== first), 'other watcher');
  await kill('SIGKILL');
  await expectGone(numberAfter('parent', said()));
});

test('one watcher serves all transports of a thread, and ends with the last of them', async () => {
  const one = await open(bind('prints.sh', { args: ['{}'] }));
  const other = await open(bind('prints.sh', { args: ['{}'] }));
  expect(watchersOf(process.pid)).toEqual([]);
  await Promise.all([one.call(), other.call()]);
  const [watcher] = watchersOf(process.pid);
  await one.transport.close();
  expect(watchersOf(process.pid)).toEqual([watcher]);
  await other.transport.close();
  expect(watchersOf(process.pid)).toEqual([]);
});

test('processes that their owner ended, and missing ones, are left alone', async () => {
  const watcher = startWatcher(() => {});
  const children = [0, 1].map(() => spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }));
  const [ended, running] = children.map(({ pid = 0 }) => pid);
  const rows = [ended, running].map((group) => watcher.add(describeGroup(group ?? 0)));
  watcher.add(describeGroup(2 ** 22 + 1));
  rows[0]?.free();
  await watcher.close();
  await expectGone(running ?? 0);
  expect(isRunning(ended ?? 0)).toBe(true);
  process.kill(ended ?? 0, 'SIGKILL');
});

// The first 64 rows are written to memory, the others to the file.
test.each(['to a file', 'to memory'])('rows that are written %s end their groups', async (where) => {
  if (where === 'to memory') requireLibc();
  const watcher = startWatcher(() => {});
  const children = Array.from({ length: 70 }, () =>
    spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }),
  );
  const pids = children.map(({ pid = 0 }) => pid);
  for (const pid of pids) watcher.add(describeStart('pipe:[1]'))?.write(describeGroup(pid));
  await watcher.close();
  await expectGone(...pids);
});

test('the table names a group whenever the host is killed while it replaces the group’s row', async () => {
  requireLibc();
  const watcher = startWatcher(() => {});
  onTestFinished(() => watcher.close());
  const row = watcher.add(describeGroup(12_345));
  const { pid } = thisOwner();
  const [table = ''] = tableFolders().flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => ownerOfTable(name)?.pid === pid)
      .map((name) => join(folder, name)),
  );
  const groups = () => readRows(readFileSync(table, 'utf8')).groups;
  const store = Atomics.store;
  const before: unknown[] = [];
  const spy = vi.spyOn(Atomics, 'store').mockImplementation((...given) => {
    before.push(groups());
    return Reflect.apply(store, Atomics, given);
  });
  onTestFinished(() => spy.mockRestore());
  row?.write(describeRest(6));
  expect({ before, after: groups() }).toEqual({ before: [[12_345], [12_345], [12_345, 6]], after: [6] });
});

// The first 64 rows need four pages. A folder of six pages has no room for the last rows.
test.runIf(hasBubblewrap).each([1, 6])(
  'each process is in a table if the memory folder has only %i pages',
  (pages) => {
    const said = execFileSync(
      'bwrap',
      [
        ...[
          '--dev-bind',
          '/',
          '/',
          '--size',
          `${pages * 4096}`,
          '--tmpfs',
          '/dev/shm',
          process.execPath,
          '-e',
        ],
        `const { readdirSync, readFileSync } = require('node:fs');
        const { join } = require('node:path');
        require(${JSON.stringify(join(launchFolder, 'system/libc.ts'))}).requireLibc();
        const groups = require(${JSON.stringify(join(launchFolder, 'process-groups.ts'))});
        const losses = [];
        groups.acquireWatcher((reason) => losses.push(reason));
        const started = Array.from({ length: 150 }, (_, n) => groups.launchListener.starting('pipe:[' + n + ']'));
        // No process has such a number.
        const numbers = started.map((end, n) => (end(2 ** 22 + 1 + n), 2 ** 22 + 1 + n));
        const tables = groups.tableFolders().map((folder) =>
          readdirSync(folder).filter((name) => name.startsWith('signalbox-groups-' + process.pid + '.'))
            .map((name) => groups.readRows(readFileSync(join(folder, name), 'utf8')).groups.length));
        for (const number of numbers) groups.releaseGroup(number);
        process.stdout.write(JSON.stringify({ losses, tables }));
        process.exit();`,
      ],
      { encoding: 'utf8' },
    );
    expect(JSON.parse(said)).toEqual({ losses: [], tables: [[], [150]] });
  },
);

test.runIf(process.platform === 'linux')(
  'a process of which only the start was reported is found',
  async () => {
    const watcher = startWatcher(() => {});
    const child = spawn('cat', { detached: true, stdio: ['pipe', 'pipe', 'ignore'] });
    await once(child, 'spawn');
    watcher.add(describeStart(readlinkSync(`/proc/${child.pid}/fd/1`)));
    await watcher.close();
    await expectGone(child.pid ?? 0);
  },
);

test.runIf(process.platform === 'linux')(
  'several processes of which only the start was reported are found',
  async () => {
    const watcher = startWatcher(() => {});
    const children = Array.from({ length: 5 }, () =>
      spawn('cat', { detached: true, stdio: ['pipe', 'pipe', 'ignore'] }),
    );
    await Promise.all(children.map((child) => once(child, 'spawn')));
    for (const { pid } of children) watcher.add(describeStart(readlinkSync(`/proc/${pid}/fd/1`)));
    watcher.add(describeStart('pipe:[1]'));
    await watcher.close();
    await expectGone(...children.map(({ pid = 0 }) => pid));
  },
);

test('the rest of a group without its leader is ended, and no later process with its number', async () => {
  const watcher = startWatcher(() => {});
  const leader = spawn('/bin/sh', ['-c', 'sleep 60 & echo $!'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [[line]] = await Promise.all([once(leader.stdout, 'data'), once(leader, 'exit')]);
  const stranger = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  for (const { pid = 0 } of [leader, stranger]) watcher.add(describeRest(pid));
  await watcher.close();
  await expectGone(Number(line));
  expect(isRunning(stranger.pid ?? 0)).toBe(true);
  stranger.kill('SIGKILL');
});

test('the loss of a watcher is reported once', async () => {
  const losses: string[] = [];
  const watcher = startWatcher((reason) => losses.push(reason));
  await until(() => watchersOf(process.pid).length === 1, 'watcher');
  process.kill(watchersOf(process.pid)[0] ?? 0, 'SIGKILL');
  await until(() => losses.length > 0, 'loss');
  expect(watcher.add(describeGroup(1))).toBeUndefined();
  await watcher.close();
  expect(losses).toEqual(['it ended with SIGKILL']);
});
