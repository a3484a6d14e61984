import type { Command } from 'commander';
import { RuntimeError } from '../../base/errors.ts';
import { formatCount } from '../../base/text/format-count.ts';
import type { Worker } from '../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../command.ts';
import { readNumber } from '../input.ts';
import { untilAborted } from '../until-aborted.ts';
import { versionOf } from '../version.ts';

interface WorkerFlags {
  readonly concurrency?: string;
  readonly pipelines?: string;
  readonly suites?: string;
  readonly health?: string;
  readonly drain: string;
}

/** `worker`. */
export function addWorkerCommand(program: Command, runCommand: RunCommand): void {
  program
    .command('worker')
    .description('go on with runs of a Postgres store, one of as many workers as there are')
    .option('--concurrency <number>', 'runs at once (default: the number of cores)')
    .option(
      '--pipelines <glob>',
      'the pipeline files, as seen from the config’s folder',
      '**/*.pipeline.yaml',
    )
    .option('--suites <glob>', 'the suite files, as seen from the config’s folder', '**/*.suite.yaml')
    .option('--health <address>', 'HOST:PORT that answers GET /healthz and /readyz; port 0 is any free one')
    .option('--drain <duration>', 'how long runs may go on after SIGTERM before others get them', '30s')
    .addHelpText('after', examples)
    .action(async (flags: WorkerFlags, command: Command) => {
      await runCommand(command, async (context) => await work(context, flags), true);
    });
}

const examples = `
Examples:
  signalbox worker
  signalbox worker --config agents/runtime.yaml --concurrency 20
  signalbox worker --pipelines 'refunds/*.pipeline.yaml' --health 0.0.0.0:8080
  signalbox worker --json | head -1 | jq -r .id

It judges parts of suites (\`signalbox eval run --workers\`), and goes on with runs of \`signalbox run --detach\`, with those whose calls have been decided, and with those whose worker is gone.
The pipelines, config and scripts are read once: a changed file is a new worker, and the old one takes none of its runs.
SIGTERM and Ctrl-C: it takes no further run, and ends when those under way have ended, or after --drain. A second one: at once.

Exit codes: 0 drained, 1 the store failed, 2 wrong call or config, or the store is of one machine.`;

async function work(context: CommandContext, flags: WorkerFlags): Promise<0> {
  const { options, terminal, signal, invocation, open } = context;
  invocation.limitHeapGrowth();
  const { parseDuration } = await import('../../runtime/runtime.ts');
  const drainMs = parseDuration(flags.drain);
  if (drainMs === undefined) {
    throw new RuntimeError('USAGE', `--drain takes a duration, not "${flags.drain}"`, {
      hint: 'Write it like 500ms, 30s or 2m.',
    });
  }
  const runtime = await open(options.config, { outlivesInterrupt: true, isService: true });
  const worker = await runtime.worker({
    ...{ pipelines: flags.pipelines, suites: flags.suites, health: flags.health, version: versionOf() },
    concurrency: readNumber('--concurrency', flags.concurrency),
  });
  if (options.stopTimeout === undefined) invocation.stopWithin(drainMs + AFTER_DRAIN_MS);
  if (options.json) terminal.printJson(toDocument(worker));
  else terminal.print(describe(worker));
  await untilAborted(signal);
  await worker.drain(drainMs);
  return 0;
}

/** What holds up the end once the drain is over, such as a database that is gone. */
const AFTER_DRAIN_MS = 40_000;

function toDocument({ id, concurrency, pipelines, suites, builds, health }: Worker) {
  return { id, concurrency, pipelines, suites, builds, health };
}

function describe({ id, concurrency, pipelines, suites, health }: Worker): string {
  const at = health === null ? '' : `, health at ${health}`;
  return `worker ${id} is ready: ${formatCount(pipelines.length, 'pipeline')}, ${formatCount(suites.length, 'suite')}, ${formatCount(concurrency, 'run')} at once${at}`;
}
