import { existsSync } from 'node:fs';
import { RuntimeError, toRuntimeError } from '../../../../errors.ts';
import type { RunSource, Runtime, SuiteRunInfo } from '../../../../runtime/open-runtime.ts';
import { ambiguous } from '../../id.ts';
import { openKeepers as openKeepersHere, type Searching } from '../../show/locate.ts';

/** Opens runs by what was typed: a file of JSON lines, the id of a kept run or its beginning, `last` or `last~N`. */
export interface RunFinder {
  /** Throws RUN_UNKNOWN, USAGE, FILE_UNREADABLE, STORE_FAILED. */
  open(given: string): Promise<RunSource>;
}

/** The runtimes whose state stores keep the runs are opened with the first run that is not a file. */
export function openRunFinder(situation: Searching): RunFinder {
  let opening: Promise<Runtime[]> | undefined;
  return {
    async open(given) {
      if (isFile(given)) {
        const { loadResults } = await import('../../../../runtime/open-runtime.ts');
        return await (await loadResults()).openRunFile(given);
      }
      opening ??= openKeepers(situation);
      const { runtime, id } = await findRun(await opening, given);
      return await runtime.evals.runs.open(id);
    },
  };
}

/** Opens the runtimes whose state stores keep the runs: that of the config, or those of all stores below, as for runs of pipelines. */
export async function openKeepers(situation: Searching): Promise<Runtime[]> {
  try {
    return await openKeepersHere(situation);
  } catch (thrown) {
    const { code, message } = toRuntimeError(thrown);
    if (code !== 'FILE_UNREADABLE' || existsSync(situation.options.config)) throw thrown;
    const hint = 'Runs are kept beside a config; --config FILE names it.';
    throw new RuntimeError(code, message, { hint, cause: thrown });
  }
}

/** A run, and the runtime whose store keeps it. */
export interface KeptRun {
  readonly runtime: Runtime;
  readonly run: SuiteRunInfo;
}

/** The runs of all stores, the newest first. */
export async function listKept(runtimes: readonly Runtime[], limit?: number): Promise<KeptRun[]> {
  const lists: KeptRun[][] = [];
  for (const runtime of runtimes) {
    lists.push((await runtime.evals.runs.list({ limit })).map((run) => ({ runtime, run })));
  }
  const all = lists.flat();
  if (lists.length === 1) return all;
  return all.toSorted((one, other) => other.run.started_at.localeCompare(one.run.started_at)).slice(0, limit);
}

/** Whether a run is meant by its file: a path is told from an id by what stands in it, so that a misspelt one is not looked for among the runs. */
export function isFile(given: string): boolean {
  return /[./\\]/.test(given) || existsSync(given);
}

interface Found {
  readonly runtime: Runtime;
  readonly id: string;
}

async function findRun(runtimes: readonly Runtime[], given: string): Promise<Found> {
  const [first] = runtimes;
  if (first === undefined) throw new RuntimeError('RUN_UNKNOWN', `"${given}" is not there: nothing is kept`);
  const back = /^last(?:~(\d{1,6}))?$/.exec(given);
  if (back !== null) return findBack(await listKept(runtimes), Number(back[1] ?? 0), given);
  if (isWhole(given) && runtimes.length === 1) return { runtime: first, id: given };
  const matching = (await listKept(runtimes)).filter(({ run }) => run.id.startsWith(given));
  const ids = [...new Set(matching.map(({ run }) => run.id))];
  const [match, other] = matching;
  if (given.length < shortest || match === undefined) return { runtime: first, id: given };
  if (ids.length > 1) throw ambiguous(given, ids);
  if (other !== undefined) throw severalKeepers(given, matching);
  return { runtime: match.runtime, id: match.run.id };
}

/** One store is a copy of the other, and only one of them can be meant. */
function severalKeepers(given: string, matching: readonly KeptRun[]): RuntimeError {
  const configs = matching.map(({ runtime }) => `--config ${runtime.file}`).join(' or ');
  return new RuntimeError('USAGE', `several state stores know "${given}"`, { hint: `Give ${configs}.` });
}

/** Fewer characters name nothing. */
const shortest = 4;

/** Ids as Signalbox makes them are looked up at once. */
function isWhole(given: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(given);
}

function findBack(kept: readonly KeptRun[], steps: number, given: string): Found {
  const suites = kept.filter(({ run }) => run.kind === 'suite');
  const found = suites[steps];
  if (found !== undefined) return { runtime: found.runtime, id: found.run.id };
  const there = suites.length === 1 ? 'is one run' : `are ${suites.length} runs`;
  throw new RuntimeError('RUN_UNKNOWN', `"${given}" is not there: there ${there} of suites`, {
    hint: 'Run `signalbox eval list`; --config chooses the state store.',
  });
}
