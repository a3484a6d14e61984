import { PassThrough, Readable, Writable } from 'node:stream';

/** The streams that are terminals; stdin is one if both others are. */
export type TerminalStreams = 'both' | 'stdout' | 'stderr';

export interface StreamOptions {
  /** Written and ended. Null leaves stdin open; undefined means no stdin. */
  readonly stdin?: string | null | undefined;
  readonly terminal?: TerminalStreams | undefined;
}

export interface Streams {
  readonly streams: { readonly stdin: Readable; readonly stdout: Writable; readonly stderr: Writable };
  readonly texts: () => { readonly stdout: string; readonly stderr: string };
  /** Stdout and stderr together, in order, as a terminal would show them. */
  readonly screen: () => string;
}

const columns = 200;

export function openStreams({ stdin, terminal }: StreamOptions): Streams {
  const shown: Buffer[] = [];
  const isTTY = (name: TerminalStreams) => terminal === 'both' || terminal === name;
  const open = (name: 'stdout' | 'stderr') => openCapture(shown, isTTY(name));
  const [stdout, stderr] = [open('stdout'), open('stderr')];
  const input = stdin === null ? new PassThrough() : Readable.from(stdin ? [Buffer.from(stdin)] : []);
  return {
    streams: {
      stdin: Object.assign(input, { isTTY: terminal === 'both' }),
      stdout: stdout.stream,
      stderr: stderr.stream,
    },
    texts: () => ({ stdout: stdout.text(), stderr: stderr.text() }),
    // A terminal needs a carriage return for a new line.
    screen: () => Buffer.concat(shown).toString().replaceAll(/\r?\n/g, '\r\n'),
  };
}

function openCapture(shown: Buffer[], isTTY: boolean) {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      if (isTTY) shown.push(chunk);
      done();
    },
  });
  return {
    stream: Object.assign(stream, { isTTY, ...(isTTY && { columns }) }),
    text: () => Buffer.concat(chunks).toString(),
  };
}

/** Process-wide state that runs in one process must share. */
export interface Place {
  readonly cwd: string;
  /** Added to the existing environment. */
  readonly env: Readonly<Record<string, string>>;
}

let taken: { readonly key: string; users: number; readonly left: PromiseWithResolvers<void> } | undefined;

/** Works in a folder and an environment, concurrently with work of the same place, after work of any other. */
export async function within<T>(place: Place, work: () => Promise<T>): Promise<T> {
  const leave = await enter(place);
  try {
    return await work();
  } finally {
    leave();
  }
}

/** Waits until the process is in that folder and environment. It stays there until the returned function is called. */
export async function enter(place: Place): Promise<() => void> {
  const key = JSON.stringify(place);
  while (taken !== undefined && taken.key !== key) await taken.left.promise;
  taken ??= { key, users: 0, left: Promise.withResolvers() };
  const mine = taken;
  if (mine.users === 0) giveBack = take(place);
  mine.users += 1;
  return () => {
    mine.users -= 1;
    if (mine.users > 0) return;
    giveBack();
    taken = undefined;
    mine.left.resolve();
  };
}

let giveBack = () => {};

function take({ cwd, env }: Place): () => void {
  const before = { cwd: process.cwd(), env: { ...process.env } };
  process.chdir(cwd);
  Object.assign(process.env, env);
  return () => {
    process.chdir(before.cwd);
    for (const name of Object.keys(env)) {
      if (before.env[name] === undefined) delete process.env[name];
      else process.env[name] = before.env[name];
    }
  };
}
