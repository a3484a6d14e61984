import { indexNames } from '../../calls/tool-call/agent-tool.ts';
import { checkChangedArgs } from '../../calls/tool-call/before-execution.ts';
import type { Emit } from '../../contract/event.ts';
import type { HookEvent } from '../../contract/hook.ts';
import type { Cassette } from '../../process/cassette/cassette.ts';
import { InFlightBytes } from '../../process/in-flight-bytes.ts';
import type { RuntimeOptions } from '../api.ts';
import { openHookFiles, textsFolderOf } from '../hook-files.ts';
import { openServices } from '../services.ts';
import { createWiring } from '../wiring.ts';
import type { LoadedRuntime } from './load.ts';
import type { Rates } from './rates.ts';
import type { Entries } from './resolve.ts';

/** What is called through a runtime. */
export type WiredRuntime = Awaited<ReturnType<typeof wireRuntime>>;

interface WireContext {
  readonly emit: Emit;
  /** Aborted, with RUNTIME_CLOSED, when the runtime is closed. */
  readonly closed: AbortSignal;
  readonly options: RuntimeOptions;
  readonly rates: Rates;
  /** In place of the one that the options ask for. */
  readonly cassette?: Cassette | undefined;
}

/** Source: the default of `in_flight_mb` in the schema. */
const IN_FLIGHT_MB = 256;

/** Opens tools, evals, hooks and models on their processes. Throws FILE_UNREADABLE, NAME_UNKNOWN, USAGE. */
export async function wireRuntime(
  loaded: LoadedRuntime,
  entries: Entries,
  { emit, closed, options, rates, cassette: given }: WireContext,
) {
  const { config, host, launch, scrubber } = loaded;
  const cassette = given ?? (await openRuntimeCassette(loaded, entries, { emit, options }));
  const hookFiles = openHookFiles({
    report: (message) => emit({ type: 'note', name: config.name, level: 'warn', message }),
    aliasesOf: (tool) => config.tools.find(({ name }) => name === tool)?.aliases,
    textsFolder: textsFolderOf(config.stateStore),
  });
  const { prepare, writeLongText } = hookFiles;
  const closing = new AbortController();
  const inFlight = new InFlightBytes((config.inFlightMb ?? IN_FLIGHT_MB) * 2 ** 20);
  const context = {
    ...{ launch, emit, scrubber, cassette, inFlight },
    ...{ prepare, writeLongText, closing: closing.signal },
  };
  const wiring = createWiring(config, context, options.signal);
  noteMissingEnv(entries, emit);
  const links = wiring.links(entries, await foreignLinksOf(entries, wiring));
  const groups = links.flatMap((link) => ('group' in link ? [link.group] : []));
  const tools = new Map(
    entries.tools.map(({ config: tool, resolved }) => [
      tool.name,
      wiring.callableTool(tool, resolved, links),
    ]),
  );
  const evals = new Map(
    entries.evals.map(({ config: { name }, resolved }) => [name, wiring.evalPort(resolved)]),
  );
  // A recording answers by requests, and what stands together in one differs from run to run.
  const batchSizeOf = (batch = 1) => (cassette === undefined ? batch : 1);
  const batches = new Map(
    entries.evals.flatMap(({ config: { name, batch = 1 }, resolved }) => {
      const port = evals.get(name);
      const isBatched = batch > 1 && port !== undefined;
      return isBatched ? [[name, wiring.evalBatches(port, resolved, batchSizeOf(batch))] as const] : [];
    }),
  );
  const { record = options.cassette?.record, replay = options.cassette?.replay } = options;
  const services = openServices({
    ...{ config, tools, evals, batches, links, emit, env: host },
    ...{ record, replay, cassette, scrubber, rates, requireOpen: () => closed.throwIfAborted() },
  });
  /** What is wrong with arguments that a filter has changed. */
  const checkArgs = (changed: HookEvent) =>
    changed.phase === 'before_execution'
      ? checkChangedArgs(tools.get(changed.request.name), changed)
      : undefined;
  const declared = {
    tools,
    byName: indexNames(tools),
    approvalsOf: wiring.approvalsOf,
    hasApprovals: config.approvals !== undefined,
  };
  return {
    ...{ links, groups, tools, declared, evals, services, cassette, checkArgs },
    ...{ isRecording: record !== undefined, replay, concurrency: wiring.concurrency },
    /** How many cases of that eval go into one request at most. */
    batchSizeOf: (type: string) => batchSizeOf(config.evals.find(({ name }) => name === type)?.batch),
    /** Waits for observers, then ends every process. Never rejects. */
    close: async () => {
      await Promise.all([...wiring.observerQueues, ...groups].map((each) => each.close()));
      closing.abort();
      await Promise.all(wiring.transports.map((transport) => transport.close()));
      hookFiles.close();
    },
  };
}

async function openRuntimeCassette(
  { config, scrubber }: LoadedRuntime,
  { all }: Entries,
  { emit, options }: Pick<WireContext, 'emit' | 'options'>,
): Promise<Cassette | undefined> {
  if (options.cassette === undefined) return undefined;
  const { openCassette } = await import('../../process/cassette/cassette.ts');
  const names = [...all.map(({ binding }) => binding.name), ...config.providers.map(({ id }) => id)];
  return await openCassette(options.cassette, { names, redact: scrubber.storedText, emit });
}

function noteMissingEnv({ all }: Entries, emit: Emit): void {
  for (const { binding, missingEnv } of all) {
    for (const name of missingEnv) {
      const message = `the environment has no ${name}; it is left out`;
      emit({ type: 'note', name: binding.name, level: 'warn', message });
    }
  }
}

async function foreignLinksOf(
  { foreign }: Entries,
  { foreignWiring }: Pick<ReturnType<typeof createWiring>, 'foreignWiring'>,
) {
  if (foreign.length === 0) return [];
  return await (await import('../foreign-links.ts')).openForeignLinks(foreign, foreignWiring);
}
