import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import type { Desk } from '../../console/remote.ts';
import type { PendingInfo } from '../../contract/approval.ts';
import type { FoundState, PendingPageFilter, Runtime } from '../../runtime/runtime.ts';
import type { CommandContext, OpenOptions } from '../command.ts';
import { ambiguousId, completeId, type IdKind, matchesId } from '../id.ts';
import type { Invocation } from '../invocation.ts';

export interface IdQuery {
  readonly kind: IdKind;
  readonly given: string;
}

export interface StoreContext extends Pick<CommandContext, 'open' | 'options' | 'isConfigGiven'> {
  readonly invocation: Pick<Invocation, 'cwd'>;
  readonly terminal: Pick<CommandContext['terminal'], 'printStderr'>;
}

export interface LocatedId {
  readonly runtime: Desk;
  readonly id: string;
}

/**
 * Opens the console of --remote, or the runtime of --config or ./runtime.yaml; without either, that of the state store below the current folder
 * that contains the id. Throws USAGE if several contain it, RUN_UNKNOWN if none does.
 */
export async function openForId(
  context: CommandContext,
  query: IdQuery,
  more?: OpenOptions,
): Promise<LocatedId> {
  const runtime =
    context.options.remote === undefined
      ? await context.open(await configFor(context, query), more)
      : await openConsole(context, context.options.remote);
  return { runtime, id: await resolveId(runtime, query) };
}

/** The console of --remote, or the runtimes of `openAllRuntimes`. */
export async function openDesks(context: CommandContext): Promise<readonly Desk[]> {
  const { remote } = context.options;
  return remote === undefined ? await openAllRuntimes(context) : [await openConsole(context, remote)];
}

async function openConsole({ invocation, signal }: CommandContext, url: string): Promise<Desk> {
  const { openRemote } = await import('../../console/remote.ts');
  return openRemote(url, { key: invocation.env['SIGNALBOX_KEY'], signal });
}

/** Without a config, opens a runtime for each state store below the current folder. */
export async function openAllRuntimes(context: CommandContext): Promise<Runtime[]> {
  return hasConfig(context)
    ? [await context.open()]
    : await openRuntimesOf(context, await findLocalStates(context));
}

export async function openResultRuntimes(context: StoreContext): Promise<Runtime[]> {
  if (hasConfig(context)) return [await context.open()];
  const { findResults } = await import('../../runtime/runtime.ts');
  return await openRuntimesOf(context, await findResults(context.invocation.cwd));
}

/** Throws USAGE if there are several, so that nothing is removed from the wrong store. */
export function requireOneRuntime<One extends Pick<Runtime, 'file'>>([runtime, other]: readonly One[]): One {
  if (runtime !== undefined && other === undefined) return runtime;
  throw new RuntimeError('USAGE', 'several state stores are in or below this folder', {
    hint: `Choose one by its config, such as --config ${runtime?.file ?? 'FILE'}.`,
  });
}

function reportStore(
  { invocation: { cwd }, terminal, options }: StoreContext,
  { store, config }: Pick<FoundState, 'store' | 'config'>,
): void {
  const place = (path: string) => relative(cwd, path);
  if (!options.json) terminal.printStderr(`reading ${place(store)}, the store of ${place(config)}`);
}

async function openRuntimesOf(context: StoreContext, found: readonly FoundState[]): Promise<Runtime[]> {
  const configs = new Set<string>();
  for (const [store, states] of Map.groupBy(found, (state) => state.store)) {
    const usable = states.find(({ isUsable }) => isUsable);
    if (usable !== undefined) configs.add(usable.config);
    else {
      const gone = states.map(({ config }) => config).join(', ');
      context.terminal.printStderr(`${store} is left out: ${gone} does not exist, or uses another store`);
    }
  }
  if (configs.size === 0) return [await context.open()];
  const runtimes: Runtime[] = [];
  for (const config of configs) runtimes.push(await context.open(config));
  for (const { store, config } of found) if (configs.has(config)) reportStore(context, { store, config });
  return runtimes;
}

/** Completes an id of a runtime. Throws STORE_FAILED, and USAGE if several match. */
export async function resolveId(runtime: Desk, { kind, given }: IdQuery): Promise<string> {
  return await completeId(given, kind, async () => {
    if (kind === 'run') return (await runtime.runs.list({ children: true })).map(({ run_id }) => run_id);
    const ids: string[] = [];
    for await (const { id } of pagedCalls(runtime, { status: 'all' })) ids.push(id);
    return ids;
  });
}

/** All calls of the filter, read in pages. */
export async function* pagedCalls(runtime: Desk, filter: PendingPageFilter): AsyncGenerator<PendingInfo> {
  for (let after: string | undefined; ; ) {
    const { pending, next } = await runtime.pending.page({ ...filter, after, limit: PAGE_SIZE });
    yield* pending;
    if (next === undefined) return;
    after = next;
  }
}

const PAGE_SIZE = 500;

async function configFor(context: CommandContext, { kind, given }: IdQuery): Promise<string> {
  if (hasConfig(context)) return context.options.config;
  const states = await findLocalStates(context);
  if (states.length === 0) return context.options.config;
  const { store, config, isUsable } = requireOneMatch(given, matchesIn(states, { kind, given }), states);
  if (isUsable) {
    reportStore(context, { store, config });
    return config;
  }
  const message = `${store} has "${given}", but ${config} does not exist, or uses another store`;
  throw new RuntimeError('USAGE', message, {
    hint: 'Name the config that uses this store: --config FILE.',
  });
}

interface IdMatch extends FoundState {
  readonly id: string;
}

function matchesIn(states: readonly FoundState[], { kind, given }: IdQuery): IdMatch[] {
  const matches = states.flatMap((state) =>
    state.ids.filter((id) => matchesId(id, given, kind)).map((id) => ({ ...state, id })),
  );
  const exact = matches.filter(({ id }) => id === given);
  return exact.length > 0 ? exact : matches;
}

function requireOneMatch(given: string, matches: readonly IdMatch[], states: readonly FoundState[]): IdMatch {
  const [first, ...others] = matches;
  if (first === undefined) {
    const stores = [...new Set(states.map(({ store }) => store))].join(', ');
    throw new RuntimeError('RUN_UNKNOWN', `no state store here has "${given}": ${stores}`);
  }
  const different = others.filter(({ id }) => id !== first.id);
  if (different.length > 0) throw ambiguousId(given, [first.id, ...different.map(({ id }) => id)]);
  if (others.length > 0) throw ambiguousStore(given, matches);
  return first;
}

function ambiguousStore(given: string, found: readonly FoundState[]): RuntimeError {
  const stores = found.map(({ store }) => store).join(', ');
  const configs = found.map(({ config }) => `--config ${config}`).join(' or ');
  return new RuntimeError('USAGE', `several state stores have "${given}": ${stores}`, {
    hint: `Choose one with ${configs}.`,
  });
}

function hasConfig({ isConfigGiven, options }: Pick<CommandContext, 'isConfigGiven' | 'options'>): boolean {
  return isConfigGiven || existsSync(options.config);
}

async function findLocalStates({ invocation }: StoreContext) {
  const { findStates } = await import('../../runtime/runtime.ts');
  return await findStates(invocation.cwd);
}
