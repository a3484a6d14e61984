import { type Command, Option } from 'commander';
import type { DecisionDocument } from '../../../contract/document.ts';
import { type HookKind, phasesOf } from '../../../contract/hook.ts';
import { RuntimeError } from '../../../errors.ts';
import { columns } from '../columns.ts';
import { perform } from '../command.ts';
import { exactText } from '../exact-text.ts';
import { exitCodeOfDecision } from '../exit-code.ts';
import type { Terminal } from '../terminal.ts';

/** `hook list` and `hook fire`. */
export function addHookCommands(program: Command, signal: AbortSignal): void {
  const group = program
    .command('hook')
    .alias('hooks')
    .description('list and try hooks')
    .addHelpText('after', groupExamples);
  addList(group, signal);
  addFire(group, signal);
}

function addList(group: Command, signal: AbortSignal): void {
  group
    .command('list')
    .description('show the declared hooks, in the order in which they run')
    .addHelpText('after', listExamples)
    .action(async (_own: unknown, command: Command) => {
      await perform(command, signal, async ({ options, terminal, open }) => {
        const hooks = (await open()).hooks.list();
        if (options.json) terminal.printJson({ hooks });
        else
          terminal.print(
            columns(hooks.map(({ name, hook, phases, mode }) => [name, hook, mode, phases.join(', ')])),
          );
        return 0;
      });
    });
}

function addFire(group: Command, signal: AbortSignal): void {
  group
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
    .addHelpText('after', fireExamples)
    .action(async (own: { hook: HookKind; phase?: string; event: string }, command: Command) => {
      await perform(command, signal, async ({ options, terminal, input, open }) => {
        const parts = readParts(await input.object('--event', own.event));
        const runtime = await open();
        const decision = await runtime.hooks.fire({ hook: own.hook, phase: own.phase, ...parts }, { signal });
        if (options.json) terminal.printJson(decision);
        else show(decision, terminal);
        return exitCodeOfDecision(decision.verdict);
      });
    });
}

const groupExamples = `
Examples:
  signalbox hook list
  signalbox hook fire --hook provider --phase before_call --event @event.json`;

const listExamples = `
Examples:
  signalbox hook list
  signalbox hook list --json | jq '.hooks[] | select(.mode == "filter")'`;

const fireExamples = `
Examples:
  signalbox hook fire --hook provider --phase before_call \\
    --event '{"request": {"messages": [{"role": "user", "content": "My card is 4111 1111 1111 1111"}]}}'
  signalbox hook fire --hook tool --phase before_execution --event '{"request": {"name": "refund", "args": {"amount": 900}}}'
  signalbox hook fire --hook session --phase session_start --event '{"event": {"session_id": "s-1"}}' --json

Exit codes: 0 allow or modify, 1 deny, 2 wrong call or config, 3 ask: a person would decide.`;

/** A misspelt part would be an event without it, so it is refused. */
function readParts(payload: Readonly<Record<string, unknown>>) {
  const { request, response, event, ...others } = payload;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new RuntimeError('EVENT_INVALID', `an event has no member "${other}"`, {
      hint: 'Its members are request and response, or event; the hook and the phase are options.',
    });
  return { request, response, event };
}

function show(decision: DecisionDocument, terminal: Terminal): void {
  const { verdict, hook, reason, replace, result, enforced } = decision;
  const by = hook === null ? '' : ` by hook "${hook}"`;
  terminal.print(
    `${terminal.style(colours[verdict], verdict)}${enforced ? ' (enforced)' : ''}${by}${reason === '' ? '' : `: ${reason}`}`,
  );
  if (replace !== null) terminal.print(`replace: ${exactText(decision, 'replace')}`);
  if (result !== null) terminal.print(`result: ${result}`);
  if (Object.keys(decision.metadata).length > 0)
    terminal.print(`metadata: ${exactText(decision, 'metadata')}`);
}

const colours = { allow: 'green', modify: 'yellow', deny: 'red', ask: 'yellow' } as const;
