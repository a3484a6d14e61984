import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { signalbox, start } from '../../cli/command-line.ts';
import { writeConfig } from '../open-gateway.ts';

export interface Serving extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  printed(): string;
  descriptors(): number;
  children(): string[];
  /** Sends SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>;
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  /** Words before the program, such as those that mount a small disk on its folder. */
  readonly prefix?: (folder: string) => readonly string[];
}

export async function serve(
  spec: string,
  files: Readonly<Record<string, string>> = {},
  { env = {}, prefix = () => [] }: Surroundings = {},
): Promise<Serving> {
  const config = writeConfig(spec, files);
  const folder = dirname(config);
  const [program, ...leading] = [...prefix(folder), ...signalbox];
  const args = ['serve', '--config', config, '--listen', '127.0.0.1:0', '--json', '--log-level', 'trace'];
  const { child, ran } = start(args, { env }, [program ?? '', ...leading]);
  const printed: string[] = [];
  child.stdout?.on('data', (chunk: Buffer) => void printed.push(chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => void printed.push(chunk.toString()));
  const url = await firstUrl(child.stdout ?? process.stdin, ran);
  const pid = child.pid ?? 0;
  const stop = async () => {
    child.kill('SIGTERM');
    return (await ran).code;
  };
  return {
    ...{ url, port: Number(new URL(url).port), pid, folder: new URL('.', `file://${config}`).pathname, stop },
    printed: () => printed.join(''),
    descriptors: () => readdirSync(`/proc/${pid}/fd`).length,
    children: () =>
      readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
        .split(' ')
        .filter((each) => each !== ''),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ran;
    },
  };
}

async function firstUrl(
  stdout: NodeJS.ReadableStream,
  ran: Promise<{ readonly stderr: string }>,
): Promise<string> {
  const lines = createInterface({ input: stdout });
  const line = await new Promise<string | undefined>((resolve) => {
    lines.once('line', resolve);
    void ran.then(() => resolve(undefined));
  });
  if (line === undefined) throw new Error(`it does not serve: ${(await ran).stderr}`);
  return JSON.parse(line).url;
}

export interface RawOptions {
  /** The pause between two pieces, in milliseconds. */
  readonly paceMs?: number;
  readonly isEnded?: boolean;
}

/** Sends raw bytes; resolves to everything received until the connection closes or is silent. */
export async function sendRaw(
  port: number,
  pieces: readonly (string | Uint8Array)[],
  { paceMs = 0, isEnded = false }: RawOptions = {},
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => void chunks.push(chunk));
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  await writeAll(socket, pieces, { paceMs, closed });
  if (isEnded) socket.end();
  await Promise.race([closed, silence(chunks)]);
  socket.destroy();
  return Buffer.concat(chunks).toString('latin1');
}

async function writeAll(
  socket: Socket,
  pieces: readonly (string | Uint8Array)[],
  { paceMs, closed }: { readonly paceMs: number; readonly closed: Promise<void> },
): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    const isWritten = new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    await Promise.race([isWritten, closed]);
    if (paceMs > 0) await new Promise((resolve) => setTimeout(resolve, paceMs));
  }
}

/** Half a second without a byte after the first one, or 15 seconds without any. */
async function silence(chunks: readonly Buffer[]): Promise<void> {
  let known = 0;
  let quietMs = 0;
  while (quietMs < (chunks.length > 0 ? 500 : 15_000)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    quietMs = chunks.length > known ? 0 : quietMs + 50;
    known = chunks.length;
  }
}

export function statusesIn(answer: string): number[] {
  return [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

export function post(path: string, body: string | Uint8Array, headers: readonly string[] = []): Uint8Array {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    `content-length: ${bytes.length}`,
    'connection: close',
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes]);
}
