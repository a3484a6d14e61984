import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOf, run } from '../../../cli/command-line.ts';

/** The Claude Code program: `SIGNALBOX_CLAUDE_CODE`, or `claude` on the PATH. Without it, the tests are skipped. */
const program =
  process.env['SIGNALBOX_CLAUDE_CODE'] ?? spawnSync('which', ['claude'], { encoding: 'utf8' }).stdout.trim();
const hasProgram = program !== '' && existsSync(program);

const guard = `if grep -q SECRET; then echo '{"allow": false, "reason": "leak"}'; else echo '{"allow": true}'; fi`;
const config = `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  state_store: {type: memory}
  hooks:
    guard: {command: sh, args: ["-c", ${JSON.stringify(guard)}], hook: tool, phases: [after_execution]}
`;

/** A model on loopback that calls one tool, then finishes. Returns the results that it received. */
async function openModel(tool: object) {
  const results: unknown[] = [];
  let asked = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { tools = [], messages = [] } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
      // Claude Code requests titles and the like without tools.
      const isTurn = tools.length > 3;
      if (isTurn) asked += 1;
      if (isTurn) results.splice(0, results.length, ...resultsIn(messages));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const send = (type: string, fields: object) =>
        response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
      const calls = isTurn && asked === 1;
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = { id: `m${asked}`, type: 'message', role: 'assistant', model: 'm', content: [], usage };
      send('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } });
      const block = calls ? { type: 'tool_use', id: 't1', input: {}, ...tool } : { type: 'text', text: '' };
      const delta = calls
        ? { type: 'input_json_delta', partial_json: JSON.stringify(Reflect.get(tool, 'input')) }
        : { type: 'text_delta', text: 'done' };
      send('content_block_start', { index: 0, content_block: { ...block, ...(calls && { input: {} }) } });
      send('content_block_delta', { index: 0, delta });
      send('content_block_stop', { index: 0 });
      send('message_delta', {
        delta: { stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage,
      });
      send('message_stop', {});
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, results, asked: () => asked, close: () => server.close() };
}

function resultsIn(messages: readonly { readonly content: unknown }[]): unknown[] {
  return messages.flatMap(({ content }) =>
    Array.isArray(content)
      ? content.filter((part) => part.type === 'tool_result').map((part) => part.content)
      : [],
  );
}

const cell = {
  cell_type: 'code',
  id: 'c1',
  source: ['x = "SECRET"'],
  metadata: {},
  outputs: [],
  execution_count: null,
};
const notebook = {
  cells: [cell],
  metadata: { language_info: { name: 'python' } },
  nbformat: 4,
  nbformat_minor: 5,
};
const files = { 'a.txt': 'the SECRET is 42\n', 'n.ipynb': JSON.stringify(notebook) };

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'd' } });
const identity = 'git init -q . && git config user.email a@b && git config user.name n';

test.skipIf(!hasProgram).each([
  { title: 'the output of a command', tool: bash('cat a.txt'), goesOn: true },
  {
    title: 'a commit beside it',
    tool: bash(`${identity}; cat a.txt; git commit --allow-empty -m x`),
    goesOn: true,
  },
  { title: 'the output of a failed command', tool: bash('cat a.txt; exit 3'), goesOn: false },
  { title: 'a file', tool: { name: 'Read', input: { file_path: 'a.txt' } }, goesOn: true },
  { title: 'a notebook', tool: { name: 'Read', input: { file_path: 'n.ipynb' } }, goesOn: true },
])('Claude Code does not give its model $title that a guard denies', async ({ tool, goesOn }) => {
  const place = folderOf({ 'runtime.yaml': config });
  const work = join(place, 'work');
  mkdirSync(work);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(work, name), text);
  const exported = await run(['hooks', 'export', '--dialect', 'claude'], { cwd: place, binary: true });
  writeFileSync(join(place, 'settings.json'), exported.stdout);
  const model = await openModel(tool);
  const env = {
    ...{
      PATH: process.env['PATH'],
      HOME: place,
      CLAUDE_CONFIG_DIR: join(place, 'claude'),
      IS_SANDBOX: '1',
    },
    ...{
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'k',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  };
  const args = [
    '-p',
    'go',
    '--settings',
    join(place, 'settings.json'),
    '--permission-mode',
    'bypassPermissions',
  ];
  const child = spawn(program, args, { cwd: work, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const end = setTimeout(() => child.kill('SIGKILL'), 90_000);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(end);
  model.close();
  expect(JSON.stringify(model.results)).not.toMatch(/SECRET|42/);
  expect(model.asked()).toBe(goesOn ? 2 : 1);
  expect(readFileSync(join(work, 'a.txt'), 'utf8')).toContain('SECRET');
});
