import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { serveOverHttp, serveOverStdio } from '../../src/mcp/serve.ts';
import { fixture, workspace } from '../workspace.ts';
import { type Era, eras, wires } from './serving.ts';

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A call as a client writes it, with the arguments byte for byte. */
function callOf(era: Era, name: string, args: string): string {
  const meta = era === '2026' ? `,"_meta":${JSON.stringify(envelope)}` : '';
  return `{"method":"tools/call","params":{"name":"${name}","arguments":${args}${meta}},"jsonrpc":"2.0","id":1}`;
}

async function openTool(spec: string, files: Readonly<Record<string, string>> = {}) {
  const runtime = await openRuntime(`${workspace(spec, files)}/runtime.yaml`, { log: false });
  onTestFinished(async () => await runtime.close());
  return runtime;
}

/** Sends one message as these bytes, and gives the text of the answer. */
const send = {
  stdio: async (runtime: Awaited<ReturnType<typeof openTool>>, message: string) => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const { close } = await serveOverStdio(runtime, { tools: undefined, version: '1', stdin, stdout });
    onTestFinished(close);
    stdin.write(`${message}\n`);
    let text = '';
    for await (const chunk of stdout) {
      text += String(chunk);
      if (text.endsWith('\n')) break;
    }
    return text;
  },
  http: async (runtime: Awaited<ReturnType<typeof openTool>>, message: string) => {
    const listen = '127.0.0.1:0';
    const { url, close } = await serveOverHttp(runtime, { tools: undefined, version: '1', listen });
    onTestFinished(close);
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(message.includes('2026-07-28') && {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'echo',
      }),
    };
    return await (await fetch(url, { method: 'POST', headers, body: message })).text();
  },
};

const values = [
  '12345678901234567890',
  '-0',
  '1.0',
  '1e400',
  '0.1000000000000000055511151231257827',
  '1E5',
  '[1.50,{"deep":98765432109876543210}]',
];

test.each(wires.flatMap((wire) => eras.map((era) => ({ wire, era }))))(
  'numbers pass from the client to the tool and back as they are written ($wire, $era)',
  async ({ wire, era }) => {
    const runtime = await openTool(
      `tools: {echo: {output_schema: {type: object}, exec: {command: ${fixture('echo-args')}}}}`,
    );
    const args = `{${values.map((value, at) => `"v${at}":${value}`).join(',')}}`;
    const answer = await send[wire](runtime, callOf(era, 'echo', args));
    expect(answer).toContain(`"text":${JSON.stringify(args)}`);
    expect(answer).toContain(`"structuredContent":${args}`);
  },
);

test.each(wires)('numbers in a result of MCP pass as the tool wrote them (%s)', async (wire) => {
  const structured = `{${values.map((value, at) => `"v${at}":${value}`).join(',')}}`;
  const runtime = await openTool(
    'tools: {blocks: {mcp: {result: content}, output_schema: {type: object}, exec: {command: ./blocks.sh}}}',
    { 'blocks.sh': `#!/bin/sh\necho '{"result":{"content":[],"structuredContent":${structured}}}'\n` },
  );
  const answer = await send[wire](runtime, callOf('2025', 'blocks', '{}'));
  expect(answer).toContain(`"structuredContent":${structured}`);
});

test('arguments reach the tool byte for byte', async () => {
  const runtime = await openTool(
    `tools: {echo: {output_schema: {type: object}, exec: {command: ${fixture('echo-args')}}}}`,
  );
  const args = '{ "b" :1,\t"a": "\\u00e9", "2": 0, "1": 0, "__proto__": {"x": 1} }';
  const answer = await send.stdio(runtime, callOf('2026', 'echo', args));
  expect(answer).toContain(`"text":${JSON.stringify(args)}`);
});

test('no client can pass other arguments than those that hooks see', async () => {
  const runtime = await openTool(
    `tools: {echo: {output_schema: {type: object}, exec: {command: ${fixture('echo-args')}}}}`,
  );
  const message = callOf('2026', 'echo', '{"a":1}').replace(
    '"_meta":{',
    '"_meta":{"signalbox/arguments":"{\\"a\\":2}",',
  );
  expect(await send.http(runtime, message)).toContain('"structuredContent":{"a":1}');
});

test('a result that is too long is an error that says how long it may be', async () => {
  const runtime = await openTool(
    'mcp: {max_message_bytes: 4096}\ntools: {echo: {exec: {command: ./long.sh}}}',
    { 'long.sh': '#!/bin/sh\nprintf \'{"result":"%05000d"}\' 0\n' },
  );
  const answer: unknown = JSON.parse(await send.http(runtime, callOf('2026', 'echo', '{}')));
  expect(answer).toMatchObject({
    result: {
      isError: true,
      content: [
        { type: 'text', text: expect.stringMatching(/has 50\d\d bytes .* \(max_message_bytes\) is 4096/) },
      ],
    },
  });
});
