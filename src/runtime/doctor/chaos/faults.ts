import { symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { makeTempFolder, removeTempFolder } from '../../../base/files/temp-folder.ts';
import type { Utterance } from '../../../dialects/foreign-dialect.ts';
import type { Binding } from '../../../process/binding.ts';

export type HookForm = 'oneshot' | 'server' | 'http';

export interface Fault {
  readonly name: string;
  readonly title: string;
  /** What the program prints, if some systems accept it as an answer. */
  readonly says?: Utterance;
  readonly oneshot?: string;
  /** sh lines for each request: `$id` is its ID, `$1` is a consent. */
  readonly server?: string;
  readonly http?:
    | ('hang' | 'junk' | 'nothing' | 'half' | 'flood' | 'hang up' | 'cut')
    | ('status 500' | 'status 202' | 'redirect' | 'html' | 'refuse');
  /** A fault for native hooks only; other systems may accept it as an answer. */
  readonly isNativeOnly?: true;
  /** `missing`: the program does not exist. `deleted`: it is removed after one consent. */
  readonly file?: 'missing' | 'deleted';
  readonly isUngreeted?: true;
  /** The forms in which the fault shows only as a timeout. */
  readonly isSilentFor?: readonly HookForm[];
}

const hang = 'PATH=$PATH:/bin:/usr/bin; exec sleep 600';
const block = 's=0123456789abcdef; s=$s$s$s$s; s=$s$s$s$s; s=$s$s$s$s; s=$s$s$s$s';

const endings = [1, 2, 126, 127].map(
  (code): Fault => ({
    ...{ name: `exit_${code}`, title: `exits with code ${code}` },
    ...{ oneshot: `exit ${code}`, server: `exit ${code}` },
    ...(code === 2 && { says: 'exit 2' }),
  }),
);

export const faults: readonly Fault[] = [
  {
    ...{ name: 'timeout', title: 'gives no answer in time' },
    ...{ oneshot: hang, server: hang, http: 'hang', isSilentFor: ['oneshot', 'server', 'http'] },
  },
  ...['SEGV', 'KILL'].map((signal) => ({
    ...{ name: `sig${signal.toLowerCase()}`, title: `is ended by SIG${signal} before it answers` },
    ...{ oneshot: `kill -${signal} $$`, server: `kill -${signal} $$` },
  })),
  ...endings,
  {
    ...{ name: 'junk', title: 'prints something that is not an answer', says: 'text' },
    ...{ oneshot: 'echo not an answer', server: 'echo not an answer', http: 'junk', isSilentFor: ['server'] },
  },
  {
    ...{ name: 'nothing', title: 'exits with code 0 and prints nothing', says: 'silence' },
    ...{ oneshot: ':', server: 'exit 0', http: 'nothing' },
  },
  {
    ...{ name: 'half_answer', title: 'exits with code 0 in the middle of its answer' },
    ...{
      oneshot: 'printf \'{"allow": tr\'',
      server: 'printf \'{"jsonrpc": "2.0", "id": %s, "resu\' "$id"; exit 0',
      http: 'half',
    },
  },
  {
    ...{ name: 'flood_stdout', title: 'prints without end' },
    ...{ oneshot: `${block}; while :; do printf %s "$s"; done`, http: 'flood' },
    server: `${block}; while :; do printf %s "$s"; done`,
  },
  {
    ...{ name: 'flood_stderr', title: 'writes 1 MiB to stderr and exits with code 1' },
    oneshot: `${block}; n=0; while [ $n -lt 256 ]; do printf %s "$s" >&2; n=$((n + 1)); done; exit 1`,
    server: `${block}; n=0; while [ $n -lt 256 ]; do printf %s "$s" >&2; n=$((n + 1)); done; exit 1`,
  },
  { name: 'missing', title: 'is a command that does not exist', file: 'missing', http: 'refuse' },
  { name: 'deleted', title: 'is deleted between two calls', file: 'deleted' },
  {
    ...{ name: 'wrong_id', title: 'answers a different request', isSilentFor: ['server'] },
    server: 'printf \'{"jsonrpc": "2.0", "id": 987654321, "result": %s}\\n\' "$1"',
  },
  { name: 'no_greeting', title: 'does not answer the greeting', isUngreeted: true, isSilentFor: ['server'] },
  { name: 'hang_up', title: 'closes the connection', http: 'hang up' },
  { name: 'status_500', title: 'answers with status 500', http: 'status 500' },
  { name: 'redirect', title: 'answers with a redirect', http: 'redirect' },
  { name: 'cut_off', title: 'closes the connection in the middle of its answer', http: 'cut' },
  { name: 'status_202', title: 'allows with status 202', http: 'status 202', isNativeOnly: true },
  { name: 'html', title: 'allows with a body of type HTML', http: 'html', isNativeOnly: true },
];

export function faultsOf(
  form: HookForm,
  { isGreeted, isNative }: { readonly isGreeted: boolean; readonly isNative: boolean },
): readonly Fault[] {
  return faults.filter((fault) => {
    if (fault.isNativeOnly === true && !isNative) return false;
    if (fault.isUngreeted === true) return isGreeted;
    return fault[form] !== undefined || (fault.file !== undefined && form !== 'http');
  });
}

type HttpFault = NonNullable<Fault['http']>;

export interface FailingEndpoint {
  urlOf(fault: HttpFault | 'consent' | 'allow'): string;
  close(): Promise<void>;
}

export async function openFailingEndpoint(): Promise<FailingEndpoint> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => answer(decodeURIComponent(request.url ?? '/').slice(1), response));
  });
  const port = await listen(server);
  const closed = createServer();
  const closedPort = await listen(closed);
  await close(closed);
  return {
    urlOf: (fault) =>
      fault === 'refuse' ? addressOf(closedPort) : `${addressOf(port)}/${encodeURIComponent(fault)}`,
    close: async () => {
      server.closeAllConnections();
      await close(server);
    },
  };
}

type Server = ReturnType<typeof createServer>;

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address: AddressInfo | string | null = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function close(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}

function addressOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function answer(fault: string, response: ServerResponse): void {
  switch (fault) {
    case 'hang':
      return;
    case 'hang up':
      response.destroy();
      return;
    case 'allow':
      response.writeHead(200, json).end(consent);
      return;
    case 'status 500':
      response.writeHead(500, json).end(consent);
      return;
    case 'status 202':
      response.writeHead(202, json).end(consent);
      return;
    case 'redirect':
      response.writeHead(307, { location: '/allow' }).end();
      return;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end(consent);
      return;
    case 'cut':
      response.writeHead(200, { ...json, 'content-length': 1000 }).write(consent, () => response.destroy());
      return;
    case 'junk':
      response.writeHead(200, json).end('not an answer');
      return;
    case 'half':
      response.writeHead(200, json).end('{"allow": tr');
      return;
    case 'flood':
      flood(response);
      return;
    default:
      response.end();
  }
}

const json = { 'content-type': 'application/json' };
const consent = '{"allow": true}';

function flood(response: ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write(spaces));
  };
  response.on('drain', more);
  more();
}

const spaces = ' '.repeat(64 * 1024);

export interface Speech {
  readonly consent: string;
  readonly greeting?: string | undefined;
}

export interface StandIn extends Pick<Binding, 'command' | 'args'> {
  readonly remove?: () => void;
}

export interface Programs {
  consenting(mode: Binding['mode'], speech: Speech): StandIn;
  failing(fault: Fault, mode: Binding['mode'], speech: Speech): StandIn;
  close(): void;
}

export function openPrograms(): Programs {
  const folder = makeTempFolder('doctor');
  let count = 0;
  for (const mode of ['oneshot', 'server'] as const) {
    const script = scriptOf(mode, mode === 'oneshot' ? sayOnce : `${reply}; exit 0`);
    writeFileSync(join(folder, mode), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  }
  const deleted = (mode: Binding['mode'], args: readonly string[]): StandIn => {
    count += 1;
    const command = join(folder, `deleted-${count}`);
    symlinkSync(join(folder, mode), command);
    return { command, args, remove: () => unlinkSync(command) };
  };
  return {
    consenting: (mode, speech) => inShell(mode, mode === 'oneshot' ? sayOnce : reply, speech),
    failing: (fault, mode, speech) => {
      if (fault.file === 'missing') return { command: join(folder, 'missing'), args: [] };
      if (fault.file === 'deleted') return deleted(mode, argsOf(speech));
      if (fault.isUngreeted === true) return inShell(mode, ':', { consent: speech.consent });
      return inShell(mode, fault[mode] ?? ':', speech);
    },
    close: () => removeTempFolder(folder),
  };
}

const sayOnce = 'printf %s "$1"';
const reply = 'printf \'{"jsonrpc": "2.0", "id": %s, "result": %s}\\n\' "$id" "$1"';

function inShell(mode: Binding['mode'], lines: string, speech: Speech): StandIn {
  return { command: '/bin/sh', args: ['-c', scriptOf(mode, lines), 'sh', ...argsOf(speech)] };
}

function argsOf({ consent, greeting = '' }: Speech): string[] {
  return [consent, greeting];
}

/** `ulimit -c 0`: no core file is left in the folder of the hook. */
function scriptOf(mode: Binding['mode'], lines: string): string {
  if (mode === 'oneshot') return `ulimit -c 0\n${lines}`;
  return `ulimit -c 0
greeting=$2
while IFS= read -r line; do
  id=\${line#*\\"id\\":}
  id=\${id%%,*}
  if [ -n "$greeting" ]; then
    printf '{"jsonrpc": "2.0", "id": %s, "result": %s}\\n' "$id" "$greeting"
    greeting=
    continue
  fi
  ${lines}
done`;
}
