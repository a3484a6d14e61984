import { existsSync } from 'node:fs';
import { RuntimeError } from '../../../errors.ts';
import type { FoundState, Runtime } from '../../../runtime/open-runtime.ts';
import type { OpenOptions, Situation } from '../command.ts';
import { ambiguous, completeId, type IdKind, matchesId } from '../id.ts';

/** An id as it was typed, and what it is of. */
export interface Wanted {
  readonly kind: IdKind;
  readonly given: string;
}

/** What it takes to look for state stores. */
export interface Searching extends Pick<Situation, 'open' | 'options' | 'isConfigGiven'> {
  readonly terminal: Pick<Situation['terminal'], 'tell'>;
}

/** A runtime whose state store knows the id, and the whole id. */
export interface Located {
  readonly runtime: Runtime;
  readonly id: string;
}

/**
 * Opens the runtime that knows an id: that of --config or ./runtime.yaml; without either, the one that the state
 * stores below the current folder have kept it for. Throws USAGE when several do, RUN_UNKNOWN when none does.
 */
export async function openFor(situation: Situation, wanted: Wanted, more?: OpenOptions): Promise<Located> {
  const runtime = await situation.open(await configFor(situation, wanted), more);
  return { runtime, id: await wholeId(runtime, wanted) };
}

/**
 * Opens the runtimes of all state stores that there are, each store with one: several only without a config.
 * A store whose configs are gone is left out, and that is told.
 */
export async function openAll(situation: Situation): Promise<Runtime[]> {
  return isNamed(situation) ? [await situation.open()] : await openFound(situation, await findHere());
}

/** The same of the results of suites. */
export async function openKeepers(situation: Searching): Promise<Runtime[]> {
  if (isNamed(situation)) return [await situation.open()];
  const { findResults } = await import('../../../runtime/open-runtime.ts');
  return await openFound(situation, await findResults(process.cwd()));
}

/** Throws USAGE unless there is one: what is removed is gone, and nobody should have to guess from which store. */
export function requireOne([runtime, other]: readonly Runtime[]): Runtime {
  if (runtime !== undefined && other === undefined) return runtime;
  throw new RuntimeError('USAGE', 'there are several state stores below this folder', {
    hint: `Give the config of one, such as --config ${runtime?.file ?? 'FILE'}.`,
  });
}

async function openFound(situation: Searching, found: readonly FoundState[]): Promise<Runtime[]> {
  const configs = new Set<string>();
  for (const [store, states] of Map.groupBy(found, (state) => state.store)) {
    const usable = states.find(({ isUsable }) => isUsable);
    if (usable !== undefined) configs.add(usable.config);
    else {
      const gone = states.map(({ config }) => config).join(', ');
      situation.terminal.tell(`${store} is left out: ${gone} is gone, or works with another store`);
    }
  }
  if (configs.size === 0) return [await situation.open()];
  const runtimes: Runtime[] = [];
  for (const config of configs) runtimes.push(await situation.open(config));
  return runtimes;
}

/** The whole id that was meant, among those of a runtime. Throws USAGE, STORE_FAILED. */
export async function wholeId(runtime: Runtime, { kind, given }: Wanted): Promise<string> {
  return await completeId(given, kind, async () =>
    kind === 'run'
      ? (await runtime.runs.list()).map(({ run_id }) => run_id)
      : (await runtime.pending.list({ all: true })).map(({ id }) => id),
  );
}

async function configFor(situation: Situation, { kind, given }: Wanted): Promise<string> {
  if (isNamed(situation)) return situation.options.config;
  const states = await findHere();
  if (states.length === 0) return situation.options.config;
  const { store, config, isUsable } = onlyOne(given, matchesIn(states, { kind, given }), states);
  if (isUsable) return config;
  const message = `${store} knows "${given}", but ${config} is gone, or works with another store`;
  throw new RuntimeError('USAGE', message, {
    hint: 'Give the config that works with this store: --config FILE.',
  });
}

interface Match extends FoundState {
  readonly id: string;
}

function matchesIn(states: readonly FoundState[], { kind, given }: Wanted): Match[] {
  const matches = states.flatMap((state) =>
    state.ids.filter((id) => matchesId(id, given, kind)).map((id) => ({ ...state, id })),
  );
  const exact = matches.filter(({ id }) => id === given);
  return exact.length > 0 ? exact : matches;
}

function onlyOne(given: string, matches: readonly Match[], states: readonly FoundState[]): Match {
  const [first, ...others] = matches;
  if (first === undefined) {
    const stores = [...new Set(states.map(({ store }) => store))].join(', ');
    throw new RuntimeError('RUN_UNKNOWN', `no state store here knows "${given}": ${stores}`);
  }
  const different = others.filter(({ id }) => id !== first.id);
  if (different.length > 0) throw ambiguous(given, [first.id, ...different.map(({ id }) => id)]);
  if (others.length > 0) throw severalStores(given, matches);
  return first;
}

/** One store is a copy of the other, and only one of them can be meant. */
function severalStores(given: string, found: readonly FoundState[]): RuntimeError {
  const stores = found.map(({ store }) => store).join(', ');
  const configs = found.map(({ config }) => `--config ${config}`).join(' or ');
  return new RuntimeError('USAGE', `several state stores know "${given}": ${stores}`, {
    hint: `Give ${configs}.`,
  });
}

function isNamed({ isConfigGiven, options }: Pick<Situation, 'isConfigGiven' | 'options'>): boolean {
  return isConfigGiven || existsSync(options.config);
}

async function findHere() {
  const { findStates } = await import('../../../runtime/open-runtime.ts');
  return await findStates(process.cwd());
}
