import type { Command } from 'commander';
import { RuntimeError } from '../../../errors.ts';
import type { RunCommand } from '../command.ts';
import { addRunFlags, executeRun, type RunFlags } from '../execute-run.ts';

/** `run`. */
export function addRunCommand(program: Command, runCommand: RunCommand): void {
  const command = program
    .command('run <pipeline>')
    .description('run a pipeline, until it ends or waits for a person')
    .option('--input <json>', 'the input: JSON, @FILE, or - for stdin', '{}');
  addRunFlags(command)
    .addHelpText('after', examples)
    .action(async (file: string, own: RunFlags & { input: string }, command: Command) => {
      await runCommand(command, async (context) => {
        const { input, options, isConfigGiven, open } = context;
        if (own.interactive && own.input === '-') {
          throw new RuntimeError('USAGE', '--interactive needs stdin, so --input cannot read it', {
            hint: 'Give the input as @FILE.',
          });
        }
        const text = await input.text('--input', own.input);
        const { loadInputs } = await import('../../../runtime/runtime.ts');
        const { runtimeOfPipeline } = await loadInputs();
        return await executeRun(context, {
          flags: own,
          open: (more) =>
            open(isConfigGiven ? options.config : runtimeOfPipeline(file, options.config), more),
          start: (runtime, runOptions) => runtime.run(file, text, runOptions),
        });
      });
    });
}

const examples = `
Examples:
  signalbox run refund.pipeline.yaml --input '{"order": "A-17"}'
  signalbox run refund.pipeline.yaml --input @order.json --json > run.json
  signalbox run refund.pipeline.yaml --input @order.json --interactive
  signalbox run refund.pipeline.yaml --input @order.json --replay recording.jsonl

What waits for a person is decided with \`signalbox pending\`; then \`signalbox runs resume\` goes on.

Where spec.state_store is memory, a run that waits ends with the process: decide with --interactive.

Exit codes: 0 completed, 1 failed, denied or cancelled, 2 wrong call, config or input,
3 waiting for a person, 130 interrupted (the run can be resumed).`;
