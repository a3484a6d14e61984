import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { makeTempFolder, removeTempFolder, sweepTempFolders } from '../../../src/base/files/temp-folder.ts';
import { openRuntime } from '../../../src/index.ts';
import { settle } from '../../leaks.ts';

const program = join(import.meta.dirname, 'temp-folders.ts');

function folders(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('signalbox-demo-'));
}

async function start(...args: readonly string[]): Promise<{ child: ChildProcess; folder: string }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  return { child, folder: basename(String(line).trim()) };
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}

test('a temporary folder is removed on its owner’s exit or release', async () => {
  const { child } = await start('exits');
  await once(child, 'close');
  expect(folders()).toEqual([]);
});

test('folders of a killed process are swept, and those of a living one are not', async () => {
  const own = basename(makeTempFolder('demo'));
  const killed = await start();
  const living = await start();
  await kill(killed.child);
  await sweepTempFolders();
  expect(folders().toSorted()).toEqual([own, living.folder].toSorted());
  await kill(living.child);
  await sweepTempFolders();
  expect(folders()).toEqual([own]);
  removeTempFolder(join(tmpdir(), own));
});

test.runIf(process.platform === 'linux')(
  'folders of an ended thread are swept while its process lives',
  async () => {
    const worker = new Worker(program);
    const [folder] = await once(worker, 'message');
    await sweepTempFolders();
    expect(folders()).toEqual([basename(folder)]);
    await worker.terminate();
    await sweepTempFolders();
    expect(folders()).toEqual([]);
  },
);

test('a folder is swept even if its owner’s process id is in use again', async () => {
  const own = makeTempFolder('demo');
  const [, thread = '', startedAt = '', place = ''] = basename(own).split(/[.-]/).slice(2);
  removeTempFolder(own);
  const again = `signalbox-demo-${process.pid}.${thread}.${Number(startedAt) + 1}.${place}-aaaaaa`;
  mkdirSync(join(tmpdir(), again));
  await sweepTempFolders();
  // Without /proc, a reused process id cannot be detected, so the folder stays.
  expect(folders()).toEqual(process.platform === 'linux' ? [] : [again]);
});

test('only folders of Signalbox, and of this system, are swept', async () => {
  const { child, folder } = await start();
  await kill(child);
  const [, thread = '', startedAt = '', place = ''] = folder.split(/[.-]/).slice(2);
  const gone = `signalbox-demo-${child.pid}.${thread}.${startedAt}`;
  const elsewhere = place === '00000000' ? '11111111' : '00000000';
  mkdirSync(join(tmpdir(), `${gone}.${elsewhere}-aaaaaa`));
  mkdirSync(join(tmpdir(), 'signalbox-demo-abcdef'));
  mkdirSync(join(tmpdir(), 'target'));
  writeFileSync(join(tmpdir(), 'target/precious'), '');
  symlinkSync(join(tmpdir(), 'target'), join(tmpdir(), `${gone}.${place}-symlin`));
  writeFileSync(join(tmpdir(), `${gone}.${place}-aafile`), '');
  await sweepTempFolders();
  expect(folders().toSorted()).toEqual(
    [
      'signalbox-demo-abcdef',
      `${gone}.${elsewhere}-aaaaaa`,
      `${gone}.${place}-aafile`,
      `${gone}.${place}-symlin`,
    ].toSorted(),
  );
  expect(readdirSync(join(tmpdir(), 'target'))).toEqual(['precious']);
});

test('opening a runtime sweeps', async () => {
  const { child, folder } = await start();
  await kill(child);
  expect(folders()).toContain(folder);
  writeFileSync(join(tmpdir(), 'runtime.yaml'), 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n');
  await using _runtime = await openRuntime(join(tmpdir(), 'runtime.yaml'), { log: false });
  expect(await settle(() => folders().filter((name) => name === folder), 10_000)).toEqual([]);
});
