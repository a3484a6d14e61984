import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

/** The Claude Code program: `SIGNALBOX_CLAUDE_CODE`, or `claude` on the PATH. Without it, tests are skipped. */
const program =
  process.env['SIGNALBOX_CLAUDE_CODE'] ?? spawnSync('which', ['claude'], { encoding: 'utf8' }).stdout.trim();
export const hasProgram = program !== '' && existsSync(program);

export interface ToolUse {
  readonly name: string;
  readonly input: object;
}

/** Runs Claude Code without a person and without a network: its model makes one call each turn, then finishes. */
export async function playClaude(
  place: string,
  work: string,
  {
    tools,
    isWhole = false,
    more = {},
  }: {
    readonly tools: readonly ToolUse[];
    /** Starts a session for the rest of the calls when one ends early. */
    readonly isWhole?: boolean;
    readonly more?: Readonly<Record<string, string>>;
  },
) {
  const model = await openModel(tools);
  const env = {
    ...{ PATH: process.env['PATH'], HOME: place, CLAUDE_CONFIG_DIR: join(place, 'claude'), IS_SANDBOX: '1' },
    ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'k', ...more },
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
  const settings = ['--settings', join(place, 'settings.json'), '--permission-mode', 'bypassPermissions'];
  const sessions: number[] = [];
  // A hook may end the turn, and with it the session.
  do {
    const child = spawn(program, ['-p', 'go', ...settings], { cwd: work, env, stdio: 'ignore' });
    const end = setTimeout(() => child.kill('SIGKILL'), 90_000 + tools.length * 3_000);
    await new Promise((resolve) => child.once('close', resolve));
    clearTimeout(end);
    sessions.push(model.asked());
  } while (isWhole && (sessions.at(-1) ?? 0) < tools.length);
  model.close();
  return { ...model, sessions };
}

/** On loopback. Keeps the last result of each call that it received, and the time from each call to the next request. */
async function openModel(tools: readonly ToolUse[]) {
  const results = new Map<string, unknown>();
  const turnMs: number[] = [];
  let asked = 0;
  let answeredAt = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}');
      // Claude Code requests titles and the like without tools.
      const isTurn = (body.tools ?? []).length > 3;
      const tool = isTurn ? tools[asked] : undefined;
      if (isTurn) {
        const given = resultsIn(body.messages);
        if (given.length > 0) turnMs.push(performance.now() - answeredAt);
        asked += 1;
        for (const result of given) results.set(result.tool_use_id, result);
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const send = (type: string, fields: object) =>
        response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = { id: `m${asked}`, type: 'message', role: 'assistant', model: 'm', content: [], usage };
      send('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } });
      const block =
        tool === undefined
          ? { type: 'text', text: '' }
          : { type: 'tool_use', id: `t${asked}`, name: tool.name, input: {} };
      const delta =
        tool === undefined
          ? { type: 'text_delta', text: 'done' }
          : { type: 'input_json_delta', partial_json: JSON.stringify(tool.input) };
      send('content_block_start', { index: 0, content_block: block });
      send('content_block_delta', { index: 0, delta });
      send('content_block_stop', { index: 0 });
      const reason = tool === undefined ? 'end_turn' : 'tool_use';
      send('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage });
      send('message_stop', {});
      response.end();
      answeredAt = performance.now();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    ...{ results, turnMs },
    asked: () => asked,
    close: () => server.close(),
  };
}

function resultsIn(messages: readonly { readonly content: unknown }[]): { readonly tool_use_id: string }[] {
  return messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.filter((part) => part.type === 'tool_result') : [],
  );
}
