import type { Command } from 'commander';
import { RuntimeError } from '../../base/errors.ts';
import type { RunCommand } from '../command.ts';
import { addRunFlags, executeRun, type RunFlags } from '../execute-run.ts';
import { openForId, resolveId } from '../show/state-stores.ts';

interface RetryFlags extends RunFlags {
  readonly from?: string;
  readonly detach?: true;
}

/** `runs retry`. */
export function addRunsRetry(group: Command, runCommand: RunCommand): void {
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
