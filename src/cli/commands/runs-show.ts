import type { Command } from 'commander';
import { RuntimeError } from '../../base/errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../command.ts';
import { nextCommands } from '../next-command.ts';
import { printDetails, printTotals } from '../show/details.ts';
import { stepText } from '../show/run-steps.ts';
import { openForId } from '../show/state-stores.ts';

interface ShowFlags {
  readonly step?: string;
  readonly full?: true;
}

/** `runs show`. */
export function addRunsShow(group: Command, runCommand: RunCommand): void {
  group
    .command('show <id>')
    .description('show what a run and its steps came to, and what it waits for')
    .option('--step <name>', 'one step and those inside it: its id, or its path, such as mails[2]')
    .option('--full', 'long texts whole, also on a terminal')
    .addHelpText('after', examples)
    .action(async (given: string, own: ShowFlags, command: Command) => {
      await runCommand(command, async (context) => {
        const { runtime, id } = await openForId(context, { kind: 'run', given });
        await (context.options.json ? printDocument : printText)(context, { runtime, id, flags: own });
        return 0;
      });
    });
}

const examples = `
Examples:
  signalbox runs show run_51c0
  signalbox runs show run_51c0 --step answer
  signalbox runs show run_51c0 --step 'mails[2]' --full
  signalbox runs show run_51c0 --json | jq '.steps[] | {step, status, error}'

Steps stand in the order in which they ended, whatever the clocks said. On a terminal long texts are shortened; in a pipe and
with --json they are whole. Secrets that the config knows, and what stands under the name of a credential, are hidden.
\`cut off\` is a run whose process is gone: \`signalbox runs resume\` goes on with it.`;

interface ShownRun {
  readonly runtime: Runtime;
  readonly id: string;
  readonly flags: ShowFlags;
}

async function printText(
  { invocation, terminal }: CommandContext,
  { runtime, id, flags }: ShownRun,
): Promise<void> {
  const { formatDuration } = await import('../../runtime/runtime.ts');
  const { columns } = terminal.stdout;
  const isShortened = invocation.stdout.isTTY === true && flags.full !== true;
  const width = isShortened ? columns : undefined;
  const options = { step: flags.step, ...(isShortened && { maxCharacters: SHOWN_CHARACTERS }) };
  const details = await runtime.runs.show(id, options);
  if (flags.step === undefined)
    await printDetails(details, nextCommands(invocation, runtime), { ...terminal, width });
  let count = 0;
  for await (const step of runtime.runs.steps(id, options)) {
    const isFirst = count === 0 && flags.step !== undefined;
    count += 1;
    const text = stepText(step, { formatDuration, width, isDetailed: flags.step !== undefined });
    await terminal.printNext(`${isFirst ? '' : '\n'}${text}`);
  }
  if (flags.step === undefined) terminal.print(`\n${printTotals(details, formatDuration)}`);
  else if (count === 0) throw unknownStep(id, flags.step);
}

/** Long enough for a sentence or two, which three lines of a terminal show. */
const SHOWN_CHARACTERS = 200;

/** One document, written as it is read: a run may be larger than memory. */
async function printDocument({ terminal }: CommandContext, { runtime, id, flags }: ShownRun): Promise<void> {
  const details = await runtime.runs.show(id);
  const steps = runtime.runs.steps(id, { step: flags.step })[Symbol.asyncIterator]();
  let next = await steps.next();
  if (next.done === true && flags.step !== undefined) throw unknownStep(id, flags.step);
  const { write } = terminal.stdout;
  await write(`${terminal.jsonText(details).slice(0, -1)},"steps":[`);
  for (let before = ''; next.done !== true; before = ',') {
    await write(`${before}${terminal.jsonText(next.value)}`);
    next = await steps.next();
  }
  await write(']}\n');
}

function unknownStep(id: string, step: string): RuntimeError {
  return new RuntimeError('USAGE', `run ${id} has no step "${step}"`, {
    hint: 'Leave out --step to see those that it has; a step that it has not come to is none.',
  });
}
