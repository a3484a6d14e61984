import { relative } from 'node:path';
import { type Command, Option } from 'commander';
import { RuntimeError, toFault } from '../../base/errors.ts';
import { formatCount } from '../../base/text/format-count.ts';
import type { RunInfo, RunPage, ShownStatus } from '../../contract/run.ts';
import type { RunListFilter, Runtime } from '../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../command.ts';
import { addRunFlags, executeRun, type RunFlags, setDownWaits } from '../execute-run.ts';
import { type ExitCode, exitCodeOfRun } from '../exit-code.ts';
import { shortIds } from '../id.ts';
import { readNumber } from '../input.ts';
import { collect, readLabelFlags } from '../labels.ts';
import { readAge, readTime } from '../show/age.ts';
import { labelsText, statusText } from '../show/details.ts';
import { openAllRuntimes, openForId, requireOneRuntime, resolveId } from '../show/state-stores.ts';
import { countsText, type GoneOn, goneOnText } from '../show/worked-runs.ts';
import { addRunsShow } from './runs-show.ts';

/** `runs list`, `show`, `resume`, `cancel` and `prune`. */
export function addRunsCommands(program: Command, runCommand: RunCommand): void {
  const group = program
    .command('runs')
    .description('see, resume and end runs')
    .addHelpText('after', groupExamples);
  addList(group, runCommand);
  addRunsShow(group, runCommand);
  addResume(group, runCommand);
  addRunsRetry(group, runCommand);
  addCancel(group, runCommand);
  addPrune(group, runCommand);
}

/** A record, so that the compiler misses none. */
const statuses: Readonly<Record<ShownStatus, true>> = {
  queued: true,
  running: true,
  cut_off: true,
  pending: true,
  suspended: true,
  waiting: true,
  completed: true,
  failed: true,
  denied: true,
  cancelled: true,
};

function addList(group: Command, runCommand: RunCommand): void {
  group
    .command('list')
    .description('show runs, the newest first')
    .option('--pipeline <name>', 'those of one pipeline, or of one tool')
    .addOption(new Option('--status <status>', 'only those').choices(Object.keys(statuses)))
    .option('--label <name=value>', 'those that have this label; may be given again', collect)
    .option(
      '--since <time>',
      'started then or later: 24h ago, or a date such as 2026-01-31 or 2026-01-31T12:00Z',
    )
    .option('--until <time>', 'started before then')
    .option('--parent <id>', 'those that steps of this run began, which are left out otherwise')
    .option('--limit <number>', 'at most so many')
    .option('--after <place>', 'the next page: what the one before ended with')
    .addHelpText('after', listExamples)
    .action(async (own: ListFlags, command: Command) => {
      await runCommand(command, async (context) => {
        const { options, terminal } = context;
        const runtimes = await openAllRuntimes(context);
        const filter = await readFilter(own, runtimes);
        const { runs, next, homes } = await readRuns(runtimes, filter);
        if (options.json) terminal.printJson({ runs, ...(next !== undefined && { next }) });
        else if (runs.length === 0) terminal.printStderr('there are no runs');
        else printRuns(runs, (run) => homes?.get(run), context);
        if (!options.json && next !== undefined) terminal.printStderr(`there are more: --after ${next}`);
        return 0;
      });
    });
}

interface ListFlags {
  readonly pipeline?: string;
  readonly status?: ShownStatus;
  readonly label?: readonly string[];
  readonly since?: string;
  readonly until?: string;
  readonly parent?: string;
  readonly limit?: string;
  readonly after?: string;
}

async function readFilter(own: ListFlags, runtimes: readonly Runtime[]): Promise<RunListFilter> {
  const { pipeline, status, after } = own;
  const [only] = runtimes;
  const isOne = own.parent !== undefined && only !== undefined && runtimes.length === 1;
  const parent = isOne ? await resolveId(only, { kind: 'run', given: own.parent }) : own.parent;
  return {
    ...{ pipeline, status, after, parent, labels: readLabelFlags(own.label) },
    since: own.since === undefined ? undefined : await readTime('--since', own.since),
    until: own.until === undefined ? undefined : await readTime('--until', own.until),
    limit: readPositive('--limit', own.limit),
  };
}

/** Throws USAGE for a page of several stores, which have no order in common. */
async function readRuns(
  runtimes: readonly Runtime[],
  filter: RunListFilter,
): Promise<RunPage & { readonly homes?: ReadonlyMap<RunInfo, Runtime> }> {
  const { limit, after } = filter;
  const [only, ...others] = runtimes;
  if (only !== undefined && others.length === 0)
    return limit === undefined ? { runs: await only.runs.list(filter) } : await only.runs.page(filter);
  if (after !== undefined) requireOneRuntime(runtimes);
  const homes = new Map<RunInfo, Runtime>();
  for (const runtime of runtimes) for (const run of await runtime.runs.list(filter)) homes.set(run, runtime);
  return { runs: newestFirst([...homes.keys()]).slice(0, limit), homes };
}

function readPositive(option: string, value: string | undefined): number | undefined {
  const count = readNumber(option, value);
  if (count === undefined || (Number.isSafeInteger(count) && count > 0)) return count;
  throw new RuntimeError('USAGE', `${option} takes a whole number from 1, not "${value}"`);
}

function newestFirst(runs: readonly RunInfo[]): RunInfo[] {
  return runs.toSorted((one, other) => other.created_at.localeCompare(one.created_at));
}

function printRuns(
  runs: readonly RunInfo[],
  homeOf: (run: RunInfo) => Runtime | undefined,
  { terminal, invocation: { cwd } }: Pick<CommandContext, 'terminal' | 'invocation'>,
): void {
  const short = shortIds(runs.map(({ run_id }) => run_id));
  const isMixed = runs.some((run) => homeOf(run) !== undefined);
  const hasLabels = runs.some(({ labels }) => labels !== undefined);
  terminal.printTable(
    [
      'run',
      'started',
      'status',
      'kind',
      'name',
      ...(isMixed ? ['config'] : []),
      ...(hasLabels ? ['labels'] : []),
    ],
    runs.map((run) => {
      const { run_id, kind, name, created_at, labels } = run;
      const home = homeOf(run)?.file;
      const config = home === undefined ? [] : [relative(cwd, home)];
      const row = [short(run_id), created_at, statusText(run), kind, name, ...config];
      return labels === undefined ? row : [...row, labelsText(labels)];
    }),
  );
}

function addResume(group: Command, runCommand: RunCommand): void {
  const command = group
    .command('resume [id]')
    .description('go on with a run that was suspended, waited or was cut off')
    .option('--all', 'in place of an id: with each run that can go on now, once')
    .option('--pipeline <name>', 'with --all: those of one pipeline, or of one tool')
    .option('--label <name=value>', 'with --all: those that have this label; may be given again', collect);
  addRunFlags(command)
    .addHelpText('after', resumeExamples)
    .action(async (given: string | undefined, own: ResumeFlags, command: Command) => {
      await runCommand(command, async (context) => {
        if (given === undefined || own.all === true) return await resumeAll(context, given, own);
        requireOne(own);
        const wanted = { kind: 'run', given } as const;
        return await executeRun(context, {
          flags: own,
          open: async (more) => (await openForId(context, wanted, more)).runtime,
          start: async (runtime, options) => runtime.runs.resume(await resolveId(runtime, wanted), options),
        });
      });
    });
}

interface ResumeFlags extends RunFlags, ResumeAllFlags {}

/** Throws USAGE for filters of --all without it. */
function requireOne({ pipeline, label }: ResumeAllFlags): void {
  if (pipeline === undefined && label === undefined) return;
  throw new RuntimeError('USAGE', '--pipeline and --label choose among the runs of --all', {
    hint: 'Give --all, or the id of a run alone.',
  });
}

function addCancel(group: Command, runCommand: RunCommand): void {
  group
    .command('cancel <id>')
    .description('end a run for good, and all of its calls that wait')
    .option('--reason <text>', 'why')
    .option('--by <name>', 'who cancels (default: your user name)')
    .addHelpText('after', cancelExamples)
    .action(async (given: string, own: { reason?: string; by?: string }, command: Command) => {
      await runCommand(command, async (context) => {
        const { invocation, options, terminal } = context;
        const { runtime, id } = await openForId(context, { kind: 'run', given });
        const document = await runtime.runs.cancel(id, {
          by: own.by ?? invocation.userName(),
          reason: own.reason,
        });
        if (options.json) terminal.printJson(document);
        else terminal.print(`cancelled: ${id}`);
        return 0;
      });
    });
}

function addPrune(group: Command, runCommand: RunCommand): void {
  group
    .command('prune')
    .description('remove runs that ended long ago, with all that was kept of them')
    .option(
      '--older-than <duration>',
      'ended at least so long ago, such as 12h or 30d; 0s for all that ended',
      '30d',
    )
    .addHelpText('after', pruneExamples)
    .action(async (own: { olderThan: string }, command: Command) => {
      await runCommand(command, async (context) => {
        const { options, terminal } = context;
        const olderThanMs = await readAge('--older-than', own.olderThan);
        const pruned = await requireOneRuntime(await openAllRuntimes(context)).runs.prune({ olderThanMs });
        if (options.json) terminal.printJson({ pruned });
        else terminal.print(`removed ${formatCount(pruned, 'run')}`);
        return 0;
      });
    });
}

const groupExamples = `
Examples:
  signalbox runs list --status pending
  signalbox runs show run_51c0
  signalbox runs resume run_51c0

An id may be cut short as long as it is still the only one that begins like this.
Without --config and without a runtime.yaml here, the state stores (.signalbox/state.db)
in the folders below are searched.`;

const listExamples = `
Examples:
  signalbox runs list
  signalbox runs list --status failed --limit 10
  signalbox runs list --pipeline refund --label shop=berlin --since 24h
  signalbox runs list --parent run_51c0
  signalbox runs list --limit 50 --after "$(signalbox runs list --limit 50 --json | jq -r .next)"
  signalbox runs list --json | jq -r '.runs[] | select(.pending > 0) | .run_id'

\`running\`: a process executes it at this moment, and \`runs resume\` says RUN_BUSY. A run that was cut off, such as by a crash, is
\`cut off\` (\`--status cut_off\`), and \`runs resume\` goes on with it. \`suspended\`: a fault of a model or a server set it down, and \`runs resume\` or
\`signalbox work\` goes on with it; \`waiting\`: until a time, and then \`signalbox work\` does.`;

const resumeExamples = `
Examples:
  signalbox runs resume run_51c0
  signalbox runs resume run_51c0 --wait
  signalbox runs resume run_51c0 --interactive
  signalbox runs resume --all
  signalbox runs resume --all --pipeline refund --label shop=berlin --json

--all goes on, once each, with what a fault suspended, whose wait is over, whose calls are decided, or whose process is gone. Runs that another
process executes are skipped, and one that fails holds up no other. \`signalbox work\` does so until it is stopped.

A run that has ended is shown again, and nothing is done; \`runs retry\` goes on with one that failed.

Exit codes: 0 completed, 1 failed, denied, cancelled or suspended by a fault, or another process executes the run (RUN_BUSY),
2 wrong call or config,
3 waiting for a person or a time, 130 interrupted (the run can be resumed). Of --all that of the worst: 1, then 3, then 0.`;

const cancelExamples = `
Examples:
  signalbox runs cancel run_51c0 --reason "ordered twice"

Exit codes: 0 cancelled, 2 there is no such run, or it has ended.`;

const pruneExamples = `
Examples:
  signalbox runs prune
  signalbox runs prune --older-than 12h --json
  signalbox runs prune --older-than 0s

Runs that wait, were suspended or were cut off are never removed.`;

interface RetryFlags extends RunFlags {
  readonly from?: string;
  readonly detach?: true;
}

/** `runs retry`. */
function addRunsRetry(group: Command, runCommand: RunCommand): void {
  const command = group
    .command('retry <id>')
    .description('go on with a run that failed or was denied, from the step that did')
    .option('--from <step>', 'do this earlier step again too, and all behind it: its id, or its path')
    .option('--detach', 'leave the run to a worker, and wait for nothing');
  addRunFlags(command)
    .addHelpText('after', examples)
    .action(async (given: string, own: RetryFlags, command: Command) => {
      await runCommand(command, async (context) => {
        const wanted = { kind: 'run', given } as const;
        const { from } = own;
        if (own.detach) {
          requireNoRunFlags(own);
          const { runtime, id } = await openForId(context, wanted);
          const queued = await runtime.runs.queueRetry(id, { from });
          if (context.options.json) context.terminal.printJson(queued);
          else context.terminal.print(queued.run_id);
          return 0;
        }
        return await executeRun(context, {
          flags: own,
          open: async (more) => (await openForId(context, wanted, more)).runtime,
          start: async (runtime, options) =>
            await runtime.runs.retry(await resolveId(runtime, wanted), { ...options, from }),
        });
      });
    });
}

/** Throws USAGE. */
function requireNoRunFlags(flags: RetryFlags): void {
  const idle = ['wait', 'interactive', 'record', 'replay'].find((name) => Object.hasOwn(flags, name));
  if (idle === undefined) return;
  throw new RuntimeError('USAGE', `--${idle} means nothing where a worker executes the run`, {
    hint: 'Leave out one of --detach and the other.',
  });
}

const examples = `
Examples:
  signalbox runs retry run_51c0
  signalbox runs retry run_51c0 --from answer
  signalbox runs retry run_51c0 --from 'mails[2]/send'
  signalbox runs retry run_51c0 --detach

What failed is done again: its failed calls only, in a loop its failed items, in a chat the failed call of the model. Everything
before it is kept. A tool gets the idempotency key that it had, so one that did its work before the fault does not do it again;
a call with other arguments than before gets a key of its own. An approval stands; a call that was rejected is asked about again.

Exit codes: 0 completed, or kept for a worker, 1 failed, denied or cancelled, or another process executes the run (RUN_BUSY),
2 wrong call or config, or a run that did not fail (RUN_NOT_RETRYABLE), 3 waiting for a person, 130 interrupted (\`runs resume\` goes on).`;

interface ResumeAllFlags {
  readonly all?: true;
  readonly pipeline?: string;
  readonly label?: readonly string[];
}

/** `runs resume --all`: each run that can go on now, once, whatever becomes of the others. Throws USAGE, STORE_FAILED, ABORTED. */
async function resumeAll(
  context: CommandContext,
  given: string | undefined,
  flags: ResumeAllFlags & RunFlags,
): Promise<ExitCode> {
  requireAllAlone(given, flags);
  const { options, terminal, signal } = context;
  const { formatDuration } = await import('../../runtime/runtime.ts');
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
