import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { RuntimeError } from '../../src/base/errors.ts';
import type { RuntimeEvent } from '../../src/contract/event.ts';
import { volatileFieldsOf } from '../../src/dialects/registry.ts';
import type { Binding } from '../../src/process/binding.ts';
import { closeEnv, hostEnv } from '../../src/process/env.ts';
import type { InFlightBytes } from '../../src/process/in-flight-bytes.ts';
import { type LauncherName, openLauncher } from '../../src/process/launch/native.ts';
import type { FindGroups } from '../../src/process/limits/hold.ts';
import { openTransport } from '../../src/process/open.ts';
import { createPool, type Pool } from '../../src/process/pool.ts';
import type { Handshake, Reply, Transport } from '../../src/process/transport.ts';

/** The launchers that must work on this machine. */
export const launchers: readonly LauncherName[] =
  process.platform === 'linux' ? ['native', 'portable'] : ['portable'];

const bin = join(import.meta.dirname, '../fixtures/bin');

export function fixture(name: string): string {
  return join(bin, name);
}

const { variables } = closeEnv([], hostEnv());
// Puts the current Node first and avoids the python3 shims of version managers, which start slowly.
const path = [dirname(process.execPath), '/usr/bin', '/bin', variables['PATH'] ?? ''].join(delimiter);
const env = { ...variables, PATH: path };

/** A one-shot binding of a fixture. Its limits are generous enough for a busy machine. */
export function bind(command: string, overrides: Partial<Binding> = {}): Binding {
  return {
    name: 'demo',
    capability: 'tool',
    dialect: 'promptkit',
    volatileFields: volatileFieldsOf('promptkit'),
    mode: 'oneshot',
    endpoint: null,
    command: command.includes('/') ? command : fixture(command),
    args: [],
    cwd: bin,
    env,
    secrets: [],
    timeoutMs: 15_000,
    graceMs: 150,
    drainMs: 250,
    maxOutputBytes: 1024 * 1024,
    leftovers: 'kill',
    concurrency: Number.POSITIVE_INFINITY,
    instances: 1,
    warm: false,
    spares: 0,
    isForked: false,
    restart: { firstDelayMs: 20, maxDelayMs: 100, circuitDeaths: 3, circuitPauseMs: 300 },
    limits: null,
    nice: null,
    sandbox: null,
    refused: null,
    ...overrides,
  };
}

export function bindServer(behaviour: string | readonly string[], overrides: Partial<Binding> = {}): Binding {
  return bind('server', { mode: 'server', args: [behaviour].flat(), ...overrides });
}

export function bindQuick(overrides: Partial<Binding> = {}): Binding {
  return bind('quick-server', { mode: 'server', ...overrides });
}

/** A binding of the fixture `puppet`, which writes the contents of each request. */
export function bindPuppet(overrides: Partial<Binding> = {}): Binding {
  return bind('puppet', { mode: 'server', ...overrides });
}

/** A transport and its events. It closes after the test unless it is shared. */
export interface Opened {
  readonly transport: Transport;
  readonly events: readonly RuntimeEvent[];
  /** Sends `{"args": …}` and resolves to the reply: all of stdout, or a server's result or error. */
  call(args?: object, signal?: AbortSignal): Promise<string>;
  /** The error of a call that must fail. */
  fault(args?: object, signal?: AbortSignal): Promise<RuntimeError>;
  /** Waits for the first event of that type after `skip` others. */
  event<Type extends RuntimeEvent['type']>(type: Type, skip?: number): Promise<EventOf<Type>>;
}

export type EventOf<Type extends RuntimeEvent['type']> = Extract<RuntimeEvent, { readonly type: Type }>;

export interface OpenOptions {
  readonly launcher?: LauncherName;
  readonly pool?: Pool;
  /** Default: the control groups of this process. */
  readonly findGroups?: FindGroups | undefined;
  readonly inFlight?: InFlightBytes;
  /** The first exchange after each start of a server. */
  readonly greeting?: Handshake;
  /** The caller closes the transport. */
  readonly shared?: boolean;
  readonly onEvent?: (event: RuntimeEvent) => void;
}

export async function open(binding: Binding, options: OpenOptions = {}): Promise<Opened> {
  const events: RuntimeEvent[] = [];
  const context = {
    launch: await openLauncher(options.launcher ?? 'auto'),
    ...{ findGroups: options.findGroups, inFlight: options.inFlight },
    emit: (event: RuntimeEvent) => {
      events.push(event);
      options.onEvent?.(event);
    },
  };
  const pool = options.pool ?? createPool(Number.POSITIVE_INFINITY);
  const transport = openTransport(binding, context, pool, options.greeting);
  if (options.shared !== true) onTestFinished(() => transport.close());
  const call = async (args: object = {}, signal?: AbortSignal) =>
    textOf(await transport.exchange({ method: 'execute', body: JSON.stringify({ args }) }, signal));
  return {
    transport,
    events,
    call,
    fault: (args, signal) => faultOf(call(args, signal)),
    event: (type, skip = 0) => waitFor(() => allOf(events, type)[skip], `${type} number ${skip}`),
  };
}

export function allOf<Type extends RuntimeEvent['type']>(
  events: readonly RuntimeEvent[],
  type: Type,
): EventOf<Type>[] {
  const isOfType = (event: RuntimeEvent): event is EventOf<Type> => event.type === type;
  return events.filter(isOfType);
}

/** The server output that was dropped, with its reason. */
export function dropped(events: readonly RuntimeEvent[]): string[] {
  return allOf(events, 'dropped').map(({ what, detail }) => `${what}: ${detail}`);
}

export function textOf(reply: Reply): string {
  if (reply.via === 'process') return Buffer.from(reply.stdout).toString();
  return (reply.result ?? reply.error)?.text ?? '';
}

/** The RuntimeError that a promise rejects with. Rethrows any other error. */
export async function faultOf(promise: Promise<unknown>): Promise<RuntimeError> {
  try {
    const value = await promise;
    throw new Error(`expected a fault, not ${JSON.stringify(value)}`);
  } catch (error) {
    if (error instanceof RuntimeError) return error;
    throw error;
  }
}

export function waitFor<Found>(find: () => Found | undefined, what: string): Promise<Found> {
  const look = () => {
    const found = find();
    if (found === undefined) throw new Error(`there is no ${what}`);
    return found;
  };
  return vi.waitFor(look, { timeout: 10_000, interval: 5 });
}

/** Fails after ten seconds. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  await waitFor(() => holds() || undefined, what);
}

/** False for a zombie. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/^\d+ \(.*\) Z/s.test(readFileSync(stat, 'utf8'));
}

export function numberAfter(word: string, text: string): number {
  const [, digits] = new RegExp(`${word} (\\d+)`).exec(text) ?? [];
  if (digits === undefined) throw new Error(`no number follows "${word}" in ${JSON.stringify(text)}`);
  return Number(digits);
}

export function stderrOf(events: readonly RuntimeEvent[]): string {
  return allOf(events, 'stderr')
    .map(({ line }) => `${line}\n`)
    .join('');
}

/** The number of requests that the fixture `overlap` served, and the most at once. */
export function readOverlap(file: string): { readonly calls: number; readonly most: number } {
  const marks = readFileSync(file, 'utf8');
  let running = 0;
  const depths = [...marks].map((mark) => {
    running += mark === '+' ? 1 : -1;
    return running;
  });
  return { calls: marks.length / 2, most: Math.max(...depths) };
}
