import type { Command } from 'commander';
import type { WorkerInfo } from '../../runtime/runtime.ts';
import type { RunCommand } from '../command.ts';
import { shortIds } from '../id.ts';

/** `workers list`. */
export function addWorkersCommands(program: Command, runCommand: RunCommand): void {
  program
    .command('workers')
    .description('see who goes on with runs')
    .command('list')
    .description('show the workers of the last hour, on all machines')
    .addHelpText('after', examples)
    .action(async (_flags: unknown, command: Command) => {
      await runCommand(command, async ({ options, terminal, open }) => {
        const workers = await (await open()).workers.list();
        if (options.json) terminal.printJson({ workers });
        else if (workers.length === 0) terminal.printStderr('there are no workers');
        else {
          const short = shortIds(workers.map(({ id }) => id));
          terminal.printTable(
            columns,
            workers.map((worker) => rowOf(worker, short)),
          );
        }
        return 0;
      });
    });
}

const columns = ['worker', 'process', 'status', 'runs', 'builds', 'version', 'seen'];

function rowOf(worker: WorkerInfo, short: (id: string) => string): string[] {
  const { id, machine, pid, status, busy, concurrency, builds, version, seen_at } = worker;
  return [
    ...[short(id), `${machine}:${pid}`, status, `${busy} of ${concurrency}`, String(builds.length)],
    ...[version, seen_at],
  ];
}

const examples = `
Examples:
  signalbox workers list
  signalbox workers list --json | jq -r '.workers[] | select(.status == "silent") | .machine'

A worker that has not been heard of for 30 seconds is \`silent\`: others have its runs.`;
