import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

interface Report {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

async function runLeakyFiles(): Promise<{ exitCode: unknown; report: Report }> {
  const vitest = new URL('../node_modules/vitest/vitest.mjs', import.meta.url).pathname;
  const config = new URL('./fixtures/leaky/vitest.config.ts', import.meta.url).pathname;
  const outputFile = join(tmpdir(), 'report.json');
  const run = ['run', '--config', config, '--reporter=json', `--outputFile=${outputFile}`];
  const child = spawn(process.execPath, [vitest, ...run], { stdio: 'ignore' });
  const [exitCode] = await once(child, 'close');
  return { exitCode, report: JSON.parse(readFileSync(outputFile, 'utf8')) };
}

test.runIf(existsSync('/proc/self/stat'))('leftovers of a test file fail it', async () => {
  const { exitCode, report } = await runLeakyFiles();
  const verdicts = report.testResults.map(({ name, status, message }) => {
    const said = message.split('\n').slice(0, 2).join(' ');
    return `${basename(name)}: ${status} ${said.replace(/\/\S*\//, '').replace(/\d+/, 'N')}`.trim();
  });
  expect(verdicts.sort()).toEqual([
    'clean.spec.ts: passed',
    'descriptor.spec.ts: failed this test file left something behind: leaked descriptor: never-closed',
    'process.spec.ts: failed this test file left something behind: leaked process N: sleep 401',
    'rejection.spec.ts: failed this test file left something behind: unhandled rejection: Error: nobody waits',
    'secret.spec.ts: failed this test file left something behind: a secret of the environment stands in crash/report.json',
    'warning.spec.ts: failed this test file left something behind: process warning: Warning: something is off',
  ]);
  expect(
    report.testResults.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status)),
  ).toEqual(Array(6).fill('passed'));
  expect({ exitCode, success: report.success }).toEqual({ exitCode: 1, success: false });
});
