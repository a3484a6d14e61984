import { RuntimeError } from '../../base/errors.ts';
import { command, type OpenOptions } from '../command.ts';
import { executeRun, refuseRunOptions, runOptions } from '../execute-run.ts';
import { readLabels } from '../input.ts';

export const runCommand = command('run <pipeline>', {
  about: 'run a pipeline, until it ends or waits for a person',
  options: {
    '--input <json>': ['the input: JSON, @FILE, or - for stdin', { default: '{}' }],
    '--id <id>': 'the id of the run: of several starts with one id, only the first creates a run',
    '--label <name=value>': ['a label, to find the run by; may be repeated', { isMany: true }],
    '--detach': 'leave the run to a worker, print its id and end',
    ...runOptions,
  },
  examples: `
Examples:
  signalbox run refund.pipeline.yaml --input '{"order": "A-17"}'
  signalbox run refund.pipeline.yaml --input @order.json --json > run.json
  signalbox run refund.pipeline.yaml --input @order.json --interactive
  signalbox run refund.pipeline.yaml --input @order.json --replay recording.jsonl
  signalbox run refund.pipeline.yaml --input @order.json --detach --json | jq -r .run_id
  signalbox run refund.pipeline.yaml --input @order.json --id refund-A-17 --label shop=berlin --label order=A-17

With --id, you can repeat a start without a second run. The repeated start continues the first run if that was interrupted,
suspended or left waiting. Otherwise it prints the result of the run, or its state while it waits for a person or another
process executes it. A start with the same id and another pipeline or input fails (RUN_ID_TAKEN).

If a run waits for a person, decide with \`signalbox pending\`, then continue with \`signalbox runs resume\`. If
spec.state_store is memory, a waiting run ends with the process: decide with --interactive.

With --detach, a \`signalbox worker\` on any machine executes the run (spec.state_store is postgres).
\`signalbox runs show\` shows the result.

A temporary fault of a model or server suspends the run (\`on_fault\` of the pipeline). \`signalbox work\` resumes it
automatically.

More: docs/start/first-pipeline.md, docs/operate/work.md

Exit codes: 0 completed, or left to a worker, 1 failed, denied, cancelled or suspended by a fault, 2 wrong call, config or input,
3 waiting for a person or a time, or started before and not ended, 130 interrupted (the run can be resumed).`,
  run: async (context, own, file) => {
    const { input, options, isConfigGiven, open } = context;
    if (own.interactive && own.input === '-') {
      throw new RuntimeError('USAGE', '--input - cannot be combined with --interactive, which needs stdin', {
        hint: 'Give the input as @FILE.',
      });
    }
    const text = await input.text('--input', own.input);
    const { loadInputs } = await import('../../runtime/runtime.ts');
    const { runtimeOfPipeline } = await loadInputs();
    const openOwn = (more: OpenOptions) =>
      open(isConfigGiven ? options.config : runtimeOfPipeline(file, options.config), more);
    const startOptions = () => ({ id: own.id, labels: readLabels(own.label) });
    if (!own.detach)
      return await executeRun(context, {
        flags: own,
        open: openOwn,
        start: (runtime, runOptions) => runtime.run(file, text, { ...runOptions, ...startOptions() }),
      });
    const runtime = await openOwn({});
    refuseRunOptions(
      own,
      'cannot be combined with --detach, because a worker executes the run',
      'Leave out --detach or the other option.',
    );
    const queued = await runtime.runs.queue(file, text, startOptions());
    return { document: queued, text: queued.run_id };
  },
});
