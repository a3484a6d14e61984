import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { Option } from 'commander';
import { RuntimeError, toRuntimeError } from '../../../errors.ts';
import { isObject } from '../../../json/json.ts';
import { tryParseLossless } from '../../../json/try-parse.ts';
import type { InboundServer, Runtime } from '../../../runtime/runtime.ts';
import { readLines } from '../../../text/byte-lines.ts';
import type { CommandContext, RunCommand } from '../command.ts';
import type { Agent } from './hook-answer.ts';

/** A command by which an agent that keeps its hooks as processes has Signalbox for one. */
export function addHookServer(group: Command, runCommand: RunCommand, { dialect, title }: Agent): void {
  group
    .command(dialect)
    .description(
      `be a hook of ${title}, until stdin ends: its requests on stdin, a line each, the answers on stdout`,
    )
    .addOption(
      new Option('--answer-within <duration>', 'deny what the hooks have not judged by then').default(
        '4500ms',
      ),
    )
    .addHelpText('after', examples(dialect, title))
    .action(async (own: { readonly answerWithin: string }, command: Command) => {
      await runCommand(command, async (context) => await serve(context, dialect, own.answerWithin), true);
    });
}

async function serve(context: CommandContext, dialect: string, within: string) {
  const { loadInboundServer, parseDuration } = await import('../../../runtime/runtime.ts');
  const server = await loadInboundServer(dialect);
  const withinMs = parseDuration(within);
  if (server === undefined || withinMs === undefined)
    throw new RuntimeError('USAGE', `--answer-within takes a duration, not "${within}"`, {
      hint: 'Write it like 4500ms or 55s.',
    });
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
  { invocation: { stdin }, terminal, signal }: CommandContext,
  server: InboundServer,
  { runtime, withinMs }: Judge,
): Promise<void> {
  const open = new Set<Promise<void>>();
  const stop = () => stdin.destroy();
  signal.addEventListener('abort', stop, { once: true });
  const ask: Parameters<InboundServer['answer']>[1] = async (event) => {
    const late = AbortSignal.timeout(withinMs);
    const fired = runtime.hooks.fire(event, { signal: AbortSignal.any([signal, late]) });
    return await Promise.race([fired, tooLate(withinMs)]);
  };
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

async function tooLate(ms: number): Promise<never> {
  await sleep(ms, undefined, { ref: false });
  throw new RuntimeError('PROCESS_TIMEOUT', `the hooks have not judged it within ${ms} ms`);
}

const examples = (dialect: string, title: string) => `
Whatever fails denies: a guard that crashes or hangs, a call that takes longer than --answer-within, after which ${title} would go on by
itself. A config with mistakes ends the command at once, so that ${title} does not start.

Examples:
  signalbox hook export --dialect ${dialect} --config guards/runtime.yaml      the settings to add
  signalbox hook ${dialect} --config guards/runtime.yaml --answer-within 55s`;
