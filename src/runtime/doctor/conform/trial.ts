import { type RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { sleep } from '../../../base/time/deadline.ts';
import type { Dropped, Emit } from '../../../contract/event.ts';
import type { Message, Reply } from '../../../contract/exchange.ts';
import type { Scrubber } from '../../../contract/scrub.ts';
import { excerpt } from '../../../dialects/body.ts';
import { signalGroup } from '../../../process/launch/process-groups.ts';
import { isComputing } from '../../../process/limits/supervisor.ts';
import { openUnpooled } from '../../../process/open.ts';
import type { ProcessContext } from '../../../process/process.ts';
import { PLAIN, type Speech, type Subject } from './subject.ts';

export interface Exchange {
  readonly sent: string;
  readonly received: string;
  readonly permits: boolean;
  readonly fault?: RuntimeError | undefined;
  /** The codec found the fault in this reply; absent: the transport found it. */
  readonly faulty?: Reply | undefined;
}

/** What a program did when it was asked. */
export interface Evidence {
  readonly exchanges: readonly Exchange[];
  readonly dropped: readonly Dropped[];
  readonly restarts: number;
  /** Whether the process ended by itself within the grace period; absent: nothing had to end it. */
  readonly hasEnded?: boolean | undefined;
}

export interface Trial {
  readonly subject: Subject;
  /** A request of the subject's first phase. */
  readonly encode: Speech['encode'];
  /** Throws ABORTED only. */
  ask(body: string, options?: AskOptions): Promise<Exchange>;
  /** Adds what the process did beside its replies. */
  observe(work: () => Promise<readonly Exchange[]>): Promise<Evidence>;
  /** Starts a server and asks it nothing. */
  idle(): Promise<Evidence>;
  /** Sends SIGTERM to a server that has answered. */
  terminate(): Promise<Evidence>;
  /** Ends the stdin of a server that has answered, and the trial. */
  endStdin(): Promise<Evidence>;
  close(): Promise<void>;
}

interface AskOptions extends Pick<Message, 'terminator'> {
  readonly speech?: Speech;
}

interface TrialContext extends Pick<ProcessContext, 'launch'> {
  readonly scrubber: Scrubber;
  readonly signal: AbortSignal | undefined;
}

/** Runs the program as the runtime does, but restarts a server at once and as often as it dies. */
export function openTrial(subject: Subject, { launch, scrubber, signal }: TrialContext): Trial {
  const { name, binding } = subject;
  const [first] = subject.speeches;
  const dropped: Dropped[] = [];
  const running = new Set<number>();
  const emit: Emit = (event) => {
    if (event.type === 'dropped') dropped.push(event);
    if (event.type === 'process.started') running.add(event.pid);
    if (event.type === 'process.ended') running.delete(event.pid);
  };
  const graceMs = Math.max(binding.graceMs, SHORTEST_GRACE_MS);
  const own = { ...binding, name, graceMs, restart, instances: 1, warm: false, spares: 0 };
  const transport = openUnpooled(own, { launch, emit, scrubber });

  const ask: Trial['ask'] = async (body, { speech = first, terminator = '\n' } = {}) => {
    const sent = excerpt(body);
    let reply: Reply | undefined;
    try {
      reply = await transport.exchange({ method: 'execute', body, takesMeta: true, terminator }, signal);
      return { sent, received: scrubber.text(textOf(reply)), permits: speech.permits(reply) };
    } catch (thrown) {
      signal?.throwIfAborted();
      const fault = toRuntimeError(thrown);
      const received = scrubber.text(describe(fault, reply));
      return { sent, received, permits: false, fault, ...(reply && { faulty: reply }) };
    }
  };
  const observe: Trial['observe'] = async (work) => {
    const [from, started] = [dropped.length, transport.startCount?.() ?? 0];
    const exchanges = await work();
    const restarts = (transport.startCount?.() ?? 0) - Math.max(1, started);
    return { exchanges, dropped: dropped.slice(from), restarts };
  };
  const isBusy = async () => (await Promise.all([...running].map(isComputing))).includes(true);
  const askOnce = () => observe(async () => [await ask(first.encode(PLAIN))]);
  return {
    ...{ subject, encode: first.encode, ask, observe },
    idle: () =>
      observe(async () => {
        transport.warm();
        // A program that is still starting has not been silent yet.
        const until = performance.now() + LONGEST_START_MS;
        do await sleep(SILENCE_MS, signal);
        while ((await isBusy()) && performance.now() < until && signal?.aborted !== true);
        return [];
      }),
    terminate: async () => {
      const evidence = await askOnce();
      const pids = [...running];
      for (const pid of pids) signalGroup(pid, 'SIGTERM');
      const until = performance.now() + graceMs;
      const isRunning = () => pids.some((pid) => running.has(pid));
      while (isRunning() && performance.now() < until && signal?.aborted !== true) await sleep(20, signal);
      return { ...evidence, hasEnded: !isRunning() };
    },
    endStdin: async () => {
      const evidence = await askOnce();
      const since = performance.now();
      await transport.close();
      return { ...evidence, hasEnded: performance.now() - since < graceMs };
    },
    close: () => transport.close(),
  };
}

const SILENCE_MS = 1_000;
const LONGEST_START_MS = 10_000;
const SHORTEST_GRACE_MS = 500;

const restart = {
  ...{ firstDelayMs: 0, maxDelayMs: 0, circuitPauseMs: 0 },
  circuitDeaths: Number.POSITIVE_INFINITY,
} as const;

function textOf(reply: Reply): string {
  if (reply.via === 'rpc') return reply.error?.text ?? reply.result?.text ?? 'null';
  return excerpt(Buffer.from(reply.stdout).toString().trim());
}

function describe({ code, message }: RuntimeError, reply: Reply | undefined): string {
  const printed = reply === undefined ? '' : textOf(reply);
  return `[${code}] ${message}${printed === '' ? '' : `: ${printed}`}`;
}
