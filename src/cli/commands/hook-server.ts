import type { Command } from 'commander';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { tryParseLossless } from '../../base/json/try-parse.ts';
import { readLines } from '../../base/text/byte-lines.ts';
import type { InboundServer, Runtime } from '../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../command.ts';
import type { Agent } from './hook-answer.ts';
import { answerWithin, judgeWithin, requireWithin } from './hook-answer.ts';

/** A command by which an agent that keeps its hooks as processes has Signalbox for one. */
export function addHookServer(group: Command, runCommand: RunCommand, { dialect, title }: Agent): void {
  group
    .command(dialect)
    .description(
      `be a hook of ${title}, until stdin ends: its requests on stdin, a line each, the answers on stdout`,
    )
    .addOption(answerWithin('4500ms'))
    .addHelpText('after', examples(dialect, title))
    .action(async (own: { readonly answerWithin: string }, command: Command) => {
      await runCommand(command, async (context) => await serve(context, dialect, own.answerWithin), true);
    });
}

async function serve(context: CommandContext, dialect: string, within: string) {
  const { loadInboundServer } = await import('../../runtime/runtime.ts');
  const withinMs = await requireWithin(within);
  const server = await loadInboundServer(dialect);
  if (server === undefined) throw new RuntimeError('USAGE', `${dialect} keeps no Signalbox as a process`);
  if (context.invocation.env['SIGNALBOX_OWNER'] !== undefined)
    throw new RuntimeError(
      'USAGE',
      `\`signalbox hook ${dialect}\` was started by a Signalbox as one of its own hooks`,
    );
  // A config with mistakes ends the command before it says hello: the agent does not start without its guards.
  const runtime = await context.open();
  await answerAll(context, server, { runtime, withinMs });
  return 0 as const;
}

interface Judge {
  readonly runtime: Runtime;
  readonly withinMs: number;
}

async function answerAll(
  context: CommandContext,
  server: InboundServer,
  { runtime, withinMs }: Judge,
): Promise<void> {
  const { terminal, signal } = context;
  const { stdin } = context.invocation;
  const open = new Set<Promise<void>>();
  const stop = () => stdin.destroy();
  signal.addEventListener('abort', stop, { once: true });
  const ask: Parameters<InboundServer['answer']>[1] = async (event) =>
    await judgeWithin(context, runtime, { event, withinMs });
  try {
    for await (const line of readLines(stdin)) {
      const message = line === undefined ? undefined : tryParseLossless(line);
      // What is no message has no id, so nobody waits for its answer.
      if (!isObject(message)) continue;
      const answered = server.answer(message, ask).then((reply) => {
        if (reply !== undefined) terminal.printJson(reply);
      });
      open.add(answered);
      void answered.finally(() => open.delete(answered));
    }
  } catch (error) {
    if (!signal.aborted) throw toRuntimeError(error);
  }
  await Promise.all(open);
}

const examples = (dialect: string, title: string) => `
Whatever fails denies: a guard that crashes or hangs, a call that takes longer than --answer-within, after which ${title} would go on by
itself. A config with mistakes ends the command at once, so that ${title} does not start.

Examples:
  signalbox hook export --dialect ${dialect} --config guards/runtime.yaml      the settings to add
  signalbox hook ${dialect} --config guards/runtime.yaml --answer-within 55s`;
