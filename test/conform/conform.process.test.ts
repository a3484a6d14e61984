import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { processesWith, runJson, start, until, workspace } from '../cli/command-line.ts';
import { mistake, mistakes, right } from './mistakes.ts';

interface Row {
  readonly check: string;
  readonly status: string;
  readonly received: string | null;
}

async function conform(file: string, args: string) {
  const [options = '', words] = args.replace('%', join(tmpdir(), `lock-${process.pid}`)).split(' -- ');
  const line = `conform ${options} ${file} ${words ?? ''}`;
  const { code, document, stderr } = await runJson(line);
  const { checks: rows = [] } = document as { readonly checks?: readonly Row[] };
  return { code, rows, failed: rows.filter(({ status }) => status === 'failed'), stderr };
}

describe.concurrent('conform names each mistake by the one check that it breaks [DS-CONFORM-01]', () => {
  test.each(mistakes)('$file $args: $breaks', async ({ file, args, breaks, says }) => {
    const { code, failed } = await conform(mistake(file), args);
    expect(failed.map(({ check }) => check)).toEqual([breaks]);
    expect(failed[0]?.received).toMatch(says);
    expect(code).toBe(1);
  });
});

describe.concurrent('a program that keeps the contract passes whole [DS-CONFORM-02]', () => {
  test.each([
    ['filter.py', '--kind filter'],
    ['filter.py', '--kind filter --forked'],
    ['filter.mjs', '--kind filter'],
    ['filter.sh', '--kind filter'],
    ['bom.sh', '--kind filter'],
    ['leaves-a-child.sh', '--kind filter'],
    ['eval.py', '--kind eval'],
    ['tool.py', `--kind tool --request '{"args":{"n":12345678901234567890}}'`],
    ['observer.sh', `--kind observer --request '{"hook":"tool","phase":"after_execution"}'`],
    ['server.mjs', '--kind filter --server'],
    ['server.py', '--kind filter --server'],
  ])('%s %s', async (file, args) => {
    const { code, rows } = await conform(right(file), args);
    expect(rows.filter(({ status }) => status !== 'passed')).toEqual([]);
    expect(rows.length).toBeGreaterThan(10);
    expect(code).toBe(0);
  });
});

test.each(['never-answers.sh', 'traps-term.sh', 'forks.sh'])(
  'Ctrl-C ends %s and exits with 130 [DS-CONFORM-05]',
  async (file) => {
    const marker = `marker-${process.pid}-${file}`;
    const line = ['conform', mistake(file), '--kind', 'filter', '--env', `MARKER=${marker}`];
    const { child, ran } = start(line);
    const others = () => processesWith(marker).filter((pid) => pid !== child.pid);
    await until(() => others().length > 0);
    child.kill('SIGINT');
    const { code, stderr } = await ran;
    expect({ code, stderr }).toEqual({ code: 130, stderr: expect.stringContaining('error: [ABORTED] ') });
    await until(() => others().length === 0);
  },
);

test.each(['python', 'javascript'])(
  'evals of one line in %s pass whole, also as servers',
  async (language) => {
    const code = language === 'python' ? 'len(content) < 50' : 'content.length < 50';
    const script = `{script: {${language}: "${code}"}`;
    const cwd = workspace(`evals:\n  once: ${script}}\n  server: ${script}, runtime: server}\n`);
    for (const name of ['once', 'server'])
      expect(await runJson(['conform', name], { cwd })).toMatchObject({ code: 0, document: { failed: 0 } });
  },
);
