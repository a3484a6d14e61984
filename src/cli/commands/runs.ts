import { relative } from 'node:path';
import { RuntimeError, toFault } from '../../base/errors.ts';
import { formatCount } from '../../base/text/phrases.ts';
import type { Desk } from '../../console/remote.ts';
import type {
  RunInfo,
  RunPage,
  ShownStatus,
  StepDetails,
  StepPage,
  StepsOptions,
} from '../../contract/run.ts';
import type { RunListFilter, Runtime } from '../../runtime/runtime.ts';
import { type CommandContext, command, type Flags, group, type Outcome } from '../command.ts';
import {
  executeRun,
  type RunFlags,
  refuseRunOptions,
  runOptionNames,
  runOptions,
  setDownWaits,
} from '../execute-run.ts';
import { shortIds } from '../id.ts';
import { readAge, readLabels, readTime, readWhole } from '../input.ts';
import { nextCommands } from '../next-command.ts';
import { labelsText } from '../show/columns.ts';
import { printDetails, statusText, totalsText } from '../show/details.ts';
import { stepText } from '../show/run-steps.ts';
import { openAllRuntimes, openDesks, openForId, requireOneRuntime, resolveId } from '../show/state-stores.ts';
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
  '--pipeline <name>': 'only runs of this pipeline or tool',
  '--status <status>': ['only runs with this status', { choices: Object.values(statuses) }],
  '--label <name=value>': ['only runs with this label; may be repeated', { isMany: true }],
  '--since <time>':
    'only runs started at this time or later: a duration ago, such as 24h, or a time, such as 2026-01-31 or 2026-01-31T12:00Z',
  '--until <time>': 'only runs started before this time',
  '--parent <id>': 'only runs that steps of this run started; by default they are left out',
  '--limit <number>': 'show at most this many',
  '--after <place>': 'the next page: the value of `next` from the page before',
} as const;

const list = command('list', {
  about: 'show runs, newest first',
  remote: [],
  options: listOptions,
  examples: `
Examples:
  signalbox runs list
  signalbox runs list --status failed --limit 10
  signalbox runs list --pipeline refund --label shop=berlin --since 24h
  signalbox runs list --parent run_51c0
  signalbox runs list --limit 50 --after "$(signalbox runs list --limit 50 --json | jq -r .next)"
  signalbox runs list --json | jq -r '.runs[] | select(.pending > 0) | .run_id'

\`running\`: a process executes the run at this moment, and \`runs resume\` fails with RUN_BUSY. \`cut off\`
(\`--status cut_off\`): the process of the run is gone, such as after a crash; \`runs resume\` continues the run.
\`suspended\`: a fault of a model or server suspended the run; \`runs resume\` or \`signalbox work\` continues it.
\`waiting\`: the run waits for a time; \`signalbox work\` continues it then.`,
  run: async (context, flags) => {
    const { cwd } = context.invocation;
    const runtimes = await openDesks(context);
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
  about: 'show the result of a run and its steps, and what it waits for',
  remote: [],
  options: {
    '--step <name>': 'only this step and those inside it, by its id or path, such as mails[2]',
    '--full': 'do not shorten long texts on a terminal',
    '--limit <number>': 'show at most this many steps (default with --after: 100)',
    '--after <place>': 'the next page: the value of `next` from the page before',
  },
  examples: `
Examples:
  signalbox runs show run_51c0
  signalbox runs show run_51c0 --step answer
  signalbox runs show run_51c0 --step 'mails[2]' --full
  signalbox runs show run_51c0 --limit 20
  signalbox runs show run_51c0 --limit 20 --after "$(signalbox runs show run_51c0 --limit 20 --json | jq -r .next)"
  signalbox runs show run_51c0 --json | jq '.steps[] | {step, status, error}'

Steps are in the order in which they ended, whatever the clocks said. A terminal shows long texts shortened; a pipe and
--json get them whole. Secrets of the config, and values under names of credentials, are hidden.
With --limit or --after, the timeline, the totals and the child runs are left out, so that a page takes as long for any
number of steps. Steps that have not ended are on the first page, and later pages have those that end meanwhile.
\`cut off\` is a run whose process is gone: \`signalbox runs resume\` continues it.

More: docs/guides/retry-runs.md`,
  run: async (context, flags, given) => {
    const limit = readWhole('--limit', flags.limit);
    const { runtime, id } = await openForId(context, { kind: 'run', given });
    context.invocation.limitHeapGrowth();
    const shown = { runtime, id, flags: { ...flags, limit } };
    await (context.options.json ? printDocument : printText)(context, shown);
    return 0;
  },
});

const resume = command('resume [id]', {
  about: 'continue a run that was suspended, interrupted or left waiting',
  remote: ['--all', ...runOptionNames],
  options: {
    '--all': 'instead of one id: continue each run that can continue now, once',
    '--pipeline <name>': 'with --all: only runs of this pipeline or tool',
    '--label <name=value>': ['with --all: only runs with this label; may be repeated', { isMany: true }],
    ...runOptions,
  },
  examples: `
Examples:
  signalbox runs resume run_51c0
  signalbox runs resume run_51c0 --wait
  signalbox runs resume run_51c0 --interactive
  signalbox runs resume --all
  signalbox runs resume --all --pipeline refund --label shop=berlin --json

--all continues, once each, the runs that a fault suspended, whose wait is over, whose calls are decided, or whose process is
gone. It skips runs that another process executes, and a run that fails does not stop the others. \`signalbox work\` does
the same until you stop it.

A run that has ended is only shown again; \`runs retry\` continues one that failed.

Exit codes: 0 completed, 1 failed, denied, cancelled or suspended by a fault, or another process executes the run (RUN_BUSY),
2 wrong call or config, 3 waiting for a person or a time, 130 interrupted (the run can be resumed). With --all, the worst
of all runs: 1, then 3, then 0.`,
  run: async (context, flags, given) => {
    if (given === undefined || flags.all === true) return await resumeAll(context, given, flags);
    if (flags.pipeline !== undefined || flags.label !== undefined) {
      throw new RuntimeError('USAGE', '--pipeline and --label need --all', {
        hint: 'Give --all, or only the id of a run.',
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
  about: 'continue a run that failed or was denied, from the step that failed',
  remote: ['--detach', ...runOptionNames],
  options: {
    '--from <step>': 'repeat this earlier step and all steps after it; its id, or its path',
    '--detach': 'leave the run to a worker, and do not wait',
    ...runOptions,
  },
  examples: `
Examples:
  signalbox runs retry run_51c0
  signalbox runs retry run_51c0 --from answer
  signalbox runs retry run_51c0 --from 'mails[2]/send'
  signalbox runs retry run_51c0 --detach

Only what failed is repeated: failed calls, the failed items of a loop, the failed model call of a chat. Everything before
it is reused. A tool receives the same idempotency key as before, so a tool that finished its work before the fault does
not repeat it; a call with changed arguments gets a new key. Approvals stay valid; a call that was rejected asks again.

Exit codes: 0 completed, or left to a worker, 1 failed, denied or cancelled, or another process executes the run (RUN_BUSY),
2 wrong call or config, or a run that did not fail (RUN_NOT_RETRYABLE), 3 waiting for a person, 130 interrupted
(\`runs resume\` continues).`,
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
      'cannot be combined with --detach, because a worker executes the run',
      'Leave out --detach or the other option.',
    );
    const { runtime, id } = await openForId(context, wanted);
    const queued = await runtime.runs.queueRetry(id, { from });
    return { document: queued, text: queued.run_id };
  },
});

const cancel = command('cancel <id>', {
  about: 'cancel a run for good, with all of its calls that wait',
  remote: ['--by'],
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
  about: 'remove runs that ended long ago, with all their data',
  options: {
    '--older-than <duration>': [
      'the least age since the end of a run, such as 12h or 30d; 0s for all that ended',
      { default: '30d' },
    ],
  },
  examples: `
Examples:
  signalbox runs prune
  signalbox runs prune --older-than 12h --json
  signalbox runs prune --older-than 0s

Runs that wait, are suspended or were interrupted are never removed.`,
  run: async (context, flags) => {
    const olderThanMs = await readAge('--older-than', flags.olderThan);
    const pruned = await requireOneRuntime(await openAllRuntimes(context)).runs.prune({ olderThanMs });
    return { document: { pruned }, text: `removed ${formatCount(pruned, 'run')}` };
  },
});

export const runsCommands = group('runs', {
  about: 'show, resume, retry and cancel runs',
  examples: `
Examples:
  signalbox runs list --status pending
  signalbox runs show run_51c0
  signalbox runs resume run_51c0

A unique prefix of an id is enough. Without --config and without a runtime.yaml in this folder, the state stores
(.signalbox/state.db) of all folders below are searched.`,
  commands: [list, show, resume, retry, cancel, prune],
});

async function readFilter(own: Flags<typeof listOptions>, runtimes: readonly Desk[]): Promise<RunListFilter> {
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
  runtimes: readonly Desk[],
  filter: RunListFilter,
): Promise<RunPage & { readonly homes?: ReadonlyMap<RunInfo, Desk> }> {
  const { limit, after } = filter;
  const [only, ...others] = runtimes;
  if (only !== undefined && others.length === 0)
    return limit === undefined ? { runs: await only.runs.list(filter) } : await only.runs.page(filter);
  if (after !== undefined) requireOneRuntime(runtimes);
  const homes = new Map<RunInfo, Desk>();
  for (const runtime of runtimes) for (const run of await runtime.runs.list(filter)) homes.set(run, runtime);
  const newestFirst = [...homes.keys()].toSorted((one, other) =>
    other.created_at.localeCompare(one.created_at),
  );
  return { runs: newestFirst.slice(0, limit), homes };
}

interface ShownRun {
  readonly runtime: Desk;
  readonly id: string;
  readonly flags: {
    readonly step?: string;
    readonly full?: true;
    readonly limit?: number | undefined;
    readonly after?: string;
  };
}

async function printText({ invocation, terminal }: CommandContext, shown: ShownRun): Promise<void> {
  const { runtime, id, flags } = shown;
  const { formatDuration, formatUsd } = await import('../../runtime/runtime.ts');
  const { columns } = terminal.stdout;
  const isShortened = invocation.stdout.isTTY === true && flags.full !== true;
  const width = isShortened ? columns : undefined;
  const options = { step: flags.step, ...(isShortened && { maxCharacters: SHOWN_CHARACTERS }) };
  const steps = readSteps(shown, options);
  let next = await steps.next();
  const isWhole = flags.step === undefined && flags.after === undefined;
  const details = isWhole && !isPaged(shown) ? await runtime.runs.show(id, options) : undefined;
  const about = details ?? (isWhole ? await runtime.runs.summary(id, options) : undefined);
  if (about !== undefined) {
    const pendings = about.pendings.length === 0 ? [] : await runtime.pending.list({ runId: id });
    await printDetails(about, pendings, nextCommands(invocation, runtime), { ...terminal, width });
  }
  const toText = (step: StepDetails) =>
    stepText(step, { formatDuration, formatUsd, width, isDetailed: flags.step !== undefined });
  let before = about === undefined ? '' : '\n';
  for (; next.done !== true; next = await steps.next()) {
    await terminal.printNext(`${before}${toText(next.value)}`);
    before = '\n';
  }
  for (const step of next.value.open ?? []) terminal.print(`\n${toText(step)}`);
  if (details !== undefined) terminal.print(`\n${totalsText(details, { formatDuration, formatUsd })}`);
  if (next.value.next !== undefined) terminal.printStderr(`there are more: --after ${next.value.next}`);
}

/** A sentence or two, or three lines of a terminal. */
const SHOWN_CHARACTERS = 200;

/** Streams one document, since a run may be larger than memory. */
async function printDocument({ terminal }: CommandContext, shown: ShownRun): Promise<void> {
  const { runtime, id, flags } = shown;
  const { jsonText, stdout } = terminal;
  const steps = readSteps(shown, { step: flags.step });
  let next = await steps.next();
  const read = isPaged(shown) ? runtime.runs.summary : runtime.runs.show;
  const about = flags.after === undefined ? await read(id) : { run_id: id };
  await stdout.write(`${jsonText(about).slice(0, -1)},"steps":[`);
  for (let before = ''; next.done !== true; before = ',') {
    await stdout.write(`${before}${jsonText(next.value)}`);
    next = await steps.next();
  }
  const others = jsonText(next.value);
  await stdout.write(others === '{}' ? ']}\n' : `],${others.slice(1)}\n`);
}

function isPaged({ flags }: ShownRun): boolean {
  return flags.limit !== undefined || flags.after !== undefined;
}

/** Returns the rest of the page. Throws USAGE. */
async function* readSteps(
  shown: ShownRun,
  options: StepsOptions,
): AsyncGenerator<StepDetails, Omit<StepPage, 'steps'>> {
  const { runtime, id, flags } = shown;
  let count = 0;
  if (!isPaged(shown)) {
    for await (const step of runtime.runs.steps(id, options)) {
      yield step;
      count += 1;
    }
    if (count === 0 && flags.step !== undefined) throw unknownStep(id, flags.step);
    return {};
  }
  const { limit = PAGE_SIZE } = flags;
  let { after } = flags;
  let open: Omit<StepPage, 'steps'> = {};
  do {
    const size = Math.min(limit - count, STEPS_AT_ONCE);
    const { steps, next, ...others } = await runtime.runs.pageSteps(id, { ...options, limit: size, after });
    if (after === undefined) open = others;
    if (steps.length === 0 && after === undefined && others.open === undefined && flags.step !== undefined)
      throw unknownStep(id, flags.step);
    yield* steps;
    count += steps.length;
    after = next;
  } while (after !== undefined && count < limit);
  return { ...open, ...(after !== undefined && { next: after }) };
}

const PAGE_SIZE = 100;

/** A page of long steps is read and written in parts. */
const STEPS_AT_ONCE = 4;

function unknownStep(id: string, step: string): RuntimeError {
  return new RuntimeError('USAGE', `run ${id} has no step "${step}"`, {
    hint: 'Leave out --step to see the steps of the run; it has no entry for a step that has not started.',
  });
}

/** Tries each resumable run once, regardless of the others. Throws USAGE, STORE_FAILED, ABORTED. */
async function resumeAll(
  context: CommandContext,
  given: string | undefined,
  flags: RunFlags & { readonly all?: true; readonly pipeline?: string; readonly label?: readonly string[] },
): Promise<Outcome> {
  if (given === undefined && flags.all !== true)
    throw new RuntimeError(
      'USAGE',
      'the id of a run is missing; give it, or --all for every run that can continue now',
    );
  if (given !== undefined) throw new RuntimeError('USAGE', '--all cannot be combined with the id of a run');
  const { setDown: _setDown, ...others } = flags;
  refuseRunOptions(others, 'cannot be combined with --all', 'Give the id of a run instead of --all.');
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
