import { RuntimeError } from '../../base/errors.ts';
import { command, type OpenOptions } from '../command.ts';
import { executeRun, refuseRunOptions, runOptions } from '../execute-run.ts';
import { readLabels } from '../input.ts';

export const runCommand = command('run <pipeline>', {
  about: 'run a pipeline, until it ends or waits for a person',
  options: {
    '--input <json>': ['the input: JSON, @FILE, or - for stdin', { default: '{}' }],
    '--id <id>': 'the run’s own id: of several starts with one id, the first makes the run',
    '--label <name=value>': ['what the run is found by; may be given again', { isMany: true }],
    '--detach': 'leave the run to a worker, print its id and wait for nothing',
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

With --id, a start that is tried again begins no second run: it goes on with the first one where that was cut off, suspended or set down, and tells of
it else: its result if it has ended, its state if it waits for a person or another process executes it.
A start with another pipeline or input under the same id is refused (RUN_ID_TAKEN).

What waits for a person is decided with \`signalbox pending\`; then \`signalbox runs resume\` goes on.

With --detach a \`signalbox worker\` executes the run, on any machine (spec.state_store is postgres); \`signalbox runs show\` tells
what came of it.

Where spec.state_store is memory, a run that waits ends with the process: decide with --interactive.

A fault of a model or of a server that may be gone later suspends the run (\`on_fault\` of the pipeline): \`signalbox work\` goes on with it by itself.

Exit codes: 0 completed, or kept for a worker, 1 failed, denied, cancelled or suspended by a fault, 2 wrong call, config or input,
3 waiting for a person or a time, or started before and not at its end, 130 interrupted (the run can be resumed).`,
  run: async (context, own, file) => {
    const { input, options, isConfigGiven, open } = context;
    if (own.interactive && own.input === '-') {
      throw new RuntimeError('USAGE', '--interactive needs stdin, so --input cannot read it', {
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
      'means nothing where a worker executes the run',
      'Leave out one of --detach and the other.',
    );
    const queued = await runtime.runs.queue(file, text, startOptions());
    return { document: queued, text: queued.run_id };
  },
});
