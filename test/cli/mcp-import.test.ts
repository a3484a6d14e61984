import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspace } from '../workspace.ts';
import { run, runJson } from './command-line.ts';

const servers = {
  files: {
    command: 'npx',
    args: ['-y', 'files', '${ROOT:-/data}'],
    env: { LEVEL: 'info', API_TOKEN: 'written-out' },
  },
  'My Desk': {
    type: 'http',
    url: 'https://${HOST}/mcp',
    headers: { Authorization: 'Bearer abc', 'X-Team': '${TEAM}' },
  },
  old: { type: 'sse', url: 'https://old.example/sse' },
};

function project(content: unknown) {
  const folder = workspace('# kept\nlogging: {defaultLevel: warn} # this too\n');
  writeFileSync(join(folder, '.mcp.json'), typeof content === 'string' ? content : JSON.stringify(content));
  const config = () => readFileSync(join(folder, 'runtime.yaml'), 'utf8');
  return { folder, config };
}

test('servers of a .mcp.json become entries, with variables translated and no secret copied', async () => {
  const { folder, config } = project({ mcpServers: servers });
  const before = config();
  const dry = await runJson('mcp import .mcp.json --dry-run', { cwd: folder });
  expect(dry.code).toBe(0);
  expect(config()).toBe(before);
  const { code, stderr } = await run('mcp import .mcp.json', { cwd: folder });
  expect({ code, stderr: stderr.trim().split('\n') }).toEqual({
    code: 0,
    stderr: [
      'warning: "files" has a secret in `API_TOKEN`, which is not copied: set the variable API_TOKEN, such as in `spec.env_file`',
      'warning: "My Desk" is called My_Desk here',
      'warning: "My Desk" has a secret in `Authorization`, which is not copied: set the variable MY_DESK_AUTHORIZATION, such as in `spec.env_file`',
      'warning: "old" is left out: it has neither `command` nor a `url` over HTTP',
    ],
  });
  for (const kept of [
    '# kept',
    '# this too',
    '${env:ROOT:-/data}',
    '${env:API_TOKEN}',
    'https://${env:HOST}/mcp',
    '${env:TEAM}',
  ])
    expect(config()).toContain(kept);
  expect(config()).not.toMatch(/written-out|Bearer abc|sse/);
  const env = { HOST: 'desk.example', TEAM: 'a', API_TOKEN: 'b', MY_DESK_AUTHORIZATION: 'c' };
  expect((await run('validate runtime.yaml', { cwd: folder, env })).code).toBe(0);
});

test.each([
  ['{', 'CONFIG_INVALID'],
  ['[]', 'CONFIG_INVALID'],
  ['{"servers": {}}', 'CONFIG_INVALID'],
])('%s is refused', async (content, error) => {
  const { folder, config } = project(content);
  const before = config();
  const { code, stderr } = await run('mcp import .mcp.json', { cwd: folder });
  expect([code, stderr]).toEqual([2, expect.stringContaining(error)]);
  expect(config()).toBe(before);
});

test('a name that the config has is refused before anything is written', async () => {
  const { folder, config } = project({ mcpServers: { other: { command: 'b' }, files: { command: 'a' } } });
  expect((await run('mcp import .mcp.json', { cwd: folder })).code).toBe(0);
  const before = config();
  const { code, stderr } = await run('mcp import .mcp.json', { cwd: folder });
  expect([code, stderr]).toEqual([2, expect.stringContaining('already has an MCP server "other"')]);
  expect(config()).toBe(before);
});
