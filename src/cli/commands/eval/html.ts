import type { Command } from 'commander';
import type { RunCommand } from '../../command.ts';
import { isRunFile, openRunFinder } from './find-run.ts';

/** `eval html`. */
export function addHtml(group: Command, runCommand: RunCommand): void {
  group
    .command('html <run>')
    .description('write a run as one page, to look into every case')
    .option('--output <file>', 'the page; - for stdout (default RUN.html)')
    .addHelpText('after', examples)
    .action(async (given: string, own: { output?: string }, command: Command) => {
      await runCommand(command, async (context) => {
        const { options, terminal } = context;
        const source = await openRunFinder(context).open(given);
        const { loadResults } = await import('../../../runtime/runtime.ts');
        const { openDelivery, replayReport } = await loadResults();
        const file = own.output ?? `${source.header.run_id}.html`;
        const place = file === '-' ? {} : { file };
        const delivery = await openDelivery([{ name: 'html', ...place }], {
          stdout: terminal.stdout,
          inputs: isRunFile(given) ? [{ file: given, what: 'the run that it shows' }] : [],
        });
        try {
          await replayReport(source, delivery.reporter);
          await delivery.close();
        } catch (error) {
          await delivery.abort();
          throw error;
        }
        if (file === '-') return 0;
        if (options.json) terminal.printJson({ file });
        else terminal.print(file);
        return 0;
      });
    });
}

const examples = `
The run is a file of \`eval run --reporter jsonl=FILE\`, the id of a kept run (see \`eval list\`), \`last\` or \`last~1\`.
The page needs nothing else: it can be kept as an artifact of a CI job, or sent to somebody.

Examples:
  signalbox eval html last --output report.html
  signalbox eval html report.jsonl --output - > report.html

Exit codes: 0 written, 2 wrong call, no such run, a store that fails, or the page cannot be written.`;
