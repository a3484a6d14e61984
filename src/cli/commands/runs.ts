import { relative } from 'node:path';
import { RuntimeError, toFault } from '../../base/errors.ts';
import { formatCount } from '../../base/text/phrases.ts';
import type { RunInfo, RunPage, ShownStatus } from '../../contract/run.ts';
import type { RunListFilter, Runtime } from '../../runtime/runtime.ts';
import { type CommandContext, command, type Flags, group, type Outcome } from '../command.ts';
import { executeRun, type RunFlags, refuseRunOptions, runOptions, setDownWaits } from '../execute-run.ts';
import { shortIds } from '../id.ts';
import { readAge, readLabels, readTime, readWhole } from '../input.ts';
import { nextCommands } from '../next-command.ts';
import { labelsText, printDetails, statusText, totalsText } from '../show/details.ts';
import { stepText } from '../show/run-steps.ts';
import { openAllRuntimes, openForId, requireOneRuntime, resolveId } from '../show/state-stores.ts';
import { countsText, type GoneOn, goneOnText, worstOf } from './work.ts';

/** A record, so that the compiler finds a missing status. */
const statuses: { readonly [Status in ShownStatus]: Status } = {
  queued: 'queued',
  running: 'running',
  cut_off: 'cut_off',
  pending: 'pending',
  suspended: 'suspended',
  waiting: 'waiting',
  completed: 'completed',
  failed: 'failed',
  denied: 'denied',
  cancelled: 'cancelled',
};

const listOptions = {
  '--pipeline <name>': 'those of one pipeline, or of one tool',
  '--status <status>': ['only those', { choices: Object.values(statuses) }],
  '--label <name=value>': ['those that have this label; may be given again', { isMany: true }],
  '--since <time>': 'started then or later: 24h ago, or a date such as 2026-01-31 or 2026-01-31T12:00Z',
  '--until <time>': 'started before then',
  '--parent <id>': 'those that steps of this run began, which are left out otherwise',
  '--limit <number>': 'at most so many',
  '--after <place>': 'the next page: what the one before ended with',
} as const;

const list = command('list', {
  about: 'show runs, the newest first',
  options: listOptions,
  examples: `
Examples:
  signalbox runs list
  signalbox runs list --status failed --limit 10
  signalbox runs list --pipeline refund --label shop=berlin --since 24h
  signalbox runs list --parent run_51c0
  signalbox runs list --limit 50 --after "$(signalbox runs list --limit 50 --json | jq -r .next)"
  signalbox runs list --json | jq -r '.runs[] | select(.pending > 0) | .run_id'

\`running\`: a process executes it at this moment, and \`runs resume\` says RUN_BUSY. A run that was cut off, such as by a crash, is
\`cut off\` (\`--status cut_off\`), and \`runs resume\` goes on with it. \`suspended\`: a fault of a model or a server set it down, and \`runs resume\` or
\`signalbox work\` goes on with it; \`waiting\`: until a time, and then \`signalbox work\` does.`,
  run: async (context, flags) => {
    const { cwd } = context.invocation;
    const runtimes = await openAllRuntimes(context);
    const filter = await readFilter(flags, runtimes);
    const { runs, next, homes } = await readRuns(runtimes, filter);
    const short = shortIds(runs.map(({ run_id }) => run_id));
    const isMixed = homes !== undefined && runs.length > 0;
    const hasLabels = runs.some(({ labels }) => labels !== undefined);
    return {
      document: { runs, ...(next !== undefined && { next }) },
      table: {
        names: [
          ...['run', 'started', 'status', 'kind', 'name'],
          ...(isMixed ? ['config'] : []),
          ...(hasLabels ? ['labels'] : []),
        ],
        rows: runs.map((run) => {
          const { run_id, kind, name, created_at, labels } = run;
          const home = homes?.get(run)?.file;
          const config = home === undefined ? [] : [relative(cwd, home)];
          const row = [short(run_id), created_at, statusText(run), kind, name, ...config];
          return labels === undefined ? row : [...row, labelsText(labels)];
        }),
        none: 'there are no runs',
      },
      note: next === undefined ? undefined : `there are more: --after ${next}`,
    };
  },
});

const show = command('show <id>', {
  about: 'show what a run and its steps came to, and what it waits for',
  options: {
    '--step <name>': 'one step and those inside it: its id, or its path, such as mails[2]',
    '--full': 'long texts whole, also on a terminal',
  },
  examples: `
Examples:
  signalbox runs show run_51c0
  signalbox runs show run_51c0 --step answer
  signalbox runs show run_51c0 --step 'mails[2]' --full
  signalbox runs show run_51c0 --json | jq '.steps[] | {step, status, error}'

Steps stand in the order in which they ended, whatever the clocks said. On a terminal long texts are shortened; in a pipe and
with --json they are whole. Secrets that the config knows, and what stands under the name of a credential, are hidden.
\`cut off\` is a run whose process is gone: \`signalbox runs resume\` goes on with it.`,
  run: async (context, flags, given) => {
    const { runtime, id } = await openForId(context, { kind: 'run', given });
    await (context.options.json ? printDocument : printText)(context, { runtime, id, flags });
    return 0;
  },
});

const resume = command('resume [id]', {
  about: 'go on with a run that was suspended, waited or was cut off',
  options: {
    '--all': 'in place of an id: with each run that can go on now, once',
    '--pipeline <name>': 'with --all: those of one pipeline, or of one tool',
    '--label <name=value>': ['with --all: those that have this label; may be given again', { isMany: true }],
    ...runOptions,
  },
  examples: `
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
3 waiting for a person or a time, 130 interrupted (the run can be resumed). Of --all that of the worst: 1, then 3, then 0.`,
  run: async (context, flags, given) => {
    if (given === undefined || flags.all === true) return await resumeAll(context, given, flags);
    if (flags.pipeline !== undefined || flags.label !== undefined) {
      throw new RuntimeError('USAGE', '--pipeline and --label choose among the runs of --all', {
        hint: 'Give --all, or the id of a run alone.',
      });
    }
    const wanted = { kind: 'run', given } as const;
    return await executeRun(context, {
      flags,
      open: async (more) => (await openForId(context, wanted, more)).runtime,
      start: async (runtime, options) => runtime.runs.resume(await resolveId(runtime, wanted), options),
    });
  },
});

const retry = command('retry <id>', {
  about: 'go on with a run that failed or was denied, from the step that did',
  options: {
    '--from <step>': 'do this earlier step again too, and all behind it: its id, or its path',
    '--detach': 'leave the run to a worker, and wait for nothing',
    ...runOptions,
  },
  examples: `
Examples:
  signalbox runs retry run_51c0
  signalbox runs retry run_51c0 --from answer
  signalbox runs retry run_51c0 --from 'mails[2]/send'
  signalbox runs retry run_51c0 --detach

What failed is done again: its failed calls only, in a loop its failed items, in a chat the failed call of the model. Everything
before it is kept. A tool gets the idempotency key that it had, so one that did its work before the fault does not do it again;
a call with other arguments than before gets a key of its own. An approval stands; a call that was rejected is asked about again.

Exit codes: 0 completed, or kept for a worker, 1 failed, denied or cancelled, or another process executes the run (RUN_BUSY),
2 wrong call or config, or a run that did not fail (RUN_NOT_RETRYABLE), 3 waiting for a person, 130 interrupted (\`runs resume\` goes on).`,
  run: async (context, flags, given) => {
    const wanted = { kind: 'run', given } as const;
    const { from } = flags;
    if (!flags.detach)
      return await executeRun(context, {
        flags,
        open: async (more) => (await openForId(context, wanted, more)).runtime,
        start: async (runtime, options) =>
          await runtime.runs.retry(await resolveId(runtime, wanted), { ...options, from }),
      });
    refuseRunOptions(
      flags,
      'means nothing where a worker executes the run',
      'Leave out one of --detach and the other.',
    );
    const { runtime, id } = await openForId(context, wanted);
    const queued = await runtime.runs.queueRetry(id, { from });
    return { document: queued, text: queued.run_id };
  },
});

const cancel = command('cancel <id>', {
  about: 'end a run for good, and all of its calls that wait',
  options: {
    '--reason <text>': 'why',
    '--by <name>': 'who cancels (default: your user name)',
  },
  examples: `
Examples:
  signalbox runs cancel run_51c0 --reason "ordered twice"

Exit codes: 0 cancelled, 2 there is no such run, or it has ended.`,
  run: async (context, { reason, by = context.invocation.userName() }, given) => {
    const { runtime, id } = await openForId(context, { kind: 'run', given });
    return { document: await runtime.runs.cancel(id, { by, reason }), text: `cancelled: ${id}` };
  },
});

const prune = command('prune', {
  about: 'remove runs that ended long ago, with all that was kept of them',
  options: {
    '--older-than <duration>': [
      'ended at least so long ago, such as 12h or 30d; 0s for all that ended',
      { default: '30d' },
    ],
  },
  examples: `
Examples:
  signalbox runs prune
  signalbox runs prune --older-than 12h --json
  signalbox runs prune --older-than 0s

Runs that wait, were suspended or were cut off are never removed.`,
  run: async (context, flags) => {
    const olderThanMs = await readAge('--older-than', flags.olderThan);
    const pruned = await requireOneRuntime(await openAllRuntimes(context)).runs.prune({ olderThanMs });
    return { document: { pruned }, text: `removed ${formatCount(pruned, 'run')}` };
  },
});

export const runsCommands = group('runs', {
  about: 'see, resume and end runs',
  examples: `
Examples:
  signalbox runs list --status pending
  signalbox runs show run_51c0
  signalbox runs resume run_51c0

An id may be cut short as long as it is still the only one that begins like this.
Without --config and without a runtime.yaml here, the state stores (.signalbox/state.db)
in the folders below are searched.`,
  commands: [list, show, resume, retry, cancel, prune],
});

async function readFilter(
  own: Flags<typeof listOptions>,
  runtimes: readonly Runtime[],
): Promise<RunListFilter> {
  const { pipeline, status, after } = own;
  const [only] = runtimes;
  const isOne = own.parent !== undefined && only !== undefined && runtimes.length === 1;
  const parent = isOne ? await resolveId(only, { kind: 'run', given: own.parent }) : own.parent;
  return {
    ...{ pipeline, status, after, parent, labels: readLabels(own.label) },
    since: own.since === undefined ? undefined : await readTime('--since', own.since),
    until: own.until === undefined ? undefined : await readTime('--until', own.until),
    limit: readWhole('--limit', own.limit),
  };
}

/** Throws USAGE for a page of several stores, which have no common order. */
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
  const newestFirst = [...homes.keys()].toSorted((one, other) =>
    other.created_at.localeCompare(one.created_at),
  );
  return { runs: newestFirst.slice(0, limit), homes };
}

interface ShownRun {
  readonly runtime: Runtime;
  readonly id: string;
  readonly flags: { readonly step?: string; readonly full?: true };
}

async function printText(
  { invocation, terminal }: CommandContext,
  { runtime, id, flags }: ShownRun,
): Promise<void> {
  const { formatDuration, formatUsd } = await import('../../runtime/runtime.ts');
  const { columns } = terminal.stdout;
  const isShortened = invocation.stdout.isTTY === true && flags.full !== true;
  const width = isShortened ? columns : undefined;
  const options = { step: flags.step, ...(isShortened && { maxCharacters: SHOWN_CHARACTERS }) };
  const details = await runtime.runs.show(id, options);
  if (flags.step === undefined)
    await printDetails(details, nextCommands(invocation, runtime), { ...terminal, width });
  let count = 0;
  for await (const step of runtime.runs.steps(id, options)) {
    const isFirst = count === 0 && flags.step !== undefined;
    count += 1;
    const text = stepText(step, { formatDuration, formatUsd, width, isDetailed: flags.step !== undefined });
    await terminal.printNext(`${isFirst ? '' : '\n'}${text}`);
  }
  if (flags.step === undefined) terminal.print(`\n${totalsText(details, { formatDuration, formatUsd })}`);
  else if (count === 0) throw unknownStep(id, flags.step);
}

/** A sentence or two, or three lines of a terminal. */
const SHOWN_CHARACTERS = 200;

/** Streams one document, since a run may be larger than memory. */
async function printDocument({ terminal }: CommandContext, { runtime, id, flags }: ShownRun): Promise<void> {
  const details = await runtime.runs.show(id);
  const steps = runtime.runs.steps(id, { step: flags.step })[Symbol.asyncIterator]();
  let next = await steps.next();
  if (next.done === true && flags.step !== undefined) throw unknownStep(id, flags.step);
  const { write } = terminal.stdout;
  await write(`${terminal.jsonText(details).slice(0, -1)},"steps":[`);
  for (let before = ''; next.done !== true; before = ',') {
    await write(`${before}${terminal.jsonText(next.value)}`);
    next = await steps.next();
  }
  await write(']}\n');
}

function unknownStep(id: string, step: string): RuntimeError {
  return new RuntimeError('USAGE', `run ${id} has no step "${step}"`, {
    hint: 'Leave out --step to see those that it has; a step that it has not come to is none.',
  });
}

/** Tries each resumable run once, regardless of the others. Throws USAGE, STORE_FAILED, ABORTED. */
async function resumeAll(
  context: CommandContext,
  given: string | undefined,
  flags: RunFlags & { readonly all?: true; readonly pipeline?: string; readonly label?: readonly string[] },
): Promise<Outcome> {
  if (given === undefined && flags.all !== true)
    throw new RuntimeError('USAGE', 'which run? Give its id, or --all for each that can go on now');
  if (given !== undefined) throw new RuntimeError('USAGE', 'give the id of a run or --all, not both');
  const { setDown: _setDown, ...others } = flags;
  refuseRunOptions(
    others,
    'is about one run, not about all of them',
    'Give the id of a run in place of --all.',
  );
  const { options, terminal, signal } = context;
  const { formatDuration } = await import('../../runtime/runtime.ts');
  const runtimes = await openAllRuntimes(context);
  const filter = { pipeline: flags.pipeline, labels: readLabels(flags.label) };
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
  return { document: { runs }, note: countsText(runs), exitCode: worstOf(runs) };
}

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
