import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openOutputSink } from '../../../src/base/files/output-sink.ts';

const program = join(import.meta.dirname, 'unread.ts');

/** Starts the program with a socket, as Node gives its children, or with a pipe. */
function start(kind: 'socket' | 'pipe', lines: number) {
  const argv = [process.execPath, program, String(lines)];
  const child =
    kind === 'socket'
      ? spawn(argv[0] ?? '', argv.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] })
      : spawn('sh', ['-c', '{ "$@" 2>&1 >&3 3>&- | { read -r go <&4; cat; }; } 3>&1 >&2', 'sh', ...argv], {
          stdio: ['ignore', 'pipe', 'pipe', 'ignore', 'pipe'],
        });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('it has no streams');
  return { child, stdout, stderr };
}

test.each(['socket', 'pipe'] as const)(
  'a reader that does not read blocks no writer, nor its end: %s',
  async (kind) => {
    const { child, stdout, stderr } = start(kind, 20_000);
    const [said] = await once(stdout, 'data');
    expect(String(said)).toBe('done\n');
    if (kind === 'pipe') {
      child.stdio[4]?.destroy();
      stderr.resume();
    }
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    stderr.destroy();
  },
);

test('a slow reader gets all stored data, and a count of the dropped rest', async () => {
  const { stdout, stderr } = start('socket', 20_000);
  await once(stdout, 'data');
  let text = '';
  for await (const chunk of stderr) text += chunk;
  const lines = text.trimEnd().split('\n');
  const notice = lines.findIndex((line) => line.startsWith('signalbox: '));
  const count = Number(/(\d+) messages? dropped/.exec(lines[notice] ?? '')?.[1]);
  expect(notice).toBeGreaterThan(4 * 1024);
  expect(lines.length - 1 + count).toBe(20_000);
  expect(lines.slice(0, notice).every((line, index) => Number(line) === index)).toBe(true);
});

test('a file gets all of it at once', () => {
  const file = join(tmpdir(), 'log');
  const fd = openSync(file, 'a');
  openOutputSink(fd).write('one\n');
  expect(readFileSync(file, 'utf8')).toBe('one\n');
  openOutputSink(fd).write('two\n');
  closeSync(fd);
  // Writing to a closed descriptor does not fail.
  openOutputSink(fd).write('three\n');
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n');
});
