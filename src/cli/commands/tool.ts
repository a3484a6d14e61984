import type { Command } from 'commander';
import type { Fault } from '../../base/errors.ts';
import { isJson } from '../../base/json/try-parse.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import type { ToolDocument } from '../../contract/document.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { RunCommand } from '../command.ts';
import { exactText } from '../exact-text.ts';
import { exitCodeOfTool } from '../exit-code.ts';
import { wanted } from '../input.ts';
import { type NextCommands, nextCommands } from '../next-command.ts';
import { choicesText, headline, memoryStoreText, resumeText } from '../show/pending.ts';
import { codeText, nameText, type Terminal } from '../terminal.ts';

/** `tool list` and `tool call`. */
export function addToolCommands(program: Command, runCommand: RunCommand): void {
  const tool = program.command('tool').description('list and call tools').addHelpText('after', groupExamples);
  tool
    .command('list')
    .description('show the declared tools')
    .addHelpText('after', listExamples)
    .action(async (_options: unknown, command: Command) => {
      await runCommand(command, async ({ options, terminal, open }) => {
        const tools = (await open()).tools.list();
        if (options.json) terminal.printJson({ tools });
        else
          terminal.printTable(
            ['tool', 'runtime', 'description'],
            tools.map(({ name, runtime, description }) => [name, runtime, description]),
          );
        return 0;
      });
    });
  tool
    .command('call <name>')
    .description('call a tool, with the hooks around it')
    .option('--args <json>', 'the arguments: a JSON object, @FILE, or - for stdin', '{}')
    .option('--approve', 'consent on the spot when the tool asks for a person')
    .addHelpText('after', callExamples)
    .action(async (name: string, own: { args: string; approve?: true }, command: Command) => {
      await runCommand(command, async ({ invocation, options, terminal, input, signal, open }) => {
        const args = await input.text('--args', own.args);
        const runtime = await open();
        const document = await runtime.tools.call(name, args, {
          signal,
          wholeFaults: true,
          ...(own.approve && { approve: async ({ id }) => approval(id, invocation.userName()) }),
        });
        if (options.json) terminal.printJson(document);
        else
          printResult(
            document,
            { runtime, name, args, commands: nextCommands(invocation, runtime) },
            terminal,
          );
        if (document.status === 'pending' && !runtime.isDurable)
          terminal.printStderr(memoryStoreText('consent on the spot with --approve'));
        return exitCodeOfTool(document.status);
      });
    });
}

const groupExamples = `
Examples:
  signalbox tool list
  signalbox tool call weather --args '{"city": "Oslo"}'`;

const listExamples = `
Examples:
  signalbox tool list
  signalbox tool list --json | jq '.tools[] | {name, input_schema}'

Tools without an exec binding are listed with the runtime "none".`;

const callExamples = `
Examples:
  signalbox tool call weather --args '{"city": "Oslo"}'
  signalbox tool call refund --args @request.json --json
  echo '{"order": "A-17"}' | signalbox tool call lookup --args -

A call that waits for a person is kept: decide with \`signalbox pending\`, then \`signalbox runs resume\`
makes the call. With --approve you consent on the spot. Where spec.state_store is memory, nothing is kept.

Exit codes: 0 ok, 1 failed or denied, 2 wrong call or config, 3 waiting for a person.`;

function approval(id: string, by: string) {
  return { id, decision: 'approved', by, reason: 'approved on the command line' } as const;
}

function printResult(
  document: ToolDocument,
  { runtime, name, args, commands }: { runtime: Runtime; name: string; args: string; commands: NextCommands },
  terminal: Terminal,
): void {
  switch (document.status) {
    case 'ok':
      terminal.printValue(resultText(document));
      return;
    case 'failed':
      printFault(document.error, { name, args }, terminal);
      return;
    case 'denied': {
      const { hook, reason, error } = document;
      // A reason of ours names the hook itself.
      const by = reason.startsWith(`hook "${hook}"`) ? '' : ` by hook "${hook}"`;
      terminal.printStderr(`denied${by}: ${codeText(error)}${escapeInvisible(reason)}`);
      terminal.printHint(error);
      return;
    }
    case 'pending': {
      const { id, run_id } = document.pending;
      terminal.printStderr(headline(document.pending));
      if (!runtime.isDurable) return;
      terminal.printStderr(choicesText(id, commands));
      terminal.printStderr(resumeText(run_id, commands, { isLast: true }));
    }
  }
}

function printFault(
  { code, message, hint, details }: Fault,
  { name, args }: { readonly name: string; readonly args: string },
  terminal: Terminal,
): void {
  terminal.printStderr(`failed: [${code}] ${nameText('tool', name, message)}${escapeInvisible(message)}`);
  const next = code === 'ARGS_INVALID' && !isJson(args) ? wanted('--args', args) : hint;
  terminal.printHint({ hint: next, ...(details && { details }) });
}

/** A string result as its text, any other as its JSON, digit for digit. */
function resultText(document: Extract<ToolDocument, { status: 'ok' }>): string {
  return typeof document.result === 'string' ? document.result : exactText(document, 'result');
}
