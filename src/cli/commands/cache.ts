import type { Command } from 'commander';
import { formatCount } from '../../base/text/format-count.ts';
import type { RunCommand } from '../command.ts';

/** `cache clear`. */
export function addCacheCommands(program: Command, runCommand: RunCommand): void {
  program
    .command('cache')
    .description('the answers of models that `eval run --cache` keeps')
    .addHelpText('after', '\nExamples:\n  signalbox cache clear\n  signalbox cache clear /var/cache/answers')
    .command('clear [folder]')
    .description('remove the answers of models that are kept')
    .addHelpText('after', examples)
    .action(async (folder: string | undefined, _own: object, command: Command) => {
      await runCommand(command, async ({ open, options, terminal }) => {
        const cleared = await (await open()).evals.clearCache(folder);
        if (options.json) terminal.printJson(cleared);
        else {
          const { removed } = cleared;
          terminal.print(`${formatCount(removed, 'answer')} removed from ${cleared.folder}`);
        }
        return 0;
      });
    });
}

const examples = `
Without a folder, those beside the state of --config are removed. Other files in the folder stay. Answers of subjects go with
\`eval prune\`.

Examples:
  signalbox cache clear
  signalbox cache clear /var/cache/answers --json

Exit codes: 0 done, 2 wrong call or config, or a folder that cannot be read or written.`;
