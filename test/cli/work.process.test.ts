import { test } from 'vitest';
import { pipeline, run, runJson, start, workspace } from './command-line.ts';

const silent = ['--log-level', 'silent'];
const away = '{error: {status: 503, message: away}}';
const files = {
  'chat.yaml': pipeline(
    'runtime: ./runtime.yaml\nsteps: [{id: only, chat: {provider: main, messages: Hi.}}]\n',
  ),
  'wait.yaml': pipeline('runtime: ./runtime.yaml\nsteps: [{id: only, wait: 1500ms}]\n'),
  'long.yaml': pipeline('runtime: ./runtime.yaml\nsteps: [{id: only, wait: 1h}]\n'),
};

/** A project whose model fails twice, then answers. The count restarts in each process. */
function project(responses: string): string {
  const options = `{max_retries: 0, responses: [${responses}]}`;
  return workspace(`\nproviders: [{id: main, type: mock, model: m, additional_config: ${options}}]\n`, files);
}

test.concurrent('a suspended run exits 1 and says how to continue; --all continues it [DS-WORK-05]', async ({
  expect,
}) => {
  const folder = project(away);
  const first = await run('run chat.yaml --id one --log-level silent', { cwd: folder });
  expect(first.code).toBe(1);
  expect(first.stderr).toContain('suspended: [PROVIDER_FAILED]');
  expect(first.stderr).toContain('signalbox runs resume one');
  const listed = await run('runs list --status suspended', { cwd: folder });
  expect(listed.stdout).toContain('tried once');
  const again = await runJson('runs resume --all --log-level silent', { cwd: folder });
  expect(again.code).toBe(1);
  expect(again.document).toMatchObject({
    runs: [{ run_id: 'one', status: 'suspended', error: { code: 'PROVIDER_FAILED' } }],
  });
  const none = await run('runs resume --all --pipeline other --log-level silent', { cwd: folder });
  expect([none.code, none.stderr]).toEqual([0, 'there is no run to resume\n']);
});

test.concurrent('resume needs an id or --all, and filters belong to --all', async ({ expect }) => {
  const folder = project(away);
  for (const args of [[], ['x', '--all'], ['x', '--pipeline', 'p'], ['--all', '--wait']]) {
    const { code, stderr } = await run(['runs', 'resume', ...args], { cwd: folder });
    expect([code, stderr.includes('[USAGE]')]).toEqual([2, true]);
  }
});

test.concurrent('work continues due runs until SIGTERM, and exits 0 [DS-WORK-01] [DS-WORK-02]', async ({
  expect,
}) => {
  const folder = project('{text: Hi}');
  const waiting = await run('run wait.yaml --id w --set-down --log-level silent', { cwd: folder });
  expect([waiting.code, waiting.stderr.includes('waiting: until')]).toEqual([3, true]);
  const working = start(['work', ...silent], { cwd: folder });
  const hasCompleted = async () => {
    const { stdout } = await run('runs list --status completed', { cwd: folder });
    return /^w /m.test(stdout);
  };
  await expect.poll(hasCompleted, { timeout: 30_000 }).toBe(true);
  working.child.kill('SIGTERM');
  const ended = await working.ran;
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain('w: completed');
});

test.concurrent('work --once ends when nothing is due, and does not wait for waiting runs', async ({
  expect,
}) => {
  const folder = project('{text: Hi}');
  await run('run long.yaml --set-down --log-level silent', { cwd: folder });
  const { code, document } = await runJson('work --once --log-level silent', { cwd: folder });
  expect([code, document]).toEqual([0, { runs: [] }]);
});
