import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { escapeInvisibleLine as oneLine } from '../../../base/text/escape-invisible.ts';
import { formatCount } from '../../../base/text/phrases.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import type { CommandContext } from '../../command.ts';
import type { ExitCode } from '../../exit-code.ts';
import type { RunFlags } from './run-flags.ts';

type RunTurn = (context: CommandContext) => Promise<ExitCode>;

/** Runs the suites again whenever one of their files changes, until Ctrl-C. Throws USAGE. */
export async function watchSuites(
  given: readonly string[],
  own: RunFlags,
  { context, run }: { readonly context: CommandContext; readonly run: RunTurn },
): Promise<ExitCode> {
  refuseForWatch(own, context.options.json === true);
  const { signal, terminal } = context;
  let files: readonly string[] = given;
  for (;;) {
    files = await filesOf(given, own, { context, before: files });
    const turn = new AbortController();
    const change = nextChange(takeStock(files), signal);
    const work = runTurn({ ...context, signal: AbortSignal.any([signal, turn.signal]) }, run);
    const isDone = await Promise.race([work.then(() => true), change.then(() => false)]);
    if (isDone)
      terminal.printStderr(
        `waiting for a change of ${formatCount(files.length, 'file')}; press Ctrl-C to end`,
      );
    const changed = await change;
    turn.abort();
    await work;
    if (changed.length === 0) return 130;
    const others = changed.length > 3 ? `, and ${changed.length - 3} more` : '';
    terminal.printStderr(`\nchanged: ${changed.slice(0, 3).map(oneLine).join(', ')}${others}`);
  }
}

/** Opens new runtimes, since a config may change. Prints errors, because the next change may fix them. */
async function runTurn(context: CommandContext, run: RunTurn): Promise<void> {
  const opened: Runtime[] = [];
  try {
    await run({
      ...context,
      open: async (file, more) => {
        const runtime = await context.open(file, more);
        opened.push(runtime);
        return runtime;
      },
    });
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    if (!context.signal.aborted) await tell(error, context);
  } finally {
    for (const runtime of opened) await runtime.close();
  }
}

async function tell(error: RuntimeError, { terminal }: CommandContext): Promise<void> {
  const { formatProblem, problemsOf } = await import('../../../runtime/runtime.ts');
  terminal.printStderr(`error: [${error.code}] ${oneLine(error.message)}`);
  if (error.details['problems'] === undefined) terminal.printHint(error);
  else for (const problem of problemsOf(error)) terminal.printStderr(formatProblem(problem));
}

interface FilesContext {
  readonly context: CommandContext;
  /** The files of the previous turn, used while a suite or a config is unreadable. */
  readonly before: readonly string[];
}

async function filesOf(
  given: readonly string[],
  own: RunFlags,
  { context: { options, isConfigGiven }, before }: FilesContext,
): Promise<readonly string[]> {
  const { loadInputs } = await import('../../../runtime/runtime.ts');
  const { findSuites, findSuiteInputs } = await loadInputs();
  try {
    const found = findSuites(given);
    const inputs: string[] = [];
    for (const { file, runtime } of found) {
      const config = isConfigGiven ? options.config : (runtime ?? options.config);
      const about = { config, overlays: options.overlays, dataset: own.dataset };
      try {
        inputs.push(...(await findSuiteInputs(file, about)).map((input) => input.file));
      } catch {
        inputs.push(file, config, ...options.overlays, ...before);
      }
    }
    return [...new Set([...given, ...inputs])];
  } catch {
    return [...new Set([...given, options.config, ...options.overlays, ...before])];
  }
}

type Stock = ReadonlyMap<string, string>;

function takeStock(files: readonly string[]): Stock {
  return new Map(files.map((file) => [file, stateOf(file)]));
}

function stateOf(file: string): string {
  try {
    const { mtimeNs, size, ino } = statSync(file, { bigint: true });
    return `${mtimeNs} ${size} ${ino}`;
  } catch {
    return 'not there';
  }
}

/** The polling interval, and the time without changes after which a change is complete. */
const LOOK_MS = 200;

/** Returns the changed files after the last change; none after an abort. Polling works on every file system. */
async function nextChange(before: Stock, signal: AbortSignal): Promise<readonly string[]> {
  const files = [...before.keys()];
  let last = before;
  for (;;) {
    try {
      await sleep(LOOK_MS, undefined, { signal });
    } catch {
      return [];
    }
    const now = takeStock(files);
    const isQuiet = files.every((file) => now.get(file) === last.get(file));
    const changed = files.filter((file) => now.get(file) !== before.get(file));
    if (isQuiet && changed.length > 0) return changed;
    last = now;
  }
}

function refuseForWatch({ resume, again, dataset, record }: RunFlags, isJson: boolean): void {
  const refused = [
    ...(isJson ? ['--json prints one document'] : []),
    ...(resume === undefined ? [] : ['--resume continues one run']),
    ...(again === undefined ? [] : ['--again continues one run']),
    ...(dataset === '-' ? ['--dataset - can be read only once'] : []),
    ...(record === undefined ? [] : ['--record writes one recording']),
  ];
  const [first] = refused;
  if (first === undefined) return;
  throw new RuntimeError('USAGE', `${first}, but --watch runs the suites repeatedly`, {
    hint: 'Leave out one of the two.',
  });
}
