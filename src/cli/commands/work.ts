import type { Command } from 'commander';
import { RuntimeError } from '../../base/errors.ts';
import { formatCount } from '../../base/text/format-count.ts';
import type { WorkedRun } from '../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../command.ts';
import { type ExitCode, exitCodeOfRun } from '../exit-code.ts';
import { readNumber } from '../input.ts';
import { countsText, goneOnText } from '../show/worked-runs.ts';
import { versionOf } from '../version.ts';

interface WorkFlags {
  readonly concurrency?: string;
  readonly once?: true;
  readonly drain: string;
}

/** `work`. */
export function addWorkCommand(program: Command, runCommand: RunCommand): void {
  program
    .command('work')
    .description('go on with runs as they are due, until it is stopped')
    .option('--concurrency <number>', 'runs at once (default: the number of cores)')
    .option('--once', 'end when none is due any more')
    .option('--drain <duration>', 'how long runs may go on after SIGTERM before they are set down', '30s')
    .addHelpText('after', examples)
    .action(async (flags: WorkFlags, command: Command) => {
      await runCommand(command, async (context) => await work(context, flags), flags.once !== true);
    });
}

const examples = `
Examples:
  signalbox work
  signalbox work --config agents/runtime.yaml --concurrency 20
  signalbox work --once --json | jq -r '.runs[] | select(.status == "failed") | .run_id'

Due is a run that a fault suspended and whose pause is over, one whose \`wait\` is over, one whose calls were decided or have expired, and one whose
process is gone. Any number of them may work over one store: each run is executed by one at a time.
Over Postgres it is a \`signalbox worker\` of all pipelines and suites of the folder; that command has more options.
SIGTERM and Ctrl-C: it takes no further run, and ends when those under way have ended, or after --drain. A second one: at once.

Exit codes: 0 stopped, or all of --once went well, 1 the store failed, or with --once a run failed or is suspended, 2 wrong call or config, or the
state store is memory, 3 with --once: a run waits again.`;

async function work(context: CommandContext, flags: WorkFlags): Promise<ExitCode> {
  const { options, terminal, signal, invocation, open } = context;
  invocation.limitHeapGrowth();
  const { formatDuration, parseDuration } = await import('../../runtime/runtime.ts');
  const drainMs = parseDuration(flags.drain);
  if (drainMs === undefined) {
    throw new RuntimeError('USAGE', `--drain takes a duration, not "${flags.drain}"`, {
      hint: 'Write it like 500ms, 30s or 2m.',
    });
  }
  const once = flags.once === true;
  const concurrency = readNumber('--concurrency', flags.concurrency);
  const runtime = await open(options.config, { outlivesInterrupt: true, isService: true });
  if (options.stopTimeout === undefined) invocation.stopWithin(drainMs + AFTER_DRAIN_MS);
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
  if (options.json) terminal.printJson({ runs });
  else terminal.printStderr(countsText(runs));
  return worstOf(runs);
}

/** What holds up the end once the drain is over, such as a database that is gone. */
const AFTER_DRAIN_MS = 40_000;

function worstOf(runs: readonly WorkedRun[]): ExitCode {
  const codes = runs.map(({ status }) => (status === 'left' ? 1 : exitCodeOfRun(status)));
  return codes.includes(1) ? 1 : codes.includes(3) ? 3 : 0;
}
