import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { run, runJson, start } from './cli/command-line.ts';

const cwd = join(import.meta.dirname, '../examples/gsm8k');
const solutions = join(import.meta.dirname, '../../shared/data/gsm8k/example_model_solutions.jsonl');

/** The scripts use `python3`, whose version manager shims start slowly. */
const env = { PATH: `/usr/bin:${process.env['PATH'] ?? ''}` };

describe('the bundled extract', () => {
  test('is graded like its labels, in one run of a Python server', async () => {
    const { code, document } = await runJson(['eval', 'run', 'gsm8k-extract.suite.yaml', '--no-store'], {
      cwd,
      env,
    });
    const rows = readFileSync(join(cwd, 'extract.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row));
    const graded = (model: string) => ({
      count: rows.length,
      passed: rows.filter((row) => row[model].is_correct).length,
      unscored: 0,
    });
    expect({ code, document }).toMatchObject({
      code: 0,
      document: {
        status: 'passed',
        cases: 12,
        evals: {
          '6b_finetuning': graded('6b_finetuning'),
          '6b_verification': graded('6b_verification'),
          '175b_finetuning': graded('175b_finetuning'),
          '175b_verification': graded('175b_verification'),
        },
      },
    });
  });
});

describe('get-data.mjs', () => {
  const get = (from: string, to: string) =>
    start(['--from', from, '--to', to], { env }, [process.execPath, join(cwd, 'get-data.mjs')]).ran;
  const emptyFolder = () => mkdtempSync(join(tmpdir(), 'gsm8k-'));
  const withoutIt =
    'hint: Nothing was written. `signalbox eval run gsm8k-extract.suite.yaml` needs no download.\n';

  test('reports an offline machine, and leaves nothing behind', async () => {
    const folder = emptyFolder();
    const closed = await addressOfNobody();
    expect(await get(closed, join(folder, 'data.jsonl'))).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: cannot get ${closed}: ECONNREFUSED. Is this machine offline, or behind a proxy?\n${withoutIt}`,
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('rejects a file with another checksum', async () => {
    const folder = emptyFolder();
    const { code, stderr } = await get(await serve('{"question": "another"}\n'), join(folder, 'data.jsonl'));
    expect({ code, stderr, left: readdirSync(folder) }).toEqual({
      code: 1,
      stderr: `error: these are not the published answers: sha256 839bbbb084b9937762dbdee6a2350c8cbdbb8648059f34553f72e89863dff971, expected 4bc62db838f8418365d51c627bd66294cbdca9fb7f01519cb13f0dce8c51580b\n${withoutIt}`,
      left: [],
    });
  });

  test('reports the server’s answer when it has no such file', async () => {
    const url = await serve('gone', 404);
    const { code, stderr } = await get(url, join(emptyFolder(), 'data.jsonl'));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `error: cannot get ${url}: the server answered 404. Is this machine offline, or behind a proxy?\n${withoutIt}`,
    });
  });

  test.skipIf(!existsSync(solutions))(
    'writes the published file, and recognises it again (skipped without ../shared/data)',
    async () => {
      const published = readFileSync(solutions);
      const to = join(emptyFolder(), 'new', 'data.jsonl');
      const first = await get(await serve(published), to);
      expect({ code: first.code, stderr: first.stderr, same: readFileSync(to).equals(published) }).toEqual({
        code: 0,
        stderr: '',
        same: true,
      });
      const again = await get(await addressOfNobody(), to);
      expect({
        code: again.code,
        said: again.stdout.endsWith('already exists, with the published checksum\n'),
      }).toEqual({
        code: 0,
        said: true,
      });
    },
  );
});

async function serve(body: string | Buffer, status = 200): Promise<string> {
  const { server, url } = await listen(body, status);
  onTestFinished(() => void server.close());
  return url;
}

async function addressOfNobody(): Promise<string> {
  const { server, url } = await listen('', 200);
  server.close();
  await once(server, 'close');
  return url;
}

async function listen(body: string | Buffer, status: number): Promise<{ server: Server; url: string }> {
  const server = createServer((_, response) => void response.writeHead(status).end(body));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

describe.skipIf(!existsSync(solutions))('the published answers (skipped without ../shared/data)', () => {
  test('one run of a Python server grades 5,276 answers as they were published', async () => {
    const { code, document } = await runJson(['eval', 'run', 'gsm8k.suite.yaml'], { cwd, env });
    const graded = (passed: number) => expect.objectContaining({ count: 1319, passed, unscored: 0 });
    expect({ code, document }).toMatchObject({
      code: 0,
      document: {
        cases: 1319,
        evals: {
          '6b_finetuning': graded(286),
          '6b_verification': graded(515),
          '175b_finetuning': graded(458),
          '175b_verification': graded(742),
        },
      },
    });
  });

  test('the table has the published pass rates, also of three epochs, and two models can be compared', async () => {
    const ran = await run(['eval', 'run', 'gsm8k.suite.yaml', '--repeat', '3', '--quiet'], { cwd, env });
    const rates = [...ran.stdout.matchAll(/^\d+b_\w+ .*? (\d+\.\d\d%)/gm)].map(([, rate]) => rate);
    expect(rates).toEqual(['21.68%', '39.04%', '34.72%', '56.25%']);
    const sides = ['--eval-a', '6b_finetuning', '--eval-b', '175b_verification'];
    const config = ['--config', 'gsm8k.runtime.yaml'];
    const { document } = await runJson(['eval', 'diff', 'last', ...sides, ...config], { cwd, env });
    expect(document).toMatchObject({ evals: [{ pairs: 1319, regressions: 43, improvements: 499 }] });
  });

  test('1,319 forked processes grade as was published, and none is started for itself', async () => {
    const { code, stdout, stderr } = await run(
      ['eval', 'run', 'gsm8k-fork.suite.yaml', '--json', '--no-store'],
      { cwd, env },
    );
    expect({ code, document: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      document: { evals: { '175b_verification': { count: 1319, passed: 742, unscored: 0 } } },
    });
    expect(stderr).not.toContain('runs as one-shot');
  });

  test('the same script gives the same verdicts one-shot', async () => {
    const rows = readFileSync(solutions, 'utf8').split('\n').slice(0, 60);
    const part = join(mkdtempSync(join(tmpdir(), 'gsm8k-')), 'part.jsonl');
    writeFileSync(part, rows.join('\n'));
    const correct = rows.filter((row) => JSON.parse(row)['175b_verification'].is_correct).length;
    const { document } = await runJson(['eval', 'run', 'gsm8k-oneshot.suite.yaml', '--dataset', part], {
      cwd,
      env,
    });
    expect(document).toMatchObject({
      evals: { '175b_verification': { count: 60, passed: correct, unscored: 0 } },
    });
  });
});
