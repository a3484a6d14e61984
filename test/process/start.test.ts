import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toFault } from '../../src/base/errors.ts';
import { findExecutable } from '../../src/base/files/executable.ts';
import { bind, fixture, launchers, open } from './harness.ts';

const nul = 'its command or environment contains a NUL character, which no process can receive';
const standardHint = 'Check that the command exists, is executable and has a #! line.';
const folder = mkdtempSync(join(tmpdir(), 'start-'));

describe.each(launchers)('a process that cannot be started by the %s launcher', (launcher) => {
  test.each([
    { title: 'a NUL in an argument', over: { args: ['a\0b'] }, reason: nul },
    { title: 'a NUL in a variable’s value', over: { env: { A: 'a\0b' } }, reason: nul },
    { title: 'a NUL in a variable’s name', over: { env: { 'A\0B': 'x' } }, reason: nul },
    { title: 'a NUL in the folder', over: { cwd: '/tmp\0' }, reason: nul },
    { title: 'a NUL in the command', over: { command: '/bin/sh\0' }, reason: nul },
    {
      title: 'an argument that is too long',
      over: { args: ['x'.repeat(1024 * 1024)] },
      reason: 'its arguments and environment are too long',
    },
    {
      title: 'a folder that does not exist',
      over: { cwd: '/no/such/folder' },
      reason: `the interpreter that ${fixture('hang.sh')} names, or the folder /no/such/folder, does not exist`,
    },
    {
      title: 'a binding that is refused',
      over: { refused: 'its sandbox "cage" is not declared' },
      reason: 'its sandbox "cage" is not declared',
    },
  ])('for $title fails PROCESS_START, one-shot and server', async ({ over, reason }) => {
    const fault = {
      code: 'PROCESS_START',
      message: `"demo" could not be started: ${reason}`,
      hint: standardHint,
    };
    const oneshot = await open(bind('hang.sh', over), { launcher });
    const server = await open(bind('hang.sh', { ...over, mode: 'server' }), { launcher });
    expect([toFault(await oneshot.fault()), toFault(await server.fault())]).toEqual([fault, fault]);
    expect([...oneshot.events, ...server.events]).toEqual([]);
  });

  test.runIf(process.platform === 'linux')('for lack of descriptors fails, and leaks none', () => {
    const script = `ulimit -n 80; exec "$0" "$1" ${launcher}`;
    const program = join(import.meta.dirname, 'launch/starved.ts');
    const { stdout, stderr } = spawnSync('sh', ['-c', script, process.execPath, program]);
    expect({ stdout: stdout.toString(), stderr: stderr.toString() }).toEqual({
      stdout: '{"refused":true,"lost":0,"works":"again\\n"}\n',
      stderr: '',
    });
  });
});

test('a relative folder on PATH is relative to the caller, not to the process', async () => {
  const bin = relative(process.cwd(), fixture('.'));
  const PATH = [bin, '/usr/bin', '/bin'].join(delimiter);
  expect(findExecutable('never-reads.sh', folder, PATH)).toEqual({
    found: true,
    path: fixture('never-reads.sh'),
  });
  const { call } = await open(
    bind('prints.sh', { command: 'prints.sh', args: ['here'], cwd: folder, env: { PATH } }),
  );
  expect(await call()).toBe('here\n');
});

test('a process starts in the binding’s folder', async () => {
  const { call } = await open(bind('/bin/pwd', { args: ['-P'], cwd: folder }));
  expect(await call()).toBe(`${realpathSync(folder)}\n`);
});
