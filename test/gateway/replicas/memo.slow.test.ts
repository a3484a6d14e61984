import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { folderOf, run, runJson } from '../../cli/command-line.ts';
import { serve } from '../../cli/serve.ts';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../../store/postgres/server.ts';
import { openaiProvider } from '../open-gateway.ts';
import { answerWith, toolCall } from '../tools/judge-bench.ts';
import { answerJson, startUpstream } from '../upstream-server.ts';

const guard = `#!/usr/bin/env python3
import json, os, sys
event = json.load(sys.stdin)
request = event["request"]
with open("shown.jsonl", "a") as shown:
    shown.write(json.dumps([event["hook"], [m["content"] for m in request.get("messages", [])]]) + "\\n")
if event["hook"] == "tool" and request["name"] == "pay": reply = {"allow": False, "ask": True, "reason": "money"}
else: reply = {"allow": True}
print(json.dumps(reply))
`;

const spec = (url: string, pending: string) => `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  state_store: {type: postgres, url_env: DATABASE_URL}
  providers: [${openaiProvider(url)}]
  hooks:
    guard: {command: ./guard.py, hook: tool}
    words: {command: ./guard.py, hook: provider, phases: [before_call]}
  gateway: {judge: {words: new}, tools: {hooks: true, ${pending}}}
`;

const user = (content: string) => ({ role: 'user', content });

async function ask(url: string, messages: readonly object[]) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ model: 'm', messages }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe.runIf(hasPostgres)(`conversations over gateways on one database${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  const begin = async (calls: readonly object[], pending: string) => {
    const upstream = await startUpstream(answerJson(answerWith(calls, 'Words of the model.')));
    const env = { DATABASE_URL: await server.newUrl() };
    const cwd = folderOf({ 'guard.py': guard });
    writeFileSync(join(cwd, 'runtime.yaml'), spec(upstream.url, pending));
    const servers = [await serve(cwd, env), await serve(cwd, env)] as const;
    const close = async () => {
      for (const each of servers) await each[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    };
    return { upstream, env, cwd, servers, [Symbol.asyncDispose]: close };
  };
  const paying = [toolCall('c1', 'pay', { amount: 5 })];

  test('a call that waits at one server can be decided at any, and released by the other after a kill [DS-REPLICAS-07]', async () => {
    await using scene = await begin(paying, 'pending: refuse');
    const { env, cwd, servers, upstream } = scene;
    const asked = await ask(servers[0].url, [user('pay it')]);
    expect(asked).toMatchObject({ status: 400, body: { error: { code: 'pending_approval' } } });
    servers[0].kill('SIGKILL');
    const { document } = await runJson(['pending', 'list'], { cwd, env });
    const [{ id }] = (document as { pending: [{ id: string }] }).pending;
    const waiting = await ask(servers[1].url, [user('pay it')]);
    expect(JSON.stringify(waiting.body)).toContain(id);
    expect((await run(['pending', 'approve', id, '--by', 'mara'], { cwd, env })).code).toBe(0);
    const given = await ask(servers[1].url, [user('pay it')]);
    expect(given.status).toBe(200);
    expect(JSON.stringify(given.body)).toContain('Words of the model.');
    expect(JSON.stringify(given.body)).toContain('c1');
    expect(upstream.seen).toHaveLength(1);
  });

  test('an answer that one server holds continues after a decision made elsewhere', async () => {
    await using scene = await begin(paying, 'pending: hold, hold_ms: 60000');
    const { env, cwd, servers } = scene;
    const held = ask(servers[0].url, [user('pay it')]);
    const id = await vi.waitFor(
      async () => {
        const { document } = await runJson(['pending', 'list'], { cwd, env });
        const { pending } = document as { pending: { id: string }[] };
        expect(pending).toHaveLength(1);
        return pending[0]?.id ?? '';
      },
      { timeout: 30_000, interval: 200 },
    );
    await run(['pending', 'reject', id, '--reason', 'not today', '--by', 'mara'], { cwd, env });
    expect(JSON.stringify((await held).body)).toContain('not today');
  });

  test('a hook of `judge: new` does not see again at one server what it allowed at the other [DS-REPLICAS-08]', async () => {
    await using scene = await begin([], 'pending: refuse');
    const { cwd, servers } = scene;
    const said = [user('one'), { role: 'assistant', content: 'two' }, user('three')];
    expect((await ask(servers[0].url, said.slice(0, 1))).status).toBe(200);
    const { readFileSync } = await import('node:fs');
    const shown = () =>
      readFileSync(join(cwd, 'shown.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)[1]);
    // The verdict is written concurrently with the call.
    await vi.waitFor(
      async () => {
        expect((await ask(servers[1].url, said)).status).toBe(200);
        expect(shown().at(-1)).toEqual(['three']);
      },
      { timeout: 30_000, interval: 200 },
    );
    expect(shown()[0]).toEqual(['one']);
  });
});
