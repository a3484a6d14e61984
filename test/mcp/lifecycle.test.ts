import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eras, fixture, serve, wires } from './serving.ts';

const everyWay = wires.flatMap((wire) => eras.map((era) => ({ wire, era })));

/** Notes its process, and then takes a minute. */
const slow = '#!/bin/sh\necho $$ > slow.pid\nexec sleep 60\n';

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(20);
}

function pidIn(folder: string): number {
  const file = join(folder, 'slow.pid');
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}/exe`);
}

// Over HTTP, a notification of 2025 reaches no call: without sessions, ids of requests are not unique.
const cancellable = everyWay.filter(({ wire, era }) => wire === 'stdio' || era === '2026');

test.each(cancellable)(
  'a cancelled call ends its process, and others go on ($wire, $era)',
  async ({ wire, era }) => {
    const { folder, client } = await serve(
      wire,
      `tools: {slow: {exec: {command: ./slow.sh}}, echo: {output_schema: {type: object}, exec: {command: ${fixture('echo-args')}}}}`,
      { files: { 'slow.sh': slow } },
    );
    const connected = await client(era);
    const cancel = new AbortController();
    const cut = connected.callTool({ name: 'slow' }, { signal: cancel.signal });
    cut.catch(() => {});
    await until(() => pidIn(folder) > 0);
    cancel.abort();
    await expect(cut).rejects.toThrow();
    await until(() => !isAlive(pidIn(folder)));
    expect(await connected.callTool({ name: 'echo', arguments: { n: 1 } })).toMatchObject({
      structuredContent: { n: 1 },
    });
  },
);

test.each(everyWay)('the end of a connection ends its calls ($wire, $era)', async ({ wire, era }) => {
  const { folder, client } = await serve(wire, 'tools: {slow: {exec: {command: ./slow.sh}}}', {
    files: { 'slow.sh': slow },
  });
  const connected = await client(era);
  const cut = connected.callTool({ name: 'slow' });
  cut.catch(() => {});
  await until(() => pidIn(folder) > 0);
  await connected.close();
  await expect(cut).rejects.toThrow();
  await until(() => !isAlive(pidIn(folder)));
});

test.each(wires)('a call that waits for a person outlives its cancellation (%s)', async (wire) => {
  const { client, runtime } = await serve(
    wire,
    `tools: {refund: {approval: required, exec: {command: ${fixture('echo-args')}}}}`,
  );
  const connected = await client('2026');
  await connected.callTool({ name: 'refund' });
  await connected.close();
  expect(await runtime.pending.list()).toMatchObject([{ tool: 'refund', status: 'open' }]);
});

test('a slow, a stuck and a flooding tool do not hold up another call', async () => {
  const { client } = await serve(
    'stdio',
    `
concurrency: 4
tools:
  stuck: {timeout_ms: 300, exec: {command: ${fixture('hang-ignoring-term.sh')}, grace_ms: 100}}
  flood: {exec: {command: ${fixture('flood.sh')}}}
  echo: {output_schema: {type: object}, exec: {command: ${fixture('echo-args')}}}
`,
  );
  const connected = await client('2026');
  const [stuck, flood, echo] = await Promise.all(
    ['stuck', 'flood', 'echo'].map((name) => connected.callTool({ name, arguments: { n: 1 } })),
  );
  const text = (part: string) => [{ type: 'text', text: expect.stringContaining(part) }];
  expect(stuck).toMatchObject({ isError: true, content: text('[PROCESS_TIMEOUT]') });
  expect(flood).toMatchObject({ isError: true, content: text('[OUTPUT_LIMIT]') });
  expect(echo).toMatchObject({ structuredContent: { n: 1 } });
});

/** A server that answers with the arguments. */
const answers = `#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"]["args"]}), flush=True)
`;

test('a thousand calls at once are all answered, each with its own result', async () => {
  const { client } = await serve(
    'http',
    'tools: {answers: {output_schema: {type: object}, exec: {command: ./answers.py, runtime: server}}}',
    { files: { 'answers.py': answers } },
  );
  const connected = await client('2026');
  const calls = Array.from({ length: 1000 }, async (_, n) => {
    const { structuredContent } = await connected.callTool({ name: 'answers', arguments: { n } });
    return structuredContent;
  });
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 1000 }, (_, n) => ({ n })));
});

test.each(wires)('ten thousand tools are listed in pages (%s)', async (wire) => {
  const names = Array.from({ length: 10_000 }, (_, number) => `tool_${number}`);
  const spec = `tools:\n${names.map((name) => `  ${name}: {exec: {command: ./t.sh}}`).join('\n')}\n`;
  const { client } = await serve(wire, spec, { files: { 't.sh': '#!/bin/sh\n' } });
  const connected = await client('2025');
  const listed: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await connected.request({ method: 'tools/list', params: { ...(cursor && { cursor }) } });
    expect(page.tools.length).toBeLessThanOrEqual(1000);
    listed.push(...page.tools.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(listed).toEqual(names);
});
