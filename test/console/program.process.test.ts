import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { fixture, start, workspace } from '../cli/command-line.ts';
import { serve } from '../cli/serve.ts';
import { keysOf } from './serving.ts';

const spec = `
providers:
  - {id: main, type: mock, model: demo, additional_config: {responses: [{text: hi}]}}
tools: {refund: {approval: required, exec: {command: ${fixture('echo-args')}}}}
`;

/** The address of the API, and the headers that the page sends. */
function clientOf(address: unknown) {
  const { origin, hash } = new URL(String(address));
  const headers = { authorization: `Bearer ${new URLSearchParams(hash.slice(1)).get('key')}` };
  return { get: async (path: string) => await fetch(`${origin}/api/v1${path}`, { headers }) };
}

test('serve shows the console beside the models, also after it has read its config again', async () => {
  await using serving = await serve(workspace(spec));
  const { url, document } = serving;
  expect(document['console']).toMatch(new RegExp(`^${url}/console#key=[\\w-]{32}$`));
  const { get } = clientOf(document['console']);
  const changes = await get('/changes?kinds=pendings');
  const reader = changes.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect(await reader?.read()).toMatchObject({ value: '{"kinds":["pendings"]}\n' });
  serving.kill('SIGHUP');
  await serving.told('reloaded');
  expect(await reader?.read()).toEqual({ done: true, value: undefined });
  expect([(await get('/me')).status, (await fetch(`${url}/console`)).status]).toEqual([200, 200]);
  const body = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] });
  const headers = { 'content-type': 'application/json' };
  const chat = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body, headers });
  expect([chat.status, (await fetch(`${url}/consoles`)).status]).toEqual([200, 404]);
});

test('an open page does not delay the end of serve', async () => {
  await using serving = await serve(workspace(spec));
  const { get } = clientOf(serving.document['console']);
  const changes = await get('/changes?kinds=runs');
  serving.kill('SIGTERM');
  expect(await changes.text()).toBe('{"kinds":["runs"]}\n');
  expect(await serving.ran).toMatchObject({ code: 0, stderr: expect.not.stringContaining('cut') });
});

test('serve that others can reach has no console without a public URL, and says so', async () => {
  const cwd = workspace(`${spec}gateway: {keys: {required: true}}`);
  const keys = await keysOf(cwd);
  await keys.create({ name: 'mara', role: 'approver', models: ['demo'] });
  const { child, ran } = start(['serve', '--listen', '0.0.0.0:0'], { cwd });
  if (child.stdout === null) throw new Error('no pipe');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) if (lines.push(line) === 2) break;
  const { port } = new URL(lines[0]?.split(' ')[1] ?? '');
  expect(lines[1]).toMatch(
    /^No console: other machines can reach 0\.0\.0\.0, but .* Set spec\.console\.public_url/,
  );
  expect((await fetch(`http://127.0.0.1:${port}/console`)).status).toBe(404);
  child.kill('SIGTERM');
  expect(await ran).toMatchObject({ code: 0 });
});

const opener = `#!/bin/sh
echo "$@" > "$OPENED.args"
stat -c %a "$1" > "$OPENED.mode" 2>/dev/null || stat -f %Lp "$1" > "$OPENED.mode"
cp "$1" "$OPENED"
`;

test.skipIf(process.platform === 'win32')(
  '--open gives the browser a private file, and the key to no process',
  async () => {
    const cwd = workspace(spec, { 'bin/xdg-open': opener, 'bin/open': opener });
    const opened = join(cwd, 'opened.html');
    const env = { OPENED: opened, PATH: `${join(cwd, 'bin')}${delimiter}${process.env['PATH']}` };
    const { child, ran } = start(['console', '--listen', '127.0.0.1:0', '--json', '--open'], { cwd, env });
    if (child.stdout === null) throw new Error('no pipe');
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { url } = JSON.parse(line);
    expect((await clientOf(url).get('/me')).status).toBe(200);
    while (!existsSync(opened)) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(readFileSync(opened, 'utf8')).toContain(`content="0; url=${url}"`);
    expect(readFileSync(`${opened}.mode`, 'utf8')).toBe('600\n');
    const file = readFileSync(`${opened}.args`, 'utf8').trim();
    expect(file).toMatch(/^\/\S+\/open\.html$/);
    child.kill('SIGINT');
    expect(await ran).toMatchObject({ code: 0 });
    expect(existsSync(file)).toBe(false);
  },
);

test('a port in use is an error with a hint', async () => {
  const cwd = workspace(spec);
  await using serving = await serve(cwd);
  const { host } = new URL(serving.url);
  expect(await start(['console', '--listen', host], { cwd }).ran).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/LISTEN_FAILED.*another program listens there already[\s\S]*hint: /),
  });
});
