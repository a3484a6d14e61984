import { RuntimeError, toFault } from '../../../base/errors.ts';
import type { RunInfo } from '../../../contract/run.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import type { CommandContext } from '../../command.ts';
import { type RunFlags, setDownWaits } from '../../execute-run.ts';
import { type ExitCode, exitCodeOfRun } from '../../exit-code.ts';
import { readLabelFlags } from '../../labels.ts';
import { openAllRuntimes } from '../../show/state-stores.ts';
import { countsText, type GoneOn, goneOnText } from '../../show/worked-runs.ts';

export interface ResumeAllFlags {
  readonly all?: true;
  readonly pipeline?: string;
  readonly label?: readonly string[];
}

/** `runs resume --all`: each run that can go on now, once, whatever becomes of the others. Throws USAGE, STORE_FAILED, ABORTED. */
export async function resumeAll(
  context: CommandContext,
  given: string | undefined,
  flags: ResumeAllFlags & RunFlags,
): Promise<ExitCode> {
  requireAllAlone(given, flags);
  const { options, terminal, signal } = context;
  const { formatDuration } = await import('../../../runtime/runtime.ts');
  const runtimes = await openAllRuntimes(context);
  const filter = { pipeline: flags.pipeline, labels: readLabelFlags(flags.label) };
  const runs: GoneOn[] = [];
  for (const runtime of runtimes) {
    for (const info of await runtime.runs.resumable(filter)) {
      signal.throwIfAborted();
      const beganAt = performance.now();
      const came = await goOn(runtime, info, signal);
      runs.push(came);
      if (!options.json) terminal.print(goneOnText(came, formatDuration(performance.now() - beganAt)));
    }
  }
  if (options.json) terminal.printJson({ runs });
  else terminal.printStderr(countsText(runs));
  return worstOf(runs);
}

/** Throws USAGE. */
function requireAllAlone(given: string | undefined, flags: ResumeAllFlags & RunFlags): void {
  if (given === undefined && flags.all !== true)
    throw new RuntimeError('USAGE', 'which run? Give its id, or --all for each that can go on now');
  if (given !== undefined) throw new RuntimeError('USAGE', 'give the id of a run or --all, not both');
  const idle = ['wait', 'interactive', 'record', 'replay'].find((name) => Object.hasOwn(flags, name));
  if (idle !== undefined)
    throw new RuntimeError('USAGE', `--${idle} is about one run, not about all of them`, {
      hint: 'Give the id of a run in place of --all.',
    });
}

/** What became of the run. Rejects with what the whole command cannot go on after. */
async function goOn(runtime: Runtime, info: RunInfo, signal: AbortSignal): Promise<GoneOn> {
  const { run_id, name } = info;
  try {
    const { status, error } = await runtime.runs.resume(run_id, { signal, ...setDownWaits });
    return { run_id, name, status, ...(error && { error }) };
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = toFault(thrown);
    return { run_id, name, status: error.code === 'RUN_BUSY' ? 'busy' : 'left', error };
  }
}

function worstOf(runs: readonly GoneOn[]): ExitCode {
  const codes = runs.map(({ status }) =>
    status === 'busy' ? 0 : status === 'left' ? 1 : exitCodeOfRun(status),
  );
  return codes.includes(1) ? 1 : codes.includes(3) ? 3 : 0;
}
