import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { CHANGING, watchReads } from '../../base/files/read-bounded.ts';
import { shareReads } from '../../base/time/async.ts';
import { type ListenAddress, requireListen } from '../../config/listen.ts';
import { type ClusterWorker, joinCluster, startClusterWorker } from '../../process/launch/cluster.ts';
import type { Runtime } from '../api.ts';
import type { GatewayDocument } from './document.ts';
import type { openServing, PreparedGateway } from './serve.ts';

export { isClusterWorker } from '../../process/launch/cluster.ts';

type Metrics = NonNullable<Runtime['telemetry']['metrics']>;
type MetricsText = Awaited<ReturnType<Metrics>>;

interface Share {
  /** From 1 to the number of processes. A process that takes the place of another has its number. */
  readonly place: number;
  /** Of the console. */
  readonly token: string;
}

/** The states of files, by path, when they were read. */
type Reads = Readonly<Record<string, string>>;

interface PreparedShare {
  readonly document: GatewayDocument;
  readonly reads: Reads;
}

interface ServedShare {
  readonly url: string;
  /** The addresses of other surfaces, or why they have none. */
  readonly shown: Readonly<
    Record<string, { readonly url: string } | { readonly reason: string } | undefined>
  >;
}

/** What a process of a gateway answers its supervisor. */
interface GatewayWorker {
  /** Opens the config as it is now. Rejects with the errors of the config. */
  prepare(share: Share): Promise<PreparedShare>;
  /** Turns to that config. The first time, it listens at the address. Rejects with LISTEN_FAILED. */
  commit(address: ListenAddress): Promise<ServedShare>;
  abort(): Promise<void>;
  /** Undefined without metrics. */
  metrics(): Promise<MetricsText | undefined>;
  /** As `close` of a served gateway. */
  stop(): Promise<number>;
}

interface GatewaySupervisor {
  /** Of all processes. */
  metrics(): Promise<MetricsText>;
  /** Keeps the metrics of this process, for when it has ended. */
  keepMetrics(text: string): Promise<void>;
  /** Prints on stdout. */
  print(line: string): Promise<void>;
}

type Functions = { readonly [name: string]: (value: never) => Promise<unknown> };

type Open = (share: GatewayShare, at: Share) => Promise<OpenedShare>;

interface OpenedShare extends Pick<ReturnType<typeof openServing>, 'prepare' | 'close'> {
  shownAt(url: string): ServedShare['shown'];
}

/** One of several processes of a gateway. Without its supervisor, Node ends it. */
export class GatewayShare implements GatewayWorker {
  readonly #open: Open;
  readonly #supervisor = joinCluster<GatewaySupervisor & Functions>(this);
  readonly #stop = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<number>();
  #own: OpenedShare | undefined;
  #prepared: PreparedGateway | undefined;
  #preparing: Promise<unknown> = Promise.resolve();
  #isStopping = false;
  #opened: Metrics | undefined;
  #current: Metrics | undefined;
  #reading: Promise<unknown> = Promise.resolve();
  #readsLeft = 0;
  /** While a config opens, the first process alone writes to the log. */
  isQuiet = false;

  constructor(open: Open) {
    this.#open = open;
  }

  /** Resolves when the signal or the supervisor has ended it. */
  async serve(signal: AbortSignal): Promise<void> {
    const keepMetrics = shareReads(async () => await this.#keepMetrics());
    setInterval(() => void keepMetrics().catch(() => {}), KEEP_MS).unref();
    signal.addEventListener('abort', () => this.#stop.resolve());
    if (!signal.aborted) await this.#stop.promise;
    this.#isStopping = true;
    await this.#preparing;
    const [cut = 0] = await Promise.all([this.#own?.close(), this.abort()]);
    this.#closed.resolve(cut);
    this.#supervisor.leave();
  }

  /** Replaces the metrics of a runtime by those of all processes. */
  wrap(runtime: Runtime): Runtime {
    const { telemetry } = runtime;
    this.#opened = telemetry.metrics;
    const { metrics } = this.#supervisor.remote;
    return this.#opened === undefined ? runtime : { ...runtime, telemetry: { ...telemetry, metrics } };
  }

  print(line: string): void {
    this.#supervisor.remote.print(line).catch(() => {});
  }

  noteEnd(): void {
    // The second time reads what was counted after the end.
    this.#readsLeft = 2;
  }

  async #keepMetrics(): Promise<void> {
    if (this.#readsLeft === 0) return;
    this.#readsLeft -= 1;
    const found = await this.metrics();
    if (found !== undefined) await this.#supervisor.remote.keepMetrics(found.text);
  }

  async prepare(at: Share): Promise<PreparedShare> {
    const next = this.#prepare(at);
    this.#preparing = next.catch(() => {});
    return await next;
  }

  async #prepare(at: Share): Promise<PreparedShare> {
    if (this.#isStopping) {
      const hint = 'Send SIGHUP again when another one has taken its place.';
      throw new RuntimeError('PROCESS_EXIT', 'one of the processes is about to end', { hint });
    }
    await this.abort();
    this.#own ??= await this.#open(this, at);
    this.isQuiet = at.place > 1;
    const { result, reads } = await watchedReads(this.#own.prepare).finally(() => {
      this.isQuiet = false;
    });
    this.#prepared = result;
    return { document: result.document, reads };
  }

  async commit(address: ListenAddress): Promise<ServedShare> {
    if (this.#prepared === undefined || this.#own === undefined)
      throw new RuntimeError('INTERNAL', 'nothing is prepared');
    const url = await this.#prepared.commit(address);
    this.#prepared = undefined;
    this.#current = this.#opened;
    return { url, shown: this.#own.shownAt(url) };
  }

  async abort(): Promise<void> {
    await this.#prepared?.abort();
    this.#prepared = undefined;
  }

  async metrics(): Promise<MetricsText | undefined> {
    // In turn, so that no older text replaces a newer one.
    const next = this.#reading.then(async () => await this.#current?.());
    this.#reading = next.catch(() => {});
    return await next;
  }

  async stop(): Promise<number> {
    this.#stop.resolve();
    return await this.#closed.promise;
  }
}

const KEEP_MS = 1_000;

/** Notes which files the work reads. */
async function watchedReads<Result>(work: () => Promise<Result>) {
  const states = new Map<string, string>();
  const stop = watchReads((path, state) =>
    states.set(path, (states.get(path) ?? state) === state ? state : CHANGING),
  );
  try {
    return { result: await work(), reads: Object.fromEntries(states) satisfies Reads };
  } finally {
    stop();
  }
}

export interface SuperviseOptions {
  readonly program: readonly string[];
  readonly argv: readonly string[];
  readonly count: number;
  readonly token: string;
  readonly print: (line: string) => void;
  readonly report: (line: string) => void;
  /** Called when all processes serve, before anything is printed. */
  readonly announce: (served: PreparedShare & ServedShare) => void;
}

type Member = ClusterWorker<GatewayWorker & Functions> & { metrics: string };

/**
 * Starts processes that serve one gateway at one address, and others in place of those that end. All use the same
 * config. Throws what the first one threw.
 */
export async function superviseGateway(options: SuperviseOptions) {
  const { program, argv, count, token, print, report, announce } = options;
  const members = new Map<number, Member>();
  /** The metrics of processes that have ended, as last read. */
  let ended = '';
  const announced = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<never>();
  const stopping = new AbortController();
  let address: ListenAddress | undefined;
  let reads: Reads = {};
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
  const own: Omit<GatewaySupervisor, 'keepMetrics'> = {
    metrics: async () => {
      const read = async (member: Member) => {
        const found = await member.remote.metrics();
        member.metrics = found?.text ?? '';
        return found?.type ?? '';
      };
      const readSoon = async (member: Member) =>
        await Promise.race([read(member).catch(() => ''), sleep(METRICS_MS, '', { ref: false })]);
      const types = await Promise.all([...members.values()].map(readSoon));
      const texts = [...members.values()].map(({ metrics }) => metrics).filter((text) => text !== '');
      return { type: types.find((type) => type !== '') ?? '', text: sumMetrics([...texts, ended]) };
    },
    print: async (line) => {
      await announced.promise;
      print(line);
    },
  };
  const startAt = (place: number): Member => {
    if (stopping.signal.aborted) throw noProcess();
    const keepMetrics = async (text: string) => {
      member.metrics = text;
    };
    const member: Member = {
      ...startClusterWorker(program, argv, { ...own, keepMetrics }),
      metrics: '',
    };
    members.set(place, member);
    void member.ended.then(() => {
      if (members.get(place) === member) members.delete(place);
      ended = sumMetrics([ended, member.metrics]);
    });
    return member;
  };
  const end = async (member: Member): Promise<number> => {
    const cut = await member.remote.stop().catch(() => 0);
    await member.ended;
    return cut;
  };
  const prepareAt = async (place: number) => {
    // Later, `keepAt` starts them.
    const member = members.get(place) ?? (address === undefined ? startAt(place) : undefined);
    if (member === undefined) throw noProcess();
    return await member.remote.prepare({ place, token });
  };

  /** All of these turn to the config as it is now, or none does. */
  const turnTo = async (wanted: readonly number[]): Promise<PreparedShare & ServedShare> => {
    for (let attempt = 1; ; attempt += 1) {
      // Others take the places of those that have ended.
      const places = address === undefined ? wanted : wanted.filter((place) => members.has(place));
      if (places.length === 0) throw noProcess();
      // The first one alone finds the mistakes of a config, and makes the files that all share.
      const settled = await Promise.allSettled(places.slice(0, 1).map(prepareAt));
      const isGood = settled.every(({ status }) => status === 'fulfilled');
      if (isGood) settled.push(...(await Promise.allSettled(places.slice(1).map(prepareAt))));
      const prepared = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      const [first] = prepared;
      if (first !== undefined && prepared.length === places.length && agree(prepared)) {
        const remotes = places.flatMap((place) => members.get(place)?.remote ?? []);
        const isFirst = address === undefined;
        const at = address ?? (await withPort(requireListen(first.document.listen, 8787)));
        address = at;
        const committed = await Promise.allSettled(remotes.map(({ commit }) => commit(at)));
        const lost = committed.find(({ status }) => status === 'rejected');
        // Later, only one that has ended fails, and another one takes its place.
        if (lost?.status === 'rejected' && isFirst) throw lost.reason;
        if (isFirst && !places.every((place) => members.has(place))) throw noProcess();
        const served = committed.find((each) => each.status === 'fulfilled')?.value;
        if (served === undefined) throw noProcess();
        reads = first.reads;
        return { ...first, ...served };
      }
      await Promise.allSettled(places.map(async (place) => await members.get(place)?.remote.abort()));
      const fault = settled.find((each) => each.status === 'rejected');
      const hasLost = address !== undefined && !places.every((place) => members.has(place));
      if (fault !== undefined && !hasLost) throw fault.reason;
      if (attempt === MOST_ATTEMPTS) throw new RuntimeError('USAGE', 'the files of the config keep changing');
      await sleep(SETTLE_MS);
    }
  };

  const replaceAt = async (place: number): Promise<Member> => {
    const member = startAt(place);
    try {
      const prepared = await prepareAt(place);
      if (address !== undefined && agree([{ reads }, prepared])) await member.remote.commit(address);
      else {
        await member.remote.abort();
        report('the config has changed, so all processes reload it');
        await turnTo([...members.keys()]);
      }
      return member;
    } catch (thrown) {
      await end(member);
      throw thrown;
    }
  };
  /** Keeps a process at this place. Ends the whole gateway if processes there keep ending at once. */
  const keepAt = async (place: number, first: Member): Promise<void> => {
    let early = 0;
    for (let member: Member | undefined = first; ; ) {
      const since = performance.now();
      let error = new RuntimeError('PROCESS_EXIT', `process ${member?.pid} ${await member?.ended}`);
      early = performance.now() - since < EARLY_MS ? early + 1 : 0;
      for (member = undefined; member === undefined; ) {
        if (stopping.signal.aborted) return;
        if (early >= MOST_EARLY) return failed.reject(error);
        const next =
          error.code === 'PROCESS_EXIT' ? 'another one takes its place' : 'the next attempt follows';
        report(`warning: ${error.message}; ${next}`);
        const waitMs = Math.min(FIRST_WAIT_MS * 2 ** early, LONGEST_WAIT_MS);
        await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
        if (stopping.signal.aborted) return;
        try {
          member = await inTurn(async () => await replaceAt(place));
        } catch (thrown) {
          error = toRuntimeError(thrown);
          // A config with mistakes does not end the others.
          const isOfConfig = error.code !== 'PROCESS_EXIT' && members.size > 0;
          early = Math.min(early + 1, isOfConfig ? MOST_EARLY - 1 : MOST_EARLY);
        }
      }
    }
  };
  const close = async (): Promise<number> => {
    stopping.abort();
    const cuts = await Promise.all([...members.values()].map(end));
    return cuts.reduce((sum, cut) => sum + cut, 0);
  };
  const places = Array.from({ length: count }, (_, index) => index + 1);
  try {
    announce(await inTurn(async () => await turnTo(places)));
  } catch (thrown) {
    await close();
    throw thrown;
  }
  announced.resolve();
  failed.promise.catch(() => {});
  for (const [place, member] of members) void keepAt(place, member);
  return {
    /** As that of a served gateway, for all processes or none. */
    reload: () => inTurn(async () => (await turnTo([...members.keys()])).document),
    /** Rejects if processes keep ending at once. */
    failed: failed.promise,
    close,
  };
}

/** The metrics of a process that takes longer, such as a stopped one, are those that were read before. */
const METRICS_MS = 2_000;
const MOST_ATTEMPTS = 20;
const SETTLE_MS = 25;
/** A process that has served for less has ended at once. */
const EARLY_MS = 1_000;
const MOST_EARLY = 5;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;

function noProcess(): RuntimeError {
  const hint = 'Send SIGHUP again when others have taken their places.';
  return new RuntimeError('PROCESS_EXIT', 'no process serves at the moment', { hint });
}

/** A free port in place of 0, so that a process that starts later gets the same one. */
async function withPort({ host, port }: ListenAddress): Promise<ListenAddress> {
  if (port !== 0) return { host, port };
  const server = createServer().listen({ host, port, exclusive: true });
  // The first process reports a host on which nobody can listen.
  await once(server, 'listening').catch(() => {});
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return { host, port: typeof address === 'object' && address !== null ? address.port : port };
}

/** Whether no file has changed from one reading to another. Files that only some have read may be of calls. */
function agree(all: readonly Pick<PreparedShare, 'reads'>[]): boolean {
  const [first, ...rest] = all.map(({ reads }) => reads);
  return rest.every((reads) =>
    Object.entries(reads).every(([path, state]) => {
      const known = first?.[path];
      return known === undefined || (known === state && state !== CHANGING);
    }),
  );
}

/** Adds counters and histograms. Gauges read the store, so the first text says them for all. */
function sumMetrics(texts: readonly string[]): string {
  const families = new Map<string, Map<string, number | string>>();
  for (const [index, text] of texts.entries()) {
    let [samples, isGauge] = [new Map<string, number | string>(), false];
    for (const line of text.split('\n')) {
      const [, name, more] = /^# [A-Z]+ (\S+) ?(.*)/.exec(line) ?? [];
      if (name !== undefined) {
        samples = families.get(name) ?? new Map();
        families.set(name, samples.set(line, ''));
        if (line.startsWith('# TYPE ')) isGauge = more === 'gauge';
      }
      const [, series, value = ''] = /^([^\s#{]+(?:\{.*\})?) (\S+)/.exec(line) ?? [];
      if (series === undefined || (isGauge && index > 0)) continue;
      samples.set(series, isGauge ? value : Number(samples.get(series) ?? 0) + Number(value));
    }
  }
  const lines = [...families.values()].flatMap((samples) => [...samples]);
  return lines.map(([series, value]) => (value === '' ? `${series}\n` : `${series} ${value}\n`)).join('');
}
