import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';

const script = new URL('../fixtures/suite/read-stdin.ts', import.meta.url).pathname;

function read(args: readonly string[], input: string, close: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [script, ...args], (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
    child.stdin?.on('error', () => {}); // The child may exit before all is written.
    child.stdin?.write(input);
    if (close) child.stdin?.end();
  });
}

test('`-` reads the rows of stdin', async () => {
  expect(await read([], '{"a":1}\n\n{"a":2}', true)).toBe('<stdin>:1\n<stdin>:3\n');
});

test('an abort ends the reading of an open stdin', async () => {
  expect(await read(['1'], '{"a":1}\n', false)).toBe('<stdin>:1\n');
});
