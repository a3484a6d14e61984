import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Desk, openDesk } from './desk.ts';

/** Serves tool calls, and dies if the file `down` holds part of the request. Acts and records each key first. */
const serve = `#!/bin/sh
while IFS= read -r line; do
  id=\${line#*'"id":'}
  printf '%s\\n' "$line" >>"$FOLDER/calls"
  if [ -e "$FOLDER/down" ] && printf '%s' "$line" | grep -q "$(cat "$FOLDER/down")"; then exit 7; fi
  printf '{"jsonrpc":"2.0","id":%s,"result":{"n":1}}\\n' "\${id%%,*}"
done
`;

const note = `#!/bin/sh
printf '%s\\n' "$(cat)" >>"$FOLDER/notes"
printf '{"result": "noted"}'
`;

export interface OutageDesk extends Desk {
  /** Requests to the server that contain this text make it die. undefined: none does. */
  readonly down: (what?: string) => void;
  /** The status that the model's API returns; 200: success. */
  readonly model: { status: number; headers: Record<string, string>; asked: number };
  /** The server's requests, as key and arguments. */
  calls(): string[];
}

export async function openOutage(more = '', store = ''): Promise<OutageDesk> {
  const model: OutageDesk['model'] = { status: 200, headers: {}, asked: 0 };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      model.asked += 1;
      response.writeHead(model.status, { 'content-type': 'application/json', ...model.headers });
      response.end(model.status === 200 ? good : '{"error":{"message":"not now"}}');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const exec = (runtime: string) =>
    `{runtime: ${runtime}, command: ./${runtime === 'server' ? 'serve' : 'note'}.sh, env: ["FOLDER=$folder"]}`;
  const desk = await openDesk(`${store}
providers:
  - {id: main, type: openai-compatible, model: m, base_url: "http://127.0.0.1:${port}/v1", additional_config: {max_retries: 0}}
tools:
  pay: {idempotent: true, exec: ${exec('server')}}
  once: {idempotent: false, exec: ${exec('server')}}
  note: {exec: ${exec('exec')}}
  ask: {idempotent: true, approval: required, exec: ${exec('server')}}
${more}
`);
  for (const [name, text] of Object.entries({ serve, note })) {
    writeFileSync(join(desk.folder, `${name}.sh`), text);
    chmodSync(join(desk.folder, `${name}.sh`), 0o755);
  }
  const file = join(desk.folder, 'down');
  return {
    ...desk,
    model,
    down: (what) => (what === undefined ? rmSync(file, { force: true }) : writeFileSync(file, what)),
    calls: () => callsIn(join(desk.folder, 'calls')),
  };
}

function callsIn(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const { params }: { params: { args: unknown; idempotency_key?: string } } = JSON.parse(line);
      return `${params.idempotency_key?.replace(/^[^/]*\//, '') ?? ''} ${JSON.stringify(params.args)}`;
    });
}

const good = JSON.stringify({
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
