import { fstatSync, readSync, statSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { isPrivate, type SocketPlace, socketPlace } from '../../base/files/socket-place.ts';
import { versionOf } from '../../base/version.ts';

/** What a resident answered, or what the command needs to judge by itself. */
export interface Asked {
  readonly reply?: ResidentReply;
  /** With the rest of the time in `--answer-within`. */
  readonly argv: readonly string[];
  /** Undefined if stdin has not been read to its end. */
  readonly input?: Buffer;
  /** Watches for signals no more. Returns the one that has come. */
  readonly releaseSignals: () => NodeJS.Signals | undefined;
  /** The files of the config for which a resident is to be started. */
  readonly starts?: readonly string[];
}

export interface ResidentReply {
  readonly code: number;
  /** One line without its end, or empty: nothing is printed. */
  readonly line: string;
  readonly stderr: string;
}

/**
 * Asks the resident about the event of an agent. Undefined for other commands. Must cost little: loads `node:net` and
 * stdin only if there is a socket. Never rejects.
 */
export async function askResident(argv: readonly string[]): Promise<Asked | undefined> {
  const { env } = process;
  const words = readWords(argv);
  const cwd = currentFolder();
  if (words === undefined || cwd === undefined || env['SIGNALBOX_OWNER'] !== undefined) return undefined;
  // From here on, a signal denies.
  // An AbortController takes longer to create.
  const stopped = Promise.withResolvers<undefined>();
  let interruptedBy: NodeJS.Signals | undefined;
  const stop = (name: NodeJS.Signals) => {
    interruptedBy = name;
    stopped.resolve(undefined);
  };
  for (const name of interrupts) process.on(name, stop);
  const releaseSignals = () => {
    for (const name of interrupts) process.off(name, stop);
    return interruptedBy;
  };
  const files = words.configs.map((file) => resolve(cwd, file));
  const place = socketPlace(files, env);
  if (!isPrivate(place.folder, 'folder')) return { argv, releaseSignals };
  if (!isPrivate(place.socket, 'socket') || isOnTerminal())
    return { argv, releaseSignals, ...startsOf(place, files) };
  // `performance` takes a millisecond to load.
  const since = process.uptime();
  const withinMs = msOf(words.within);
  const late = setTimeout(stopped.resolve, withinMs ?? LONGEST_MS, undefined);
  const input = await readStdin(stopped.promise);
  const { dialect, within, level } = words;
  const fields = [versionOf(), cwd, files.join('\n'), level, within];
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const text = input && [...fields, ...variables, '', input.toString('base64')].join('\0');
  const answer =
    text === undefined
      ? undefined
      : await exchange(place.socket, `/hook/${dialect}`, { text, stopped: stopped.promise });
  clearTimeout(late);
  const reply = answer === undefined || interruptedBy !== undefined ? undefined : parseReply(answer);
  if (reply !== undefined) return { reply, argv, releaseSignals };
  const left = Math.floor((withinMs ?? Number.NaN) - (process.uptime() - since) * 1000);
  return {
    argv: Number.isNaN(left) ? argv : [...argv, '--answer-within', `${Math.max(1, left)}ms`],
    ...(input && { input }),
    releaseSignals,
    ...startsOf(place, files),
  };
}

/** Undefined if the folder was removed. */
function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

const interrupts = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Undefined for options that a resident does not know: the command then reads them itself. */
function readWords([group, dialect = '', ...options]: readonly string[]) {
  if (group !== 'hook' || !dialects.has(dialect)) return undefined;
  const configs: string[] = [];
  let [within, level] = ['590s', ''];
  for (let index = 0; index < options.length; index += 2) {
    const [option, value] = options.slice(index, index + 2);
    if (value === undefined || value === '' || /^-|[\0\n]/.test(value)) return undefined;
    if (option === '--config' || option === '-c') configs.push(value);
    else if (option === '--answer-within') within = value;
    else if (option === '--log-level') level = value;
    else return undefined;
  }
  return { dialect, configs: configs.length === 0 ? ['runtime.yaml'] : configs, within, level };
}

const dialects: ReadonlySet<string> = new Set(['claude', 'agentao', 'chibi']);

/** Empty if the user wants no resident, or somebody has just tried to start one. */
function startsOf({ wanted }: SocketPlace, files: readonly string[]): Pick<Asked, 'starts'> {
  const stat = statSync(wanted, { throwIfNoEntry: false });
  const isDue = stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) > RESTART_MS;
  return isDue ? { starts: files } : {};
}

const RESTART_MS = 10_000;
/** For a time that only the command can read. */
const LONGEST_MS = 600_000;

/** The command styles and escapes its output on a terminal. */
function isOnTerminal(): boolean {
  return [1, 2].some((fd) => fstatSync(fd).isCharacterDevice() && isatty(fd));
}

/**
 * Reads at once what agents have written, since opening the stream would take several milliseconds. A signal counts once
 * stdin has ended.
 */
async function readStdin(stopped: Promise<undefined>): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(64 * 1024);
      const count = readSync(0, chunk);
      if (count === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, count));
    }
  } catch {
    // For example EAGAIN: the rest has not been written, or the descriptor is shared with a terminal.
  }
  return await new Promise((resolve) => {
    void stopped.then(resolve);
    process.stdin
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', () => resolve(Buffer.concat(chunks)))
      .once('error', () => resolve(undefined));
  });
}

function msOf(duration: string): number | undefined {
  const [, count, unit = ''] = /^(\d+)(ms|s|m)$/.exec(duration) ?? [];
  return count === undefined ? undefined : Number(count) * ({ s: 1000, m: 60_000 }[unit] ?? 1);
}

/** The command line of a resident for these files, which ends once `agents down` has run. */
export function residentWords(files: readonly string[]): string[] {
  return ['agents', 'up', '--foreground', '--while-wanted', ...files.flatMap((file) => ['--config', file])];
}

/**
 * Sends one request, and resolves to the body of a reply with status 200 once the peer ended it. Undefined if the peer
 * is late: it says several times a second that it is alive, until it has decided. Never rejects.
 */
export async function exchange(
  socket: string,
  path: string,
  {
    text = '',
    stopped,
    firstByteMs = FIRST_BYTE_MS,
  }: { readonly text?: string; readonly stopped?: Promise<undefined>; readonly firstByteMs?: number } = {},
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const give = () => resolve(undefined);
  const finish = () => {
    const text = Buffer.concat(chunks).toString();
    const body = text.indexOf('\r\n\r\n');
    resolve(text.startsWith('HTTP/1.1 200 ') && body >= 0 ? text.slice(body + 4) : undefined);
  };
  const head = `POST ${path} HTTP/1.0\r\nHost: signalbox\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`;
  const take = (count: number, buffer: Uint8Array) => {
    chunks.push(Buffer.from(buffer.subarray(0, count)));
    clearTimeout(timer);
    if (buffer[count - 1] === END.charCodeAt(0)) {
      finish();
      return false;
    }
    timer = setTimeout(give, SILENCE_MS);
    return true;
  };
  // Events of a stream take longer until the first one.
  const onread = { buffer: Buffer.allocUnsafe(64 * 1024), callback: take };
  const connection = connect({ path: socket, onread });
  let timer = setTimeout(give, firstByteMs);
  void stopped?.then(resolve);
  connection.once('end', finish).once('error', give).once('close', give);
  // A second write fails if the peer has already answered and closed, and its answer would be lost.
  connection.write(head + text);
  const answer = await promise;
  clearTimeout(timer);
  // A client that exits with this answer does not wait for it.
  setImmediate(() => connection.destroy());
  return answer;
}

const FIRST_BYTE_MS = 500;
const SILENCE_MS = 1_500;

/** After heartbeats: the exit code, a line for stdout, a text for stderr, and the mark that nothing was cut. */
function parseReply(body: string): ResidentReply | undefined {
  const [, code, line = '', rest = ''] = /^\n*([012])\n([^\n]*)\n(.*)$/s.exec(body) ?? [];
  if (code === undefined || !rest.endsWith(END)) return undefined;
  return { code: Number(code), line, stderr: rest.slice(0, -END.length) };
}

/** No text of a reply has this character (end of transmission). */
export const END = '\u0004';

/** Prints a reply, and returns the exit code: 2 if stdout cannot be written. */
export function printReply({ code, line, stderr }: ResidentReply): number {
  try {
    if (line !== '') writeAll(1, `${line}\n`);
  } catch {
    return 2;
  }
  try {
    if (stderr !== '') writeAll(2, stderr);
  } catch {}
  return code;
}

function writeAll(fd: number, text: string): void {
  for (let rest = Buffer.from(text); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
