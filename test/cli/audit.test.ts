import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import { openAudit, recordOf } from '../gateway/audit-log.ts';
import { folderOf, run, runJson, runShown, workspace } from './command-line.ts';

const question = '{"model": "gpt-5"}';
const esc = '\u001b';

let folder: string;

beforeAll(async () => {
  folder = workspace('gateway: {audit: {content: true}}', { 'question.json': question });
  const head = { file: join(folder, 'head.json'), everyMs: 60_000 };
  const log = await openAudit(join(folder, '.signalbox'), { head, keepsContent: true });
  const requestDigest = createHash('sha256').update(question).digest('hex');
  const verdicts = [{ phase: 'before_call', verdict: 'deny', hook: 'pii', reason: `an address${esc}[2J` }];
  await log.write(
    recordOf({ id: 'req_1a', requestDigest, content: { request: `Hi${esc}[1m`, answer: 'Hello' } }),
  );
  await log.write(recordOf({ id: 'req_1b', status: 400, outcome: 'denied', verdicts, usage: undefined }));
  await log.write(
    recordOf({
      id: 'req_2',
      at: Date.UTC(2030, 0, 1),
      ...{ keyId: 'key_2', caller: `bots${esc}[31m`, model: 'opus\u202e', endpoint: 'messages' },
    }),
  );
  await log.close();
});

/** Control characters. */
function controlsIn(text: string): string[] {
  return [esc, '\u202e'].filter((control) => text.includes(control));
}

async function listed(...args: readonly string[]): Promise<unknown> {
  const { document } = await runJson(['audit', 'list', ...args], { cwd: folder });
  return JSON.parse(JSON.stringify(document)).calls?.map(({ id }: { id: string }) => id);
}

describe('audit list', () => {
  test.each([
    { title: 'everything, the newest first', args: [], ids: ['req_2', 'req_1b', 'req_1a'] },
    { title: 'of a key by its id', args: ['--key', 'key_2'], ids: ['req_2'] },
    { title: 'of a key by its name', args: ['--key', 'support desk'], ids: ['req_1b', 'req_1a'] },
    { title: 'of a model', args: ['--model', 'gpt-5'], ids: ['req_1b', 'req_1a'] },
    { title: 'of an outcome', args: ['--outcome', 'denied'], ids: ['req_1b'] },
    { title: 'since a time', args: ['--since', '2029-01-01'], ids: ['req_2'] },
    { title: 'since an age', args: ['--since', '1s'], ids: ['req_2'] },
    { title: 'of a body', args: ['--body', 'question.json'], ids: ['req_1a'] },
    { title: 'at most so many', args: ['--limit', '2'], ids: ['req_2', 'req_1b'] },
    { title: 'of something that nothing has', args: ['--model', 'none'], ids: [] },
  ])('$title', async ({ args, ids }) => {
    expect(await listed(...args)).toEqual(ids);
  });

  test('prints one line per row, fits the terminal and escapes control characters', async () => {
    const { code, stdout } = await run('audit list', { cwd: folder });
    expect(code).toBe(0);
    const [names = '', ...calls] = stdout.trimEnd().split('\n');
    expect(names).toMatch(/^TIME +STATUS +OUTCOME +ENDPOINT +MODEL +CALLER +ID +HOOK$/);
    expect(calls).toHaveLength(3);
    expect(stdout).toContain('2026-01-02T03:04:05Z  400     denied');
    expect(stdout).toContain('req_1b  pii\n');
    const { screen } = await runShown(['audit', 'list', '--no-color'], { cwd: folder, terminal: 'both' });
    for (const text of [stdout, screen]) expect(controlsIn(text)).toEqual([]);
  });

  test.each([
    [['--since', 'yesterday'], 'USAGE'],
    [['--since', '2026-99-99'], 'USAGE'],
    [['--limit', '0'], 'USAGE'],
    [['--body', 'nowhere.json'], 'FILE_UNREADABLE'],
    [['--database', 'nowhere.db'], 'FILE_UNREADABLE'],
    [['--database', 'question.json'], 'STORE_FAILED'],
  ])('%j ends with %s and 2', async (args, code) => {
    const ran = await runJson(['audit', 'list', ...args], { cwd: folder });
    expect(ran).toMatchObject({ code: 2, document: { error: { code } } });
  });
});

describe('audit show', () => {
  test('has every member, the verdicts and the bodies', async () => {
    const { document } = await runJson('audit show req_1a', { cwd: folder });
    expect(document).toMatchObject({
      ...{ seq: 2, id: 'req_1a', at: '2026-01-02T03:04:05.000Z', caller: 'support desk', status: 200 },
      ...{ usage: { input: 12, output: 34, cached_input: 5 }, cost: 0.0125 },
      content: { request: `Hi${esc}[1m`, answer: 'Hello' },
    });
    const { document: denied } = await runJson('audit show req_1b', { cwd: folder });
    expect(denied).toMatchObject({
      content: null,
      usage: null,
      verdicts: [{ hook: 'pii', verdict: 'deny' }],
    });
  });

  test('prints lines of at most 80 columns, with control characters escaped', async () => {
    for (const id of ['req_1a', 'req_1b', 'req_2']) {
      const { stdout } = await run(`audit show ${id}`, { cwd: folder });
      expect(controlsIn(stdout)).toEqual([]);
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    }
    const { stdout } = await run('audit show req_1b', { cwd: folder });
    expect(stdout).toContain('before_call: deny by pii: an address\\u001b[2J');
  });

  test('takes a shortened id, unless several ids begin with it', async () => {
    expect(await runJson('audit show req_2', { cwd: folder })).toMatchObject({ code: 0 });
    expect(await runJson('audit show req_1', { cwd: folder })).toMatchObject({
      code: 2,
      document: { error: { code: 'USAGE' } },
    });
    expect(await runJson('audit show req_9', { cwd: folder })).toMatchObject({
      code: 2,
      document: { error: { code: 'RUN_UNKNOWN' } },
    });
  });
});

describe('audit verify', () => {
  const withHead = ['audit', 'verify', '--head', 'head.json', '--public-key', '.signalbox/audit.pub'];

  test('exits 0 and reports what was read when the audit verifies, also for a copy elsewhere', async () => {
    expect(await runJson(withHead, { cwd: folder })).toMatchObject({
      code: 0,
      document: { status: 'good', rows: 4, first: 1, last: 4, heads: { compared: 1 } },
    });
    const copy = folderOf({});
    copyFileSync(join(folder, '.signalbox/audit.db'), join(copy, 'audit.db'));
    const key = join(folder, '.signalbox/audit.pub');
    const args = ['audit', 'verify', '--database', 'audit.db', '--public-key', key];
    expect(await run(args, { cwd: copy })).toEqual({ code: 0, stdout: 'good: 4 rows, 1 to 4\n', stderr: '' });
  });

  test('exits 1 and names the row when something was changed, and the list still works', async () => {
    const copy = folderOf({});
    const database = join(copy, 'audit.db');
    copyFileSync(join(folder, '.signalbox/audit.db'), database);
    const sqlite = new DatabaseSync(database);
    sqlite.exec(
      "UPDATE rows SET body = json_set(body, '$.outcome', 'allowed', '$.verdicts', 7) WHERE seq = 3",
    );
    sqlite.close();
    const args = ['--database', database];
    const ran = await run([...withHead, ...args], { cwd: folder });
    expect(ran).toMatchObject({ code: 1, stderr: '' });
    expect(ran.stdout).toContain('row 3 was changed, or does not follow the row before it (req_1b)\n');
    expect(ran.stdout).toContain('tampered: 4 rows, 1 to 4, 1 head compared\n');
    const json = await runJson([...withHead, ...args], { cwd: folder });
    expect(json).toMatchObject({
      code: 1,
      document: { status: 'tampered', problems: [{ seq: 3, id: 'req_1b' }] },
    });
    expect(await run(['audit', 'list', ...args], { cwd: folder })).toMatchObject({ code: 0 });
    expect(await run(['audit', 'show', 'req_1b', ...args], { cwd: folder })).toMatchObject({ code: 0 });
  });

  test.each([
    { title: 'no database', args: ['--database', 'nowhere.db'] },
    { title: 'a file that is not a database', args: ['--database', 'question.json'] },
    { title: 'no public key', args: ['--public-key', 'nowhere.pub'] },
    { title: 'a public key that is none', args: ['--public-key', 'question.json'] },
    { title: 'no head', args: ['--head', 'nowhere.json'] },
    { title: 'a head that is none', args: ['--head', 'question.json'] },
    { title: 'a config that is none', args: ['--config', 'question.json'] },
  ])('exits 2 for $title', async ({ args }) => {
    expect((await run(['audit', 'verify', ...args], { cwd: folder })).code).toBe(2);
  });

  test('asks for a public key if a copy has none', async () => {
    const copy = folderOf({});
    copyFileSync(join(folder, '.signalbox/audit.db'), join(copy, 'audit.db'));
    const ran = await runJson('audit verify --database audit.db', { cwd: copy });
    expect(ran).toMatchObject({ code: 2, document: { error: { code: 'USAGE' } } });
  });
});

test('audit head prints what --head takes', async () => {
  const { code, stdout } = await run('audit head', { cwd: folder });
  expect(code).toBe(0);
  writeFileSync(join(folder, 'printed.json'), `${stdout}${readFileSync(join(folder, 'head.json'), 'utf8')}`);
  expect(await runJson('audit verify --head printed.json', { cwd: folder })).toMatchObject({
    code: 0,
    document: { heads: { compared: 2 } },
  });
});

test('audit prune removes what is older, and the rest verifies', async () => {
  const own = workspace('gateway: {audit: {}}');
  const log = await openAudit(join(own, '.signalbox'));
  await log.write(recordOf({ id: 'old' }));
  await log.write(recordOf({ id: 'new', at: Date.now() }));
  await log.close();
  expect(await run('audit prune', { cwd: own })).toMatchObject({ code: 2 });
  expect(await run('audit prune --older-than 1d', { cwd: own })).toMatchObject({
    ...{ code: 0, stdout: 'removed 2 rows\n' },
  });
  expect(await runJson('audit prune --older-than 1d', { cwd: own })).toMatchObject({
    document: { pruned: 0 },
  });
  expect((await run('audit verify', { cwd: own })).stdout).toBe(
    'good: 2 rows, 3 to 4, 2 earlier rows removed by age\n',
  );
});

test('an audit command says that a memory store has no audit, or that the folder has none', async () => {
  const memory = workspace('state_store: {type: memory}');
  expect(await runJson('audit list', { cwd: memory })).toMatchObject({ code: 2 });
  const empty = workspace('concurrency: 1');
  for (const command of [['list'], ['verify'], ['prune', '--older-than', '1d'], ['head'], ['show', 'x']]) {
    expect(await runJson(['audit', ...command], { cwd: empty })).toMatchObject({
      code: 2,
      document: { error: { code: expect.stringMatching('FILE_UNREADABLE|USAGE') } },
    });
  }
});
