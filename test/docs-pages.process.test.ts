import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, test } from 'vitest';
import { builtProgram } from './built.ts';
import { blocksOf, isAsShown, runPage } from './doc-blocks.ts';
import { noSandbox } from './process/sandbox/box.ts';
import { freePort } from './store/postgres/server.ts';

const page = readFileSync(join(import.meta.dirname, '../docs/start/first-guard.md'), 'utf8');
const blocks = new Map(
  blocksOf(page).map(({ info, text }) => [/ file=(\S+)$/.exec(info)?.[1], text] as const),
);

function block(name: string): string {
  const text = blocks.get(name);
  if (text === undefined) throw new Error(`docs/start/first-guard.md has no block ${name}`);
  return text;
}

const hasJq = spawnSync('jq', ['--version']).status === 0;
const guards = ['py', 'mjs', ...(hasJq ? ['sh'] : [])];

describe.each(guards)('the guard of docs/start/first-guard.md in .%s', (suffix) => {
  const folder = mkdtempSync(join(tmpdir(), 'first-guard-'));
  const script = join(folder, `no_passwords.${suffix}`);
  writeFileSync(script, block(`no_passwords.${suffix}`));
  chmodSync(script, 0o755);
  writeFileSync(
    join(folder, 'runtime.yaml'),
    block('runtime.yaml').replace('no_passwords.py', `no_passwords.${suffix}`),
  );
  writeFileSync(join(folder, 'event.json'), block('event.json'));
  const fire = (event: string) => {
    const args = ['hook', 'fire', '--hook', 'provider', '--phase', 'before_call', '--event', event];
    const { status, stdout } = spawnSync(process.execPath, [builtProgram, ...args, '--log-level', 'silent'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, stdout };
  };

  test('denies what the page says it denies, in the words of the page', () => {
    const { status, stdout } = fire('@event.json');
    expect(status).toBe(1);
    expect(page).toContain(`--event @event.json\n${stdout}`);
  });

  test('allows anything else', () => {
    const event = { request: { messages: [{ role: 'user', content: 'Grüß "Ada" \\ 你好' }] } };
    expect(fire(JSON.stringify(event))).toMatchObject({ status: 0, stdout: expect.stringMatching(/^allow/) });
  });

  test('denies when it fails', () => {
    const event = { request: { messages: [{ role: 'user', content: 7 }] } };
    expect(fire(JSON.stringify(event)).status).not.toBe(0);
  });

  test('with CRLF in its first line it does not start, and that denies', () => {
    writeFileSync(script, block(`no_passwords.${suffix}`).replaceAll('\n', '\r\n'));
    expect(fire('{"request": {"messages": []}}').status).toBe(1);
    writeFileSync(script, block(`no_passwords.${suffix}`));
  });
});

const docs = join(import.meta.dirname, '../docs');
const pages = globSync('{start,guides,operate}/*.md', { cwd: docs }).filter((name) => {
  const text = readFileSync(join(docs, name), 'utf8');
  return /^```console/m.test(text) && (noSandbox === undefined || !text.includes('mode: bubblewrap'));
});

test.each(pages)('docs/%s runs as pasted and prints what it shows', async (name) => {
  const text = readFileSync(join(docs, name), 'utf8');
  const commands = await runPage(text, { 8787: await freePort(), 4318: await freePort() });
  expect(commands.filter((command) => !isAsShown(command))).toEqual([]);
});

test.each(globSync('start/*.md', { cwd: docs }))('docs/%s has fewer than 600 words', (name) => {
  const words = readFileSync(join(docs, name), 'utf8')
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .split(/\s+/);
  expect(words.length).toBeLessThan(600);
});
