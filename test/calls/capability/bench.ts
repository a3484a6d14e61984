import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { FilterPort } from '../../../src/calls/capability/hook.ts';
import type { Port } from '../../../src/calls/capability/invoke.ts';
import type { NativeLink } from '../../../src/calls/hooks/gate.ts';
import { type ObserverQueue, openObserver, openShadow } from '../../../src/calls/hooks/observer-queue.ts';
import type { NativeName } from '../../../src/config/config.ts';
import type { EvalOutcome, EvalRequest } from '../../../src/contract/eval.ts';
import type { Capability, RuntimeEvent } from '../../../src/contract/event.ts';
import {
  type Answer,
  type HookKind,
  type NativeEvent,
  type Phase,
  phasesOf,
} from '../../../src/contract/hook.ts';
import type { ToolCall, ToolOutcome } from '../../../src/contract/tool.ts';
import type { Codec } from '../../../src/dialects/dialect.ts';
import { requireNative, volatileFieldsOf } from '../../../src/dialects/registry.ts';
import type { Binding, RestartPolicy } from '../../../src/process/binding.ts';
import { closeEnv, hostEnv } from '../../../src/process/env.ts';
import { openLauncher } from '../../../src/process/launch/native.ts';
import { openTransport } from '../../../src/process/open.ts';
import { createPool } from '../../../src/process/pool.ts';
import type { Transport as Carrier } from '../../../src/process/transport.ts';
import type { Transport } from '../../cite.ts';

export interface Entry {
  readonly runs: readonly [fixture: string, ...args: string[]];
  readonly on?: Transport;
  readonly name?: string;
  readonly dialect?: NativeName;
  /** Names or `NAME=value`, as in the file. */
  readonly env?: readonly string[];
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  readonly refused?: string;
  readonly restart?: RestartPolicy;
}

export interface HookEntry extends Entry {
  readonly kind?: HookKind;
  readonly phases?: readonly Phase[];
  /** false: declares that it never replaces anything. */
  readonly modifies?: boolean;
}

export interface Bench {
  readonly events: readonly RuntimeEvent[];
  tool(entry: Entry): Port<ToolCall, ToolOutcome>;
  evaluation(entry: Entry): Port<EvalRequest, EvalOutcome>;
  filter(entry: Entry): FilterPort;
  observer(entry: Entry): ObserverQueue;
  shadow(entry: Entry): ObserverQueue;
  /** The same as chain links. Default `phases`: every phase of the kind, which is `tool` by default. */
  links: Record<'filter' | 'observe' | 'shadow', (entry: HookEntry) => NativeLink>;
  started(): string[];
}

const launch = await openLauncher('auto');
const fixtures = resolve(import.meta.dirname, '../../fixtures/bin');

export function openBench(): Bench {
  const events: RuntimeEvent[] = [];
  const emit = (event: RuntimeEvent) => {
    events.push(event);
  };
  const pool = createPool(8);
  const carriers: Carrier[] = [];
  onTestFinished(async () => {
    await Promise.all(carriers.map((carrier) => carrier.close()));
  });
  const port = <Input, Output>(
    capability: Capability,
    entry: Entry,
    codec: Codec<Input, Output>,
  ): Port<Input, Output> => {
    const binding = bind(capability, entry);
    const transport = openTransport(binding, { launch, emit }, pool);
    carriers.push(transport);
    return { binding, transport, codec, emit };
  };
  const hook = (entry: Entry): Port<NativeEvent, Answer> => port('hook', entry, dialectOf(entry).hook);
  const bench: Omit<Bench, 'links'> = {
    events,
    tool: (entry) => port('tool', entry, dialectOf(entry).tool),
    evaluation: (entry) => port('eval', entry, dialectOf(entry).eval),
    filter: (entry) => ({ ...hook(entry), mode: 'filter' }),
    observer: (entry) => openObserver(hook(entry)),
    shadow: (entry) => openShadow({ ...hook(entry), mode: 'shadow' }),
    started: () => events.flatMap((event) => (event.type === 'process.started' ? [event.name] : [])),
  };
  return {
    ...bench,
    links: {
      filter: (entry) =>
        link(entry, { mode: 'filter', port: { ...bench.filter(entry), modifies: entry.modifies } }),
      observe: (entry) => link(entry, { mode: 'observe', follower: bench.observer(entry) }),
      shadow: (entry) => {
        const port: FilterPort = { ...hook(entry), mode: 'shadow' };
        return link(entry, { mode: 'shadow', follower: openShadow(port), port });
      },
    },
  };
}

function dialectOf({ dialect = 'promptkit' }: Entry) {
  return requireNative(dialect);
}

function link(entry: HookEntry, listener: NativeLink['listener']): NativeLink {
  const { name = 'entry', dialect = 'promptkit', kind = 'tool', phases = phasesOf[kind] } = entry;
  return { name, dialect, kind, phases, listener };
}

function bind(capability: Capability, entry: Entry): Binding {
  const { runs, on = 'oneshot', env = [], restart = patient, refused = null, ...rest } = entry;
  const [fixture, ...args] = runs;
  return {
    name: 'entry',
    capability,
    dialect: 'promptkit',
    volatileFields: volatileFieldsOf('promptkit'),
    mode: on,
    endpoint: null,
    command: join(fixtures, fixture),
    args,
    cwd: fixtures,
    env: closeEnv(env, hostEnv()).variables,
    secrets: [],
    timeoutMs: 15_000,
    graceMs: 200,
    drainMs: 100,
    maxOutputBytes: 1024 * 1024,
    leftovers: 'kill',
    concurrency: Number.POSITIVE_INFINITY,
    instances: 1,
    warm: false,
    spares: 0,
    isForked: false,
    ...rest,
    restart,
    limits: null,
    nice: null,
    sandbox: null,
    refused,
  };
}

const patient: RestartPolicy = { firstDelayMs: 1, maxDelayMs: 5, circuitDeaths: 100, circuitPauseMs: 1 };

/** The fixture that answers every request with `reply`, on either transport. */
export function answering(on: Transport, reply: string): Pick<Entry, 'on' | 'runs'> {
  return { on, runs: [on === 'oneshot' ? 'answers' : 'server-answers', reply] };
}

/** A new file for the records of fixtures. */
export function newRecord(): { readonly env: readonly string[]; readonly lines: () => string[] } {
  const file = join(mkdtempSync(join(tmpdir(), 'record-')), 'lines');
  return {
    env: [`RECORD_FILE=${file}`],
    lines: () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []),
  };
}

/** Polls `find` until it returns at least `count` items. Returns the last result after a generous limit. */
export async function eventually<T>(find: () => T[], count = 1): Promise<T[]> {
  for (let attempt = 0; attempt < 500; attempt++) {
    if (find().length >= count) break;
    await sleep(20);
  }
  return find();
}
