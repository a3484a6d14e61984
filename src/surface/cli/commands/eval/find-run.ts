import { existsSync } from 'node:fs';
import { RuntimeError, toRuntimeError } from '../../../../errors.ts';
import type { RunSource, Runtime } from '../../../../runtime.ts';
import type { Situation } from '../../command.ts';
import { ambiguous } from '../../id.ts';

/** Opens runs by what was typed: a file of JSON lines, the id of a kept run or its beginning, `last` or `last~N`. */
export interface RunFinder {
  /** Throws RUN_UNKNOWN, USAGE, FILE_UNREADABLE, STORE_FAILED. */
  open(given: string): Promise<RunSource>;
}

/** The runtime whose state store keeps the runs is opened with the first run that is not a file. */
export function openRunFinder(situation: Pick<Situation, 'open' | 'options'>): RunFinder {
  let opening: Promise<Runtime> | undefined;
  return {
    async open(given) {
      if (isFile(given)) {
        const { loadResults } = await import('../../../../runtime.ts');
        return await (await loadResults()).openRunFile(given);
      }
      opening ??= openKeeper(situation);
      const { runs } = (await opening).evals;
      return await runs.open(await findId(runs, given));
    },
  };
}

/** Opens the runtime whose state store keeps the runs. */
export async function openKeeper({ open, options }: Pick<Situation, 'open' | 'options'>): Promise<Runtime> {
  try {
    return await open();
  } catch (thrown) {
    const { code, message } = toRuntimeError(thrown);
    if (code !== 'FILE_UNREADABLE' || existsSync(options.config)) throw thrown;
    const hint = 'Runs are kept beside a config; --config FILE names it.';
    throw new RuntimeError(code, message, { hint, cause: thrown });
  }
}

/** Whether a run is meant by its file: a path is told from an id by what stands in it, so that a misspelt one is not looked for among the runs. */
export function isFile(given: string): boolean {
  return /[./\\]/.test(given) || existsSync(given);
}

type Runs = Runtime['evals']['runs'];

async function findId(runs: Runs, given: string): Promise<string> {
  const back = /^last(?:~(\d{1,6}))?$/.exec(given);
  if (back !== null) return await findBack(runs, Number(back[1] ?? 0), given);
  if (isWhole(given)) return given;
  const matching = (await runs.list()).map(({ id }) => id).filter((id) => id.startsWith(given));
  const [first, second] = matching;
  if (given.length < shortest || first === undefined) return given;
  if (second !== undefined) throw ambiguous(given, matching);
  return first;
}

/** Fewer characters name nothing. */
const shortest = 4;

/** Ids as Signalbox makes them are looked up at once. */
function isWhole(given: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(given);
}

async function findBack(runs: Runs, steps: number, given: string): Promise<string> {
  const suites = (await runs.list()).filter(({ kind }) => kind === 'suite');
  const run = suites[steps];
  if (run !== undefined) return run.id;
  const there = suites.length === 1 ? 'is one run' : `are ${suites.length} runs`;
  throw new RuntimeError('RUN_UNKNOWN', `"${given}" is not there: there ${there} of suites`, {
    hint: 'Run `signalbox eval list`; --config chooses the state store.',
  });
}
