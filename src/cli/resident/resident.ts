import { AsyncLocalStorage } from 'node:async_hooks';
import { chmodSync, existsSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { stateOfFile } from '../../base/files/read-bounded.ts';
import { makePrivateFolder, socketPlace } from '../../base/files/socket-place.ts';
import { versionOf } from '../../base/version.ts';
import type { WatchedRuntime } from '../../runtime/runtime.ts';
import { type CommandContext, launcherOf } from '../command.ts';
import { answerAgent, type Dialect, isDialect } from '../commands/hook-agent.ts';
import { openInput } from '../input.ts';
import type { Invocation } from '../invocation.ts';
import { END, exchange } from '../process/ask-resident.ts';
import { openTerminal } from '../terminal.ts';

export interface AgentEvent {
  readonly dialect: Dialect;
  readonly event: Buffer;
  readonly cwd: string;
  readonly env: Invocation['env'];
  readonly level: string;
  readonly within: string;
  readonly signal: AbortSignal;
}

export interface AgentAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Why the answer is a denial that the command may give in other words, such as a mistake in the config. */
  readonly fault?: RuntimeError;
}

export interface Judge {
  /** Whether Signalbox itself is still the one that was started. */
  isCurrent(): boolean;
  /** Like the command for one event, with a runtime that is opened anew if a file of the config has changed. */
  judge(event: AgentEvent): Promise<AgentAnswer>;
  close(): Promise<void>;
}

/** `files` are absolute paths: the config and its overlays. */
export function openJudge(context: CommandContext, files: readonly string[]): Judge {
  const { invocation } = context;
  const [, program = ''] = invocation.program;
  const build = stateOfFile(program);
  const runtimes = openRuntimes(files);
  return {
    isCurrent: () => stateOfFile(program) === build,
    judge: async ({ dialect, event, cwd, env, level, within, signal }) => {
      const [stdout, stderr] = [openCapture(), openCapture()];
      const streams = { stdin: Readable.from([event]), stdout: stdout.stream, stderr: stderr.stream };
      const own: Invocation = { ...invocation, ...streams, argv: ['hook', dialect], env, cwd, signal };
      let fault: RuntimeError | undefined;
      let leave = () => {};
      const asCommand: CommandContext = {
        ...{ invocation: own, signal, isConfigGiven: true, openWhole: context.openWhole },
        options: { config: files[0] ?? '', overlays: files.slice(1), color: true },
        ...{ terminal: openTerminal(own, true), input: openInput(own) },
        open: async (_file, { writeLog = () => {} } = {}) => {
          try {
            const entered = await runtimes.enter({ env, level, writeLog });
            leave = entered.leave;
            return entered.runtime;
          } catch (thrown) {
            fault = toRuntimeError(thrown);
            throw thrown;
          }
        },
      };
      const code = await runtimes
        .within(async () => await answerAgent(asCommand, dialect, { answerWithin: within }))
        .finally(() => leave());
      return { code, stdout: stdout.text(), stderr: stderr.text(), ...(fault && { fault }) };
    },
    close: runtimes.close,
  };
}

function openCapture() {
  const chunks: Buffer[] = [];
  const write = (chunk: Buffer, _encoding: string, done: () => void) => {
    chunks.push(chunk);
    done();
  };
  return { stream: new Writable({ write }), text: () => Buffer.concat(chunks).toString() };
}

type WriteLog = (lines: string) => void;

interface Opened {
  readonly watched: Promise<WatchedRuntime>;
  readonly shellVariables: string;
  /** What the log said while the runtime opened; the command says it at each event. */
  readonly lines: string[];
  readonly listeners: Set<WriteLog>;
  isLeft: boolean;
}

/** Runtimes by environment and log level. At most `MOST_RUNTIMES` stay open without an event. */
function openRuntimes(files: readonly string[]) {
  const opened = new Map<string, Opened>();
  const closing = new Set<Promise<void>>();
  const current = new AsyncLocalStorage<{ write?: WriteLog }>();
  const closeIfIdle = ({ isLeft, listeners, watched }: Opened) => {
    if (!isLeft || listeners.size > 0) return;
    const closed: Promise<void> = watched
      .then(({ close }) => close())
      .catch(() => {})
      .finally(() => closing.delete(closed));
    closing.add(closed);
  };
  const retire = (key: string, one: Opened) => {
    if (opened.get(key) === one) opened.delete(key);
    if (one.isLeft) return;
    one.isLeft = true;
    closeIfIdle(one);
  };
  const open = (env: Invocation['env'], level: string): Opened => {
    const lines: string[] = [];
    const listeners = new Set<WriteLog>();
    let write: WriteLog = (text) => void lines.push(text);
    const watched = openWatched({ files, env, level, write: (text) => write(text) }).then((each) => {
      write = (text) =>
        (current.getStore()?.write ?? (listeners.size === 1 ? [...listeners][0] : undefined))?.(text);
      return each;
    });
    return { watched, lines, listeners, shellVariables: variablesIn(env, true), isLeft: false };
  };
  return {
    /** Runs the work of one event, to which the log lines of a shared runtime then belong. */
    within: <Result>(work: () => Promise<Result>) => current.run({}, work),
    /** Throws the errors of a config with mistakes. */
    enter: async ({ env, level, writeLog }: EnterOptions) => {
      const key = `${level}\0${variablesIn(env, false)}`;
      for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
        const known = opened.get(key);
        const one = known ?? open(env, level);
        // Moved to the end: the first one has been unused for the longest time.
        opened.delete(key);
        opened.set(key, one);
        const listener: WriteLog = (text) => writeLog(text);
        one.listeners.add(listener);
        const leave = () => {
          one.listeners.delete(listener);
          closeIfIdle(one);
        };
        try {
          const { runtime, isFresh, named } = await one.watched;
          // Checked after the event has arrived, and before it is judged.
          const isSame = named.size === 0 || one.shellVariables === variablesIn(env, true);
          if (isSame && !one.isLeft && isFresh()) {
            for (const text of one.lines) writeLog(text);
            for (const [old, { listeners }] of opened)
              if (opened.size > MOST_RUNTIMES && listeners.size === 0) retire(old, opened.get(old) ?? one);
            Object.assign(current.getStore() ?? {}, { write: listener });
            return { runtime, leave };
          }
        } catch (thrown) {
          retire(key, one);
          leave();
          throw thrown;
        }
        retire(key, one);
        leave();
        // A file that changes right now may change again without another time.
        if (known === undefined) await sleep(SETTLE_MS);
      }
      throw new RuntimeError('USAGE', 'the files of the config keep changing');
    },
    close: async () => {
      for (const [key, one] of opened) retire(key, one);
      await Promise.all(closing);
    },
  };
}

interface EnterOptions {
  readonly env: Invocation['env'];
  readonly level: string;
  readonly writeLog: WriteLog;
}

const MOST_RUNTIMES = 4;
const MOST_ATTEMPTS = 20;
const SETTLE_MS = 20;

/** Variables that shells set for each command. Only a config that names one of them reads it. */
const setByShells = ['_', 'SHLVL', 'PWD', 'OLDPWD', 'CLAUDE_ENV_FILE'] as const;
const isSetByShell: ReadonlySet<string> = new Set(setByShells);

function variablesIn(env: Invocation['env'], isOfShell: boolean): string {
  return Object.entries(env)
    .filter(([name]) => isSetByShell.has(name) === isOfShell)
    .map(([name, value]) => `${name}=${value}`)
    .toSorted()
    .join('\0');
}

interface Opening {
  readonly files: readonly string[];
  readonly env: Invocation['env'];
  readonly level: string;
  readonly write: WriteLog;
}

async function openWatched({ files, env, level, write }: Opening): Promise<WatchedRuntime> {
  const [file = '', ...overlays] = files;
  const { loadWatched } = await import('../../runtime/runtime.ts');
  const { openWatchedRuntime } = await loadWatched();
  const options = {
    ...{ env, overlays, launcher: launcherOf({ env }), log: { write, isTerminal: true, hasColour: false } },
    // Checked by the client.
    ...(isLevel(level) && { logLevel: level }),
  };
  return await openWatchedRuntime(file, options, setByShells.slice(1));
}

type Level = NonNullable<CommandContext['options']['logLevel']>;
const isLevel = (level: string): level is Level =>
  ['trace', 'debug', 'info', 'warn', 'error', 'silent'].includes(level);

export interface Resident {
  /** Resolves once the resident does not listen any more. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/**
 * Listens on the socket of these files. Undefined if a resident of this version listens there already. Ends after
 * `idleMs` without an event, and once another process listens there. Throws LISTEN_FAILED.
 */
export async function openResident(
  judge: Judge,
  {
    files,
    env,
    idleMs = Number.POSITIVE_INFINITY,
  }: { readonly files: readonly string[]; readonly env: Invocation['env']; readonly idleMs?: number },
): Promise<Resident | undefined> {
  const { folder, socket } = socketPlace(files, env);
  const version = versionOf();
  if (await isAnswered(socket, version)) return undefined;
  const leaving = Promise.withResolvers<void>();
  let [running, idleSince] = [0, performance.now()];
  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    running += 1;
    response.once('close', () => {
      running -= 1;
      idleSince = performance.now();
    });
    void serve(request, response).catch(() => void response.destroy());
  });
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const [, verb, dialect] = request.url?.split('/') ?? [];
    if (request.method !== 'POST') return void response.writeHead(405).end();
    if (verb === 'version') return void response.end(judge.isCurrent() ? version : '');
    if (verb === 'stop') {
      response.end();
      return leaving.resolve();
    }
    const asked = verb === 'hook' && isDialect(dialect) ? parse(await buffer(request)) : undefined;
    if (asked === undefined || dialect === undefined || !isDialect(dialect))
      return void response.writeHead(400).end();
    if (!judge.isCurrent()) leaving.resolve();
    if (asked.version !== version || asked.files !== files.join('\n') || !judge.isCurrent())
      return void response.writeHead(409).end();
    const gone = new AbortController();
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.write('\n');
    const heartbeat = setInterval(() => response.write('\n'), HEARTBEAT_MS);
    response.once('close', () => gone.abort());
    const { code, stdout, stderr, fault } = await judge
      .judge({ ...asked, dialect, signal: gone.signal })
      .finally(() => clearInterval(heartbeat));
    // The command says by itself what is wrong with the config.
    if (fault !== undefined || !/^(?:[^\n]+\n)?$/.test(stdout)) return void response.destroy();
    response.end(`${code}\n${stdout.slice(0, -1)}\n${stderr}${END}`);
  };
  const own = await listenAt(server, { folder, socket });
  const check = setInterval(() => {
    const isIdle = running === 0 && performance.now() - idleSince > idleMs;
    if (isIdle || inodeOf(socket) !== own || !judge.isCurrent()) leaving.resolve();
  }, CHECK_MS);
  const close = async () => {
    leaving.resolve();
    await ended;
  };
  const ended = leaving.promise.then(async () => {
    clearInterval(check);
    if (inodeOf(socket) === own) rmSync(socket, { force: true });
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      setTimeout(() => server.closeAllConnections(), DRAIN_MS).unref();
    });
  });
  return { ended, close };
}

const HEARTBEAT_MS = 250;
const CHECK_MS = 2_000;
const DRAIN_MS = 5_000;
/** In which a client must have sent its event. */
const REQUEST_MS = 30_000;

/** A resident that has stopped answers nothing; its place is taken. */
async function isAnswered(socket: string, version: string): Promise<boolean> {
  return existsSync(socket) && (await exchange(socket, '/version')) === version;
}

/** Resolves to the inode of the socket. The rename takes the place of a socket whose process has ended, at once. */
async function listenAt(
  server: ReturnType<typeof createServer>,
  { folder, socket }: { readonly folder: string; readonly socket: string },
): Promise<number | undefined> {
  const draft = `${socket}.${Math.random().toString(36).slice(2, 8)}`;
  try {
    makePrivateFolder(folder);
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(draft, () => resolve()));
    chmodSync(draft, 0o600);
    renameSync(draft, socket);
  } catch (cause) {
    server.close();
    rmSync(draft, { force: true });
    throw new RuntimeError('LISTEN_FAILED', `${socket}: ${toRuntimeError(cause).message}`, { cause });
  }
  server.removeAllListeners('error').on('error', () => {});
  return inodeOf(socket);
}

function inodeOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.ino;
}

/** The fields of the client in cli/process/ask-resident.ts. Undefined for any other text. */
function parse(body: Buffer) {
  const [version, cwd, files, level, within, ...rest] = body.toString().split('\0');
  const event = rest.pop();
  if (within === undefined || cwd === undefined || level === undefined || rest.pop() !== '') return undefined;
  const env: Record<string, string> = {};
  for (const variable of rest) {
    const equals = variable.indexOf('=', 1);
    if (equals < 1) return undefined;
    env[variable.slice(0, equals)] = variable.slice(equals + 1);
  }
  return { version, cwd, files, level, within, env, event: Buffer.from(event ?? '', 'base64') };
}
