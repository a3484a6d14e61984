import type { Fault } from '../../base/errors.ts';
import { escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import { formatCount } from '../../base/text/phrases.ts';
import { versionOf } from '../../base/version.ts';
import type { RunStatus } from '../../contract/run.ts';
import type { WorkedRun } from '../../runtime/runtime.ts';
import { type CommandContext, command, group, untilAborted } from '../command.ts';
import { type ExitCode, exitCodeOfRun } from '../exit-code.ts';
import { shortIds } from '../id.ts';
import { readDuration, readNumber } from '../input.ts';

const concurrency = { '--concurrency <number>': 'runs at once (default: the number of cores)' } as const;

export const workCommand = command('work', {
  about: 'resume runs when they are due, until stopped',
  options: {
    ...concurrency,
    '--once': 'end when no run is due',
    '--drain <duration>': [
      'how long runs may continue after SIGTERM before they are interrupted, to be resumed later',
      { default: '30s' },
    ],
  },
  examples: `
Examples:
  signalbox work
  signalbox work --config agents/runtime.yaml --concurrency 20
  signalbox work --once --json | jq -r '.runs[] | select(.status == "failed") | .run_id'

A run is due if its suspension after a fault or its \`wait\` is over, if its calls were decided or have expired, or if its
process is gone. Several \`signalbox work\` can share one store: only one executes a run at a time. With a Postgres store,
this command is a \`signalbox worker\` for all pipelines and suites of the folder; that command has more options.
After SIGTERM or Ctrl-C, it takes no further run, and ends when those in progress have ended, or after --drain. After a
second signal, it ends at once. More: docs/operate/work.md

Exit codes: 0 stopped, or with --once all runs succeeded, 1 the store failed, or with --once a run failed or is suspended,
2 wrong call or config, or the state store is memory, 3 with --once: a run waits again.`,
  isServer: ({ once }) => once !== true,
  run: async (context, flags) => {
    const { options, terminal, signal, open } = context;
    const drainMs = await readDrain(context, flags.drain);
    const { formatDuration } = await import('../../runtime/runtime.ts');
    const once = flags.once === true;
    const concurrency = readNumber('--concurrency', flags.concurrency);
    const runtime = await open(options.config, {
      outlivesInterrupt: true,
      isService: true,
      hasMetrics: !once,
    });
    limitStop(context, drainMs);
    const runs: WorkedRun[] = [];
    await runtime.work({
      ...{ once, signal, drainMs, concurrency, version: versionOf() },
      onReady: (lanes) => {
        if (once) return;
        if (options.json) terminal.printJson({ concurrency: lanes });
        else terminal.print(`ready: ${formatCount(lanes, 'run')} at once`);
      },
      onRun: (run) => {
        if (once) runs.push(run);
        if (!options.json) terminal.print(goneOnText(run, formatDuration(run.duration_ms)));
      },
    });
    if (!once) return 0;
    return { document: { runs }, note: countsText(runs), exitCode: worstOf(runs) };
  },
});

export const workerCommand = command('worker', {
  about: 'execute runs of a Postgres store, as one of any number of workers',
  options: {
    ...concurrency,
    '--pipelines <glob>': [
      'the pipeline files, relative to the config’s folder',
      { default: '**/*.pipeline.yaml' },
    ],
    '--suites <glob>': ['the suite files, relative to the config’s folder', { default: '**/*.suite.yaml' }],
    '--health <address>': 'HOST:PORT that answers GET /healthz and /readyz; port 0 is any free port',
    '--drain <duration>': [
      'how long runs may continue after SIGTERM before other workers take them',
      { default: '30s' },
    ],
  },
  examples: `
Examples:
  signalbox worker
  signalbox worker --config agents/runtime.yaml --concurrency 20
  signalbox worker --pipelines 'refunds/*.pipeline.yaml' --health 0.0.0.0:8080
  signalbox worker --json | head -1 | jq -r .id

A worker judges parts of suites (\`signalbox eval run --workers\`). It executes runs of \`signalbox run --detach\`, runs whose
calls have been decided, and runs whose worker is gone. It reads pipelines, config and scripts once. To use changed files,
start a new worker; the old one takes none of its runs.
After SIGTERM or Ctrl-C, it takes no further run, and ends when those in progress have ended, or after --drain. After a
second signal, it ends at once. More: docs/operate/workers.md

Exit codes: 0 drained, 1 the store failed, 2 wrong call or config, or the store belongs to one machine.`,
  isServer: true,
  run: async (context, { pipelines, suites, health, ...flags }) => {
    const { options, terminal, signal, open } = context;
    const drainMs = await readDrain(context, flags.drain);
    const runtime = await open(options.config, {
      outlivesInterrupt: true,
      isService: true,
      hasMetrics: true,
    });
    const worker = await runtime.worker({
      ...{ pipelines, suites, health, version: versionOf() },
      concurrency: readNumber('--concurrency', flags.concurrency),
    });
    limitStop(context, drainMs);
    const { id, concurrency, builds } = worker;
    if (options.json)
      terminal.printJson({
        ...{ id, concurrency, pipelines: worker.pipelines, suites: worker.suites, builds },
        health: worker.health,
      });
    else {
      const at = worker.health === null ? '' : `, health at ${worker.health}`;
      const counts = [
        formatCount(worker.pipelines.length, 'pipeline'),
        formatCount(worker.suites.length, 'suite'),
        `${formatCount(concurrency, 'run')} at once${at}`,
      ];
      terminal.print(`worker ${id} is ready: ${counts.join(', ')}`);
    }
    await untilAborted(signal);
    await worker.drain(drainMs);
    return 0;
  },
});

export const workersCommands = group('workers', {
  about: 'show workers',
  commands: [
    command('list', {
      about: 'show the workers of the last hour, on all machines',
      examples: `
Examples:
  signalbox workers list
  signalbox workers list --json | jq -r '.workers[] | select(.status == "silent") | .machine'

A worker without a sign of life for 30 seconds is \`silent\`: other workers take its runs.`,
      run: async ({ open }) => {
        const workers = await (await open()).workers.list();
        const short = shortIds(workers.map(({ id }) => id));
        const rows = workers.map(
          ({ id, machine, pid, status, busy, concurrency, builds, version, seen_at }) => [
            ...[short(id), `${machine}:${pid}`, status, `${busy} of ${concurrency}`, String(builds.length)],
            ...[version, seen_at],
          ],
        );
        const names = ['worker', 'process', 'status', 'runs', 'builds', 'version', 'seen'];
        return { document: { workers }, table: { names, rows, none: 'there are no workers' } };
      },
    }),
  ],
});

async function readDrain({ invocation }: CommandContext, drain: string): Promise<number> {
  invocation.limitHeapGrowth();
  return await readDuration('--drain', drain, '500ms, 30s or 2m');
}

function limitStop({ invocation, options }: CommandContext, drainMs: number): void {
  // Limits what may block after the drain, such as an unreachable database.
  if (options.stopTimeout === undefined) invocation.stopWithin(drainMs + 40_000);
}

export function worstOf(runs: readonly GoneOn[]): ExitCode {
  const codes = runs.map(({ status }) =>
    status === 'busy' ? 0 : status === 'left' ? 1 : exitCodeOfRun[status],
  );
  return codes.includes(1) ? 1 : codes.includes(3) ? 3 : 0;
}

/**
 * The result of resuming a run. `busy`: another process executes it; `left`: it could not be resumed and is unchanged.
 */
export interface GoneOn {
  readonly run_id: string;
  readonly name?: string;
  readonly status: RunStatus | 'busy' | 'left';
  readonly error?: Fault;
}

export function goneOnText({ run_id, name, status, error }: GoneOn, took: string): string {
  const of = name === undefined ? '' : ` ${escapeInvisibleLine(name)}`;
  const why = error === undefined ? '' : `: [${error.code}] ${escapeInvisibleLine(error.message)}`;
  return `${run_id}${of}: ${status === 'busy' ? 'skipped' : status} in ${took}${why}`;
}

export function countsText(runs: readonly GoneOn[]): string {
  if (runs.length === 0) return 'there is no run to resume';
  const words = [...Map.groupBy(runs, ({ status }) => (status === 'busy' ? 'skipped' : status))].map(
    ([word, all]) => `${all.length} ${word}`,
  );
  return `${formatCount(runs.length, 'run')}: ${words.join(', ')}`;
}
