import { AsyncLocalStorage } from 'node:async_hooks';
import { chmodSync, existsSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { stateOfFile } from '../../base/files/read-bounded.ts';
import { makePrivateFolder, socketPlace } from '../../base/files/socket-place.ts';
import { isObject } from '../../base/json/json.ts';
import { versionOf } from '../../base/version.ts';
import type { RuntimeEvent } from '../../contract/event.ts';
import type { WatchedRuntime } from '../../runtime/runtime.ts';
import { type CommandContext, launcherOf } from '../command.ts';
import { openInput } from '../input.ts';
import type { Invocation } from '../invocation.ts';
import { END, exchange } from '../process/ask-resident.ts';
import { openTerminal } from '../terminal.ts';
import { answerAgent, type Dialect, isDialect } from './answer.ts';

export interface AgentEvent {
  readonly dialect: Dialect;
  readonly event: Buffer;
  readonly cwd: string;
  readonly env: Invocation['env'];
  readonly level: Level | '';
  readonly within: string;
  readonly signal: AbortSignal;
  /** A runtime is about to open, which keeps the process busy. */
  readonly onOpening?: () => void;
}

type Level = NonNullable<CommandContext['options']['logLevel']>;

export interface AgentAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Something failed that may not fail for the command, so the answer is not certain to be its answer. */
  readonly isFaulty: boolean;
}

export interface Judge {
  /** Whether Signalbox itself is still the one that was started. */
  isCurrent(): boolean;
  /** Like the command for one event, with a runtime that is opened anew if a file of the config has changed. */
  judge(event: AgentEvent): Promise<AgentAnswer>;
  close(): Promise<void>;
}

/** `files` are absolute paths: the config and its overlays. */
export function openJudge({ invocation, openWhole }: CommandContext, files: readonly string[]): Judge {
  const [, program = ''] = invocation.program;
  const build = stateOfFile(program);
  const runtimes = openRuntimes(files);
  const judge: Judge['judge'] = async ({ dialect, event, cwd, env, level, within, signal, onOpening }) => {
    const [stdout, stderr] = [openCapture(), openCapture()];
    const streams = { stdin: Readable.from([event]), stdout: stdout.stream, stderr: stderr.stream };
    const own: Invocation = { ...invocation, ...streams, argv: ['hook', dialect], env, cwd, signal };
    let isFaulty = false;
    let [leave, retire] = [() => {}, () => {}];
    let write: WriteLog = () => {};
    const asCommand: CommandContext = {
      ...{ invocation: own, signal, isConfigGiven: true, openWhole },
      options: { config: files[0] ?? '', overlays: files.slice(1), color: true },
      ...{ terminal: openTerminal(own, true), input: openInput(own) },
      open: async (_file, { writeLog = () => {} } = {}) => {
        try {
          const { runtime, ...entered } = await runtimes.enter(env, level);
          ({ leave, retire } = entered);
          write = writeLog;
          entered.lines.forEach(write);
          return runtime;
        } catch (thrown) {
          isFaulty = true;
          throw thrown;
        }
      },
    };
    const onFault = ({ code }: RuntimeError) => {
      if (code !== 'STORE_FAILED') return;
      // Such as a store that was removed: this runtime would fail again.
      isFaulty = true;
      retire();
    };
    const scope: EventScope = {
      write: (lines) => write(lines),
      onOpening: () => onOpening?.(),
      onFailedOpen: () => {
        isFaulty = true;
      },
    };
    const work = async () => await answerAgent(asCommand, dialect, { answerWithin: within, onFault });
    const code = await scopes.run(scope, work).finally(() => leave());
    return { code, stdout: stdout.text(), stderr: stderr.text(), isFaulty };
  };
  return { isCurrent: () => stateOfFile(program) === build, judge, close: runtimes.close };
}

type WriteLog = (lines: string) => void;

interface EventScope {
  readonly write: WriteLog;
  readonly onOpening: () => void;
  /** A hook failed, and lets the event pass for that. It may have failed for want of a resource of this process. */
  readonly onFailedOpen: () => void;
}

/** The event to which log lines and decisions of a shared runtime belong. */
const scopes = new AsyncLocalStorage<EventScope>();

function openCapture() {
  const chunks: Buffer[] = [];
  const write = (chunk: Buffer, _encoding: string, done: () => void) => {
    chunks.push(chunk);
    done();
  };
  return { stream: new Writable({ write }), text: () => Buffer.concat(chunks).toString() };
}

interface Opened {
  readonly watched: Promise<WatchedRuntime>;
  /** What the log said while the runtime opened; the command says it at each event. */
  readonly lines: string[];
  users: number;
  isLeft: boolean;
}

/** Runtimes by environment and log level. At most `MOST_RUNTIMES` stay open without an event. */
function openRuntimes([file = '', ...overlays]: readonly string[]) {
  const opened = new Map<string, Opened>();
  const closing = new Set<Promise<void>>();
  const closeIfIdle = ({ isLeft, users, watched }: Opened) => {
    if (!isLeft || users > 0) return;
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
  const open = (env: Invocation['env'], level: Level | ''): Opened => {
    const lines: string[] = [];
    let isOpening = true;
    const write = (text: string) => (isOpening ? lines.push(text) : scopes.getStore()?.write(text));
    const log = { write, isTerminal: true, hasColour: false };
    const take = (event: RuntimeEvent) => {
      if (event.type !== 'decision' || event.mode === 'shadow') return;
      const { value } = event.metadata;
      if (isObject(value) && value['failed_open'] !== undefined) scopes.getStore()?.onFailedOpen();
    };
    const onEvent = { types: ['decision'] as const, take };
    const options = { env, overlays, launcher: launcherOf({ env }), ownsTelemetry: true, log, onEvent };
    scopes.getStore()?.onOpening();
    const watched = import('../../runtime/runtime.ts')
      .then(({ loadWatched }) => loadWatched())
      .then(async ({ openWatchedRuntime }) =>
        openWatchedRuntime(file, { ...options, ...(level && { logLevel: level }) }),
      )
      .finally(() => {
        isOpening = false;
      });
    return { watched, lines, users: 0, isLeft: false };
  };
  return {
    /** Throws the errors of a config with mistakes. */
    enter: async ({ _, ...env }: Invocation['env'], level: Level | '') => {
      // Shells set `_` anew for each command, so it cannot tell runtimes apart.
      const variables = Object.entries(env).map((pair) => pair.join('='));
      const key = JSON.stringify([level, variables.toSorted()]);
      for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
        const known = opened.get(key);
        const one = known ?? open(env, level);
        // Moved to the end: the first one has been unused for the longest time.
        opened.delete(key);
        opened.set(key, one);
        one.users += 1;
        const leave = () => {
          one.users -= 1;
          closeIfIdle(one);
        };
        try {
          const { runtime, isFresh } = await one.watched;
          // Checked after the event has arrived, and before it is judged.
          if (!one.isLeft && isFresh()) {
            for (const [old, each] of opened)
              if (opened.size > MOST_RUNTIMES && each.users === 0) retire(old, each);
            return { runtime, lines: one.lines, leave, retire: () => retire(key, one) };
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

const MOST_RUNTIMES = 4;
const MOST_ATTEMPTS = 20;
const SETTLE_MS = 20;

export interface Resident {
  /** Resolves once the resident does not listen any more. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/**
 * Listens on the socket of these files. Undefined if a resident of this version listens there already. Ends after
 * `idleMs` without an event, and once it is not wanted, or another process listens there. Throws LISTEN_FAILED.
 */
export async function openResident(
  judge: Judge,
  {
    files,
    env,
    idleMs = Number.POSITIVE_INFINITY,
    isWanted = () => true,
  }: {
    readonly files: readonly string[];
    readonly env: Invocation['env'];
    readonly idleMs?: number;
    readonly isWanted?: () => boolean;
  },
): Promise<Resident | undefined> {
  const { folder, socket } = socketPlace(files, env);
  const version = versionOf();
  if (await isAnswered(socket, version)) return undefined;
  const leaving = Promise.withResolvers<void>();
  let [running, idleSince, hasAnswered] = [0, performance.now(), false];
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
    const asked =
      verb === 'hook' && isDialect(dialect)
        ? parse(Buffer.concat(await Array.fromAsync(request)))
        : undefined;
    if (asked === undefined || dialect === undefined || !isDialect(dialect))
      return void response.writeHead(400).end();
    const isCurrent = judge.isCurrent();
    if (!isCurrent) leaving.resolve();
    if (asked.version !== version || asked.files !== files.join('\n') || !isCurrent)
      return void response.writeHead(409).end();
    const gone = new AbortController();
    response.writeHead(200, { 'content-type': 'text/plain' });
    const beat = () => void response.write('\n');
    // A fast answer is faster without a sign of life. The first one loads modules, and a long text blocks the process.
    if (!hasAnswered || asked.event.length > LONG_EVENT) beat();
    const heartbeat = setInterval(beat, HEARTBEAT_MS);
    response.once('close', () => response.writableFinished || gone.abort());
    const { code, stdout, stderr, isFaulty } = await judge
      .judge({ ...asked, dialect, signal: gone.signal, onOpening: beat })
      .finally(() => clearInterval(heartbeat));
    hasAnswered = true;
    // The command then judges, and says what is wrong.
    if (isFaulty || !/^(?:[^\n]+\n)?$/.test(stdout)) return void response.destroy();
    response.end(`${code}\n${stdout.slice(0, -1)}\n${stderr}${END}`);
  };
  const own = await listenAt(server, { folder, socket });
  const check = setInterval(() => {
    const isIdle = running === 0 && performance.now() - idleSince > idleMs;
    if (isIdle || identityOf(socket) !== own || !judge.isCurrent() || !isWanted()) leaving.resolve();
  }, CHECK_MS);
  const close = async () => {
    leaving.resolve();
    await ended;
  };
  const ended = leaving.promise.then(async () => {
    clearInterval(check);
    if (identityOf(socket) === own) rmSync(socket, { force: true });
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      setTimeout(() => server.closeAllConnections(), DRAIN_MS).unref();
    });
  });
  return { ended, close };
}

const PROBE_MS = 2_000;
const HEARTBEAT_MS = 150;
const LONG_EVENT = 32 * 1024;
const CHECK_MS = 2_000;
const DRAIN_MS = 5_000;
/** In which a client must have sent its event. */
const REQUEST_MS = 30_000;

/** A resident that has stopped answers nothing; its place is taken. */
async function isAnswered(socket: string, version: string): Promise<boolean> {
  return existsSync(socket) && (await exchange(socket, '/version', { firstByteMs: PROBE_MS })) === version;
}

/** Resolves to the identity of the socket. The rename takes the place of a socket whose process has ended, at once. */
async function listenAt(
  server: ReturnType<typeof createServer>,
  { folder, socket }: { readonly folder: string; readonly socket: string },
): Promise<string | undefined> {
  const draft = `${socket}.${Math.random().toString(36).slice(2, 8)}`;
  try {
    makePrivateFolder(folder);
    await new Promise<void>((resolve, reject) =>
      // In a cluster, every process would get its connections.
      server.once('error', reject).listen({ path: draft, exclusive: true }, () => resolve()),
    );
    chmodSync(draft, 0o600);
    // Read before the rename, after which the place may soon be another's.
    const identity = identityOf(draft);
    renameSync(draft, socket);
    server.removeAllListeners('error').on('error', () => {});
    return identity;
  } catch (cause) {
    server.close();
    rmSync(draft, { force: true });
    throw new RuntimeError('LISTEN_FAILED', `${socket}: ${toRuntimeError(cause).message}`, { cause });
  }
}

/** Undefined if there is no such file. An inode alone is soon that of another file. */
function identityOf(path: string): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stat && `${stat.ino} ${stat.birthtimeNs}`;
}

/** The fields of the client in cli/process/ask-resident.ts. Undefined for any other text. */
function parse(body: Buffer) {
  const [version, cwd, files, level, within, ...rest] = body.toString().split('\0');
  const event = rest.pop();
  if (within === undefined || cwd === undefined || !isLevel(level) || rest.pop() !== '') return undefined;
  // Paths that are not UTF-8 look alike here, and a folder that was removed has none.
  if (!cwd.startsWith('/') || `${cwd}${files}`.includes('\uFFFD')) return undefined;
  const env: Record<string, string> = {};
  for (const variable of rest) {
    const equals = variable.indexOf('=', 1);
    if (equals < 1) return undefined;
    env[variable.slice(0, equals)] = variable.slice(equals + 1);
  }
  return { version, cwd, files, level, within, env, event: Buffer.from(event ?? '', 'base64') };
}

function isLevel(text: string | undefined): text is Level | '' {
  return text !== undefined && ['', 'trace', 'debug', 'info', 'warn', 'error', 'silent'].includes(text);
}
