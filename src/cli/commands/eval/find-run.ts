import { existsSync } from 'node:fs';
import { RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { formatCount } from '../../../base/text/phrases.ts';
import type { RunSource, Runtime, SuiteRunInfo } from '../../../runtime/runtime.ts';
import { ambiguousId } from '../../id.ts';
import { openResultRuntimes as openKeepersHere, type StoreContext } from '../../show/state-stores.ts';

/** Opens a run by a file of JSON lines, an id or its prefix, `last` or `last~N`. */
export interface RunFinder {
  open(given: string): Promise<OpenRun>;
  /** Throws RUN_UNKNOWN, STORE_FAILED, and USAGE for a file. */
  locate(given: string): Promise<LocatedRun>;
}

/** `config` belongs to the store of the run; a file has none. */
export type OpenRun = RunSource & { readonly config?: string };

export function openRunFinder(context: StoreContext): RunFinder {
  let opening: Promise<Runtime[]> | undefined;
  const locate = async (given: string) => {
    opening ??= openRunStores(context);
    return await findRun(await opening, given);
  };
  return {
    async open(given) {
      if (isRunFile(given)) {
        const { loadResults } = await import('../../../runtime/runtime.ts');
        return await (await loadResults()).openRunFile(given);
      }
      const { runtime, id } = await locate(given);
      return Object.assign(await runtime.evals.runs.open(id), { config: runtime.file });
    },
    async locate(given) {
      if (!isRunFile(given)) return await locate(given);
      throw new RuntimeError(
        'USAGE',
        `${given} is a file; ratings and other data of a run are in its state store`,
        {
          hint: 'Give the id of a stored run (`signalbox eval list`), last or last~1.',
        },
      );
    },
  };
}

/**
 * Opens the runtimes whose state stores contain suite runs: of the config, or of every store in the folders below.
 * Throws FILE_UNREADABLE with a hint about --config if there is none.
 */
export async function openRunStores(context: StoreContext): Promise<Runtime[]> {
  try {
    return await openKeepersHere(context);
  } catch (thrown) {
    const { code, message } = toRuntimeError(thrown);
    if (code !== 'FILE_UNREADABLE' || existsSync(context.options.config)) throw thrown;
    const hint = 'The state store of a config has its runs: name the config with --config FILE.';
    throw new RuntimeError(code, message, { hint, cause: thrown });
  }
}

export interface StoredRun {
  readonly runtime: Runtime;
  readonly run: SuiteRunInfo;
}

export async function listStoredRuns(runtimes: readonly Runtime[], limit?: number): Promise<StoredRun[]> {
  const lists: StoredRun[][] = [];
  for (const runtime of runtimes) {
    lists.push((await runtime.evals.runs.list({ limit })).map((run) => ({ runtime, run })));
  }
  const all = lists.flat();
  if (lists.length === 1) return all;
  return all.toSorted((one, other) => other.run.started_at.localeCompare(one.run.started_at)).slice(0, limit);
}

/** A name with a dot or a slash is a file, even if it does not exist. */
export function isRunFile(given: string): boolean {
  return /[./\\]/.test(given) || existsSync(given);
}

export interface LocatedRun {
  readonly runtime: Runtime;
  readonly id: string;
}

export async function findRun(runtimes: readonly Runtime[], given: string): Promise<LocatedRun> {
  const [first] = runtimes;
  if (first === undefined)
    throw new RuntimeError('RUN_UNKNOWN', `there is no run "${given}": no run is stored`);
  const back = /^last(?:~(\d{1,6}))?$/.exec(given);
  if (back !== null) return findNthLast(await listStoredRuns(runtimes), Number(back[1] ?? 0), given);
  if (isFullId(given) && runtimes.length === 1) return { runtime: first, id: given };
  const matching = (await listStoredRuns(runtimes)).filter(({ run }) => run.id.startsWith(given));
  const ids = [...new Set(matching.map(({ run }) => run.id))];
  const [match, other] = matching;
  if (given.length < minIdLength || match === undefined) return { runtime: first, id: given };
  if (ids.length > 1) throw ambiguousId(given, ids);
  if (other !== undefined) throw ambiguousStore(given, matching);
  return { runtime: match.runtime, id: match.run.id };
}

function ambiguousStore(given: string, matching: readonly StoredRun[]): RuntimeError {
  const configs = matching
    .map(({ runtime }) => [runtime.file, ...runtime.overlays].map((file) => `--config ${file}`).join(' '))
    .join(' or ');
  return new RuntimeError('USAGE', `several state stores have a run "${given}"`, {
    hint: `Choose one with ${configs}.`,
  });
}

const minIdLength = 4;

function isFullId(given: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(given);
}

function findNthLast(runs: readonly StoredRun[], steps: number, given: string): LocatedRun {
  const suites = runs.filter(({ run }) => run.kind === 'suite');
  const found = suites[steps];
  if (found !== undefined) return { runtime: found.runtime, id: found.run.id };
  const kept =
    suites.length === 0
      ? 'no suite run is stored yet'
      : `only ${formatCount(suites.length, 'run')} of suites ${suites.length === 1 ? 'is' : 'are'} stored`;
  const step =
    suites.length === 0
      ? 'Run a suite first: `signalbox eval run SUITE`.'
      : '`signalbox eval list` shows the runs.';
  throw new RuntimeError('RUN_UNKNOWN', `there is no run "${given}": ${kept}`, {
    hint: `${step} Each config has its own runs: name the config with --config FILE.`,
  });
}
