import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { execa } from 'execa';
import { measure, render, spread } from './measure.ts';
import { makeFolder, open } from './workspace.ts';

const script = '#!/bin/sh\nread -r request\nprintf \'{"result": %s}\\n\' "$request"\n';
const config = `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  tools:
    echo: {description: gives its request back, exec: {command: ./echo}}
`;
const request = '{"args":{"city":"Oslo"}}\n';

/** How many one-shot processes a second: what a program would do by hand, against a whole tool call. */
export async function benchOneshot(): Promise<string> {
  const folder = makeFolder({ echo: script, 'runtime.yaml': config });
  const command = join(folder.path, 'echo');
  const native = await open(folder.path);
  const portable = await open(folder.path, { launcher: 'portable' });
  const call = (runtime: typeof native) => async () => {
    const { status } = await runtime.tools.call('echo', { city: 'Oslo' });
    if (status !== 'ok') throw new Error(`the tool was ${status}`);
  };
  const measured = await measure(
    [
      {
        name: 'node:child_process, bare loop',
        run: (count, at) => spread(count, at, () => spawnBare(command)),
      },
      {
        name: 'execa, bare loop',
        run: (count, at) =>
          spread(count, at, async () => {
            JSON.parse((await execa(command, { input: request })).stdout);
          }),
      },
      {
        name: 'signalbox tool call',
        run: (count, at) => spread(count, at, call(native)),
        close: () => native.close(),
      },
      {
        name: 'signalbox tool call, portable launcher',
        run: (count, at) => spread(count, at, call(portable)),
        close: () => portable.close(),
      },
    ],
    { count: 300 },
  );
  folder.remove();
  return render('one-shot: a shell script that answers', measured);
}

function spawnBare(command: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, { stdio: ['pipe', 'pipe', 'inherit'] });
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.once('close', () => {
      JSON.parse(stdout);
      resolve();
    });
    child.once('error', reject);
    child.stdin.end(request);
  });
}
