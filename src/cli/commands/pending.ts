import { relative } from 'node:path';
import type { Command } from 'commander';
import { escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import type { PendingDocument } from '../../contract/approval.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../command.ts';
import { type DecisionFlags, decidePending } from '../decision.ts';
import { exactText } from '../exact-text.ts';
import { addRunFlags } from '../execute-run.ts';
import { formatFields } from '../fields.ts';
import { shortIds } from '../id.ts';
import { type NextCommands, nextCommands } from '../next-command.ts';
import { choicesText, jsonLine, questionOfDocument, questionText } from '../show/pending.ts';
import { openAllRuntimes, openForId } from '../show/state-stores.ts';
import type { Terminal } from '../terminal.ts';

/** `pending list`, `show`, `approve`, `reject`, `respond` and `answer`. */
export function addPendingCommands(program: Command, runCommand: RunCommand): void {
  const group = program
    .command('pending')
    .description('decide about tool calls that wait for a person')
    .addHelpText('after', groupExamples);
  addList(group, runCommand);
  addShow(group, runCommand);
  addApprove(group, runCommand);
  addReject(group, runCommand);
  addRespond(group, runCommand);
  addAnswer(group, runCommand);
}

function addList(group: Command, runCommand: RunCommand): void {
  group
    .command('list')
    .description('show the calls that wait, in the order in which they came')
    .option('--all', 'decided ones too')
    .option('--run <id>', 'those of one run')
    .addHelpText('after', listExamples)
    .action(async (own: { all?: true; run?: string }, command: Command) => {
      await runCommand(command, async (context) => {
        const { options, terminal } = context;
        const { all } = own;
        const lists: { runtime: Runtime; calls: PendingDocument[] }[] = [];
        if (own.run === undefined) {
          for (const runtime of await openAllRuntimes(context))
            lists.push({ runtime, calls: await runtime.pending.list({ all }) });
        } else {
          const { runtime, id: runId } = await openForId(context, { kind: 'run', given: own.run });
          await runtime.runs.show(runId);
          lists.push({ runtime, calls: await runtime.pending.list({ all, runId }) });
        }
        if (options.json) terminal.printJson({ pending: lists.flatMap(({ calls }) => calls) });
        else printLists(lists, context);
        return 0;
      });
    });
}

function printLists(
  lists: readonly { readonly runtime: Runtime; readonly calls: readonly PendingDocument[] }[],
  { terminal, invocation: { cwd } }: Pick<CommandContext, 'terminal' | 'invocation'>,
): void {
  const all = lists.flatMap(({ runtime, calls }) => calls.map((call) => ({ call, runtime })));
  if (all.length === 0) {
    terminal.printStderr('no call waits for a person');
    return;
  }
  const short = shortIds(all.flatMap(({ call: { id, run_id } }) => [id, run_id]));
  const isMixed = lists.length > 1;
  terminal.printTable(
    ['call', 'run', 'tool', 'status', 'asked', ...(isMixed ? ['config'] : []), 'question'],
    all.map(({ call, runtime }) => {
      const config = isMixed ? [relative(cwd, runtime.file)] : [];
      return [
        short(call.id),
        short(call.run_id),
        ...rowOf(call),
        ...config,
        escapeInvisibleLine(call.message),
      ];
    }),
  );
}

function rowOf(document: PendingDocument): string[] {
  const { tool, status, created_at, quorum, approvals = [] } = document;
  const count =
    status === 'open' && quorum !== undefined ? ` (${approvals.length} of ${quorum} approve)` : '';
  return [tool, `${status}${count}`, created_at];
}

function addShow(group: Command, runCommand: RunCommand): void {
  group
    .command('show <id>')
    .description('show one call: who asks, for what, and what was decided')
    .addHelpText('after', showExamples)
    .action(async (given: string, _own: unknown, command: Command) => {
      await runCommand(command, async (context) => {
        const { invocation, options, terminal } = context;
        const { runtime, id } = await openForId(context, { kind: 'pending', given });
        const document = await runtime.pending.show(id);
        if (options.json) terminal.printJson(document);
        else printCall(document, nextCommands(invocation, runtime), terminal);
        return 0;
      });
    });
}

function printCall(document: PendingDocument, commands: NextCommands, { print }: Terminal): void {
  print(questionText(questionOfDocument(document)));
  if (document.status === 'open') print(choicesText(document.id, commands, document.tool));
  else print(decisionText(document));
}

/** Who decided what, when and why. */
function decisionText(document: PendingDocument): string {
  const { status, by, decided_at, decision_reason } = document;
  const reason = decision_reason ?? '';
  return formatFields([
    [
      'decided',
      `${status}${by === null || by === '' ? '' : ` by ${escapeInvisibleLine(by)}`} at ${decided_at}`,
    ],
    ...(reason === '' ? [] : [['reason', escapeInvisibleLine(reason)] as const]),
    ...(document.edited_args === null
      ? []
      : [['arguments', jsonLine(exactText(document, 'edited_args'))] as const]),
    ...(status === 'responded' ? [['result', jsonLine(exactText(document, 'result'))] as const] : []),
  ]);
}

function addApprove(group: Command, runCommand: RunCommand): void {
  const command = group
    .command('approve <id>')
    .description('let a call go ahead, with other arguments if you give some')
    .option('--args <json>', 'arguments in place of those asked for: a JSON object, @FILE, or - for stdin')
    .option('--reason <text>', 'why');
  addDecisionOptions(command)
    .addHelpText('after', approveExamples)
    .action(async (given: string, own: DecisionFlags & { args?: string }, command: Command) => {
      await runCommand(command, async (context) => {
        const args = own.args === undefined ? undefined : await context.input.text('--args', own.args);
        return await decidePending(context, { given, own }, (runtime, id, decider) =>
          runtime.pending.approve(id, { ...decider, args }),
        );
      });
    });
}

function addReject(group: Command, runCommand: RunCommand): void {
  const command = group
    .command('reject <id>')
    .description('refuse a call, and say why')
    .requiredOption('--reason <text>', 'why; whoever made the call is told');
  addDecisionOptions(command)
    .addHelpText('after', rejectExamples)
    .action(async (given: string, own: DecisionFlags, command: Command) => {
      await runCommand(command, async (context) =>
        decidePending(context, { given, own }, (runtime, id, decider) => runtime.pending.reject(id, decider)),
      );
    });
}

function addRespond(group: Command, runCommand: RunCommand): void {
  const command = group
    .command('respond <id>')
    .description('answer in the place of the tool, which is not run')
    .requiredOption('--result <json>', 'the result: JSON, @FILE, or - for stdin')
    .option('--reason <text>', 'why');
  addDecisionOptions(command)
    .addHelpText('after', respondExamples)
    .action(async (given: string, own: DecisionFlags & { result: string }, command: Command) => {
      await runCommand(command, async (context) => {
        const result = await context.input.json('--result', own.result);
        return await decidePending(context, { given, own }, (runtime, id, decider) =>
          runtime.pending.respond(id, { ...decider, result }),
        );
      });
    });
}

function addAnswer(group: Command, runCommand: RunCommand): void {
  const command = group
    .command('answer <id>')
    .description('answer the question of an `ask` step')
    .requiredOption('--value <json>', 'the answer: JSON that fits the schema, @FILE, or - for stdin')
    .option('--reason <text>', 'why');
  addDecisionOptions(command)
    .addHelpText('after', answerExamples)
    .action(async (given: string, own: DecisionFlags & { value: string }, command: Command) => {
      await runCommand(command, async (context) => {
        const result = await context.input.json('--value', own.value);
        return await decidePending(context, { given, own }, (runtime, id, decider) =>
          runtime.pending.respond(id, { ...decider, result }),
        );
      });
    });
}

function addDecisionOptions(command: Command): Command {
  command
    .option('--by <name>', 'who decides (default: your user name)')
    .option('--resume', 'go on with the run at once; the options below are for this');
  return addRunFlags(command);
}

const groupExamples = `
Examples:
  signalbox pending list
  signalbox pending show pending_3f2a
  signalbox pending approve pending_3f2a --resume

An id may be cut short as long as it is still the only one that begins like this.
Without --config and without a runtime.yaml here, the state stores (.signalbox/state.db)
in the folders below are searched.`;

const listExamples = `
Examples:
  signalbox pending list
  signalbox pending list --all --run run_51c0
  signalbox pending list --json | jq '.pending[] | {id, tool, args}'`;

const showExamples = `
Examples:
  signalbox pending show pending_3f2a
  signalbox pending show pending_3f2a --json | jq .args`;

const decisionCodes = `
Exit codes: 0 decided, 1 somebody else has decided before or it has expired, 2 wrong call or config;
with --resume those of \`signalbox run\`, and 1 if another process executes the run (RUN_BUSY). The decision is kept
even if the run cannot go on then: \`signalbox runs resume\` tries again.`;

const approveExamples = `
Examples:
  signalbox pending approve pending_3f2a
  signalbox pending approve pending_3f2a --args '{"order": "A-17", "amount": 20}' --reason "shipping only"
  signalbox pending approve pending_3f2a --by ada --resume
${decisionCodes}`;

const rejectExamples = `
Examples:
  signalbox pending reject pending_3f2a --reason "not refundable"
  signalbox pending reject pending_3f2a --reason "not refundable" --resume --json
${decisionCodes}`;

const respondExamples = `
Examples:
  signalbox pending respond pending_3f2a --result '{"refunded": 20}'
  signalbox pending respond pending_3f2a --result @result.json --reason "done by hand" --resume
${decisionCodes}`;

const answerExamples = `
Examples:
  signalbox pending answer pending_3f2a --value '{"cents": 2000}'
  signalbox pending answer pending_3f2a --value '"yes"' --by mara --resume
${decisionCodes}`;
