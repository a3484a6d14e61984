import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run, runJson, workspace } from '../../cli/command-line.ts';
import { serve } from '../../cli/serve.ts';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../../store/postgres/server.ts';

const spec = `
state_store: {type: postgres, url_env: DATABASE_URL}
providers: [{id: main, type: mock, model: m, additional_config: {responses: [{text: hello}]}}]
gateway: {audit: {content: true, head: {file: head.json}}}
`;

describe.runIf(hasPostgres)(`the audit of gateways on one database${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('the commands read, verify and prune the records of all servers from any machine', async () => {
    const env = { DATABASE_URL: await server.newUrl() };
    const folders = [workspace(spec), workspace(spec)] as const;
    const elsewhere = workspace(spec);
    const command = async (...args: readonly string[]) => await run(args, { cwd: elsewhere, env });
    const json = async (...args: readonly string[]) =>
      (await runJson(args, { cwd: elsewhere, env })).document as Record<string, unknown>;
    expect(await command('audit', 'verify')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no public key'),
    });
    expect(await command('audit', 'list')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no audit'),
    });
    const servers = [await serve(folders[0], env), await serve(folders[1], env)];
    const body = (text: string) =>
      JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] });
    for (const [at, { url }] of servers.entries()) {
      const headers = { 'content-type': 'application/json' };
      const options = { method: 'POST', headers, body: body(`question ${at}`) };
      expect((await fetch(`${url}/v1/chat/completions`, options)).status).toBe(200);
    }
    const { calls } = (await json('audit', 'list')) as { calls: { id: string; chain: string }[] };
    expect(calls).toHaveLength(2);
    expect(new Set(calls.map(({ chain }) => chain)).size).toBe(2);
    expect(await json('audit', 'show', calls[0]?.id ?? '')).toMatchObject({
      content: { request: body('question 1') },
    });
    writeFileSync(join(elsewhere, 'body.json'), body('question 0'));
    expect(await json('audit', 'list', '--body', 'body.json')).toMatchObject({
      calls: [{ id: calls[1]?.id }],
    });
    const heads = (await command('audit', 'head')).stdout;
    expect(heads.trim().split('\n')).toHaveLength(2);
    writeFileSync(join(elsewhere, 'heads.jsonl'), heads);
    expect(await command('audit', 'verify', '--head', 'heads.jsonl')).toMatchObject({
      code: 0,
      stdout: 'good: 4 rows, in 2 chains, 2 heads compared\n',
    });
    for (const each of servers) await each[Symbol.asyncDispose]();
    expect((await command('audit', 'prune', '--older-than', '0s')).code).toBe(0);
    expect(await command('audit', 'verify', '--head', 'heads.jsonl')).toMatchObject({ code: 0 });
    await server.ask(
      'UPDATE signalbox.gateway_audit_rows SET body = replace(body, \'"kind"\', \'"Kind"\')',
      new URL(env.DATABASE_URL).pathname.slice(1),
    );
    expect(await command('audit', 'verify')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^chain [0-9a-f]{32}: row \d was changed/),
    });
  });
});
