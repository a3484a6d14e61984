import { PassThrough } from 'node:stream';
import {
  Client,
  type ClientCapabilities,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { serveOverHttp, serveOverStdio } from '../../src/mcp/serve.ts';
import { workspace } from '../workspace.ts';

export { fixture } from '../workspace.ts';

export const eras = ['2025', '2026'] as const;
export type Era = (typeof eras)[number];
export const wires = ['stdio', 'http'] as const;
export type Wire = (typeof wires)[number];

export interface Served {
  readonly folder: string;
  readonly runtime: Awaited<ReturnType<typeof openRuntime>>;
  /** A client of the official SDK. */
  client(era: Era, capabilities?: ClientCapabilities): Promise<Client>;
}

/** Serves the tools of a config until the test ends. */
export async function serve(
  wire: Wire,
  spec: string,
  {
    files = {},
    tools,
  }: { readonly files?: Readonly<Record<string, string>>; readonly tools?: string[] } = {},
): Promise<Served> {
  const folder = workspace(spec, files);
  const runtime = await openRuntime(`${folder}/runtime.yaml`, { log: false });
  onTestFinished(async () => await runtime.close());
  const open = wire === 'http' ? await overHttp(runtime, tools) : () => overStdio(runtime, tools);
  const client = async (era: Era, capabilities: ClientCapabilities = {}) => {
    const mode = era === '2025' ? 'legacy' : { pin: '2026-07-28' };
    const made = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities });
    await made.connect(await open());
    onTestFinished(async () => await made.close());
    return made;
  };
  return { folder, runtime, client };
}

async function overHttp(runtime: Served['runtime'], tools: string[] | undefined) {
  const { url, close } = await serveOverHttp(runtime, { tools, version: '1', listen: '127.0.0.1:0' });
  onTestFinished(close);
  return async () => new StreamableHTTPClientTransport(new URL(url));
}

async function overStdio(runtime: Served['runtime'], tools: string[] | undefined): Promise<Transport> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const { close } = await serveOverStdio(runtime, { tools, version: '1', stdin, stdout });
  onTestFinished(close);
  const buffer = new ReadBuffer();
  const transport: Transport = {
    start: async () => {
      stdout.on('data', (chunk: Buffer) => {
        buffer.append(chunk);
        for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage())
          transport.onmessage?.(message);
      });
    },
    send: async (message) => void stdin.write(serializeMessage(message)),
    close: async () => {
      stdin.end();
      transport.onclose?.();
    },
  };
  return transport;
}
