import { type Command, Option } from 'commander';
import type { DecisionDocument } from '../../../contract/document.ts';
import { type HookKind, phasesOf } from '../../../contract/hook.ts';
import { stringifyJson } from '../../../json.ts';
import { perform } from '../command.ts';
import { exitCodeOfDecision } from '../exit-code.ts';
import { readObject } from '../input.ts';
import type { Terminal } from '../terminal.ts';

/** `hook fire`. */
export function addHookCommands(program: Command, signal: AbortSignal): void {
  const hook = program.command('hook').description('try hooks');
  hook
    .command('fire')
    .description('take an event through every hook of its phase, and see who decided')
    .addOption(
      new Option('--hook <type>', 'the type of hook').choices(Object.keys(phasesOf)).makeOptionMandatory(),
    )
    .option('--phase <phase>', 'the phase (an eval hook has none)')
    .requiredOption(
      '--event <json>',
      'the native payload without hook and phase: a JSON object, @FILE, or - for stdin',
    )
    .addHelpText('after', hookExamples)
    .action(async (own: { hook: HookKind; phase?: string; event: string }, command: Command) => {
      await perform(command, signal, async ({ options, terminal, open }) => {
        const { request, response, event } = await readObject('--event', own.event);
        const runtime = await open();
        const fired = { hook: own.hook, phase: own.phase, request, response, event };
        const decision = await runtime.hooks.fire(fired, { signal });
        if (options.json) terminal.printJson(decision);
        else show(decision, terminal);
        return exitCodeOfDecision(decision.verdict);
      });
    });
}

const hookExamples = `
Examples:
  signalbox hook fire --hook provider --phase before_call \\
    --event '{"request": {"messages": [{"role": "user", "content": "My card is 4111 1111 1111 1111"}]}}'
  signalbox hook fire --hook tool --phase before_execution --event '{"request": {"name": "refund", "args": {"amount": 900}}}'
  signalbox hook fire --hook session --phase session_start --event '{"event": {"session_id": "s-1"}}' --json

Exit codes: 0 allow or modify, 1 deny, 2 wrong call or config.`;

function show(decision: DecisionDocument, terminal: Terminal): void {
  const { verdict, hook, reason, replace, result, enforced } = decision;
  const colour = verdict === 'deny' ? 'red' : verdict === 'modify' ? 'yellow' : 'green';
  const by = hook === null ? '' : ` by hook "${hook}"`;
  terminal.print(
    `${terminal.style(colour, verdict)}${enforced ? ' (enforced)' : ''}${by}${reason === '' ? '' : `: ${reason}`}`,
  );
  if (replace !== null) terminal.print(`replace: ${stringifyJson(replace)}`);
  if (result !== null) terminal.print(`result: ${result}`);
  if (Object.keys(decision.metadata).length > 0)
    terminal.print(`metadata: ${stringifyJson(decision.metadata)}`);
}
