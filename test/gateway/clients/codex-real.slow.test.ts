import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serveTestGateway } from '../http/serve-gateway.ts';
import { startResponsesUpstream } from '../upstreams/responses-upstream.ts';

/** The Codex program: `SIGNALBOX_CODEX`, or `codex` on the PATH. Without it, the tests are skipped. */
const program =
  process.env['SIGNALBOX_CODEX'] ?? spawnSync('which', ['codex'], { encoding: 'utf8' }).stdout.trim();
const hasProgram = program !== '' && existsSync(program);

const guard = `#!/bin/sh
if grep -qE 'SECRET|> made'; then echo '{"allow": false, "reason": "it is confidential"}'; else echo '{"allow": true}'; fi
`;

const callOf = (cmd: string) => ({
  ...{ type: 'function_call', id: 'fc_1', call_id: 'call_1', status: 'completed' },
  ...{ name: 'exec_command', arguments: JSON.stringify({ cmd }) },
});
const messageOf = (text: string) => ({
  ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

async function workWith(answers: readonly object[]) {
  await using upstream = await startResponsesUpstream((_, count) => ({
    output: [{ ...(answers[count] ?? messageOf('nothing more')) }],
  }));
  await using gateway = await serveTestGateway(
    `
state_store: {type: memory}
providers: [{id: main, type: openai-compatible, model: m, base_url: "${upstream.url}/v1", credential: {api_key: sk-test}}]
gateway: {on_deny: answer}
hooks:
  guard: {command: ./guard.sh, hook: provider}`,
    { 'guard.sh': guard },
  );
  const place = mkdtempSync(join(tmpdir(), 'codex-'));
  const [home, work] = [join(place, 'home'), join(place, 'work')];
  for (const folder of [home, work]) mkdirSync(folder);
  writeFileSync(join(work, 'a.txt'), 'the SECRET is 42\n');
  writeFileSync(
    join(home, 'config.toml'),
    `model = "m"
model_provider = "signalbox"
[model_providers.signalbox]
name = "signalbox"
base_url = "${gateway.url}/v1"
wire_api = "responses"
`,
  );
  const args = [
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    '--json',
    'go',
  ];
  const env = { PATH: process.env['PATH'], HOME: home, CODEX_HOME: home };
  const child = spawn(program, args, { cwd: work, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const end = setTimeout(() => child.kill('SIGKILL'), 90_000);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(end);
  return {
    printed,
    sent: upstream.seen.map(({ body }) => body),
    hasMade: existsSync(join(work, 'made')),
  };
}

test.skipIf(!hasProgram)(
  'Codex calls a tool and gets an answer through a gateway with a filter',
  async () => {
    const { printed, sent, hasMade } = await workWith([callOf('touch made'), messageOf('all done')]);
    expect(sent).toHaveLength(2);
    expect(printed).toContain('"text":"all done"');
    expect(printed).toContain('turn.completed');
    expect(hasMade).toBe(true);
  },
);

test.skipIf(!hasProgram)(
  'a tool result that a filter denies reaches no model, and Codex does not retry',
  async () => {
    const { printed, sent } = await workWith([callOf('cat a.txt'), messageOf('all done')]);
    expect(sent).toHaveLength(1);
    expect(sent.join()).not.toContain('SECRET');
    expect(printed).toContain('it is confidential');
    expect(printed).not.toContain('all done');
  },
);

test.skipIf(!hasProgram)(
  'Codex does not show an answer that a filter denies, and does not retry',
  async () => {
    const { printed, sent } = await workWith([messageOf('the SECRET is 42')]);
    expect(sent).toHaveLength(1);
    expect(printed).toContain('it is confidential');
    expect(printed).not.toContain('SECRET');
  },
);

test.skipIf(!hasProgram)('Codex does not run a command that a filter denies', async () => {
  const { printed, sent, hasMade } = await workWith([callOf('echo x > made'), messageOf('all done')]);
  expect(sent).toHaveLength(1);
  expect(printed).toContain('it is confidential');
  expect(hasMade).toBe(false);
});
