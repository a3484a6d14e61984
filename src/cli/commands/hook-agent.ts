import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { tryParseLossless } from '../../base/json/parse.ts';
import { readLines } from '../../base/text/bytes.ts';
import type { InboundServer, Runtime } from '../../runtime/runtime.ts';
import { type CommandContext, command } from '../command.ts';
import {
  agents,
  answerAgent,
  heardPhases,
  judgeWithin,
  readWithin,
  recursion,
  requireInbound,
} from '../resident/answer.ts';
import { filesOf } from './agents.ts';

const server = { dialect: 'picoclaw', title: 'PicoClaw' } as const;

const answerWithin = 'deny what has not been decided within this time';

export const agentCommands = [
  ...agents.map(({ dialect, title, ...more }) =>
    command(dialect, {
      about: `be a hook of ${title}: read its event from stdin, run the hooks of the config, print the answer that ${title} expects`,
      options: {
        '--answer-within <duration>': [answerWithin, { default: '590s' }],
        ...('asksForSchema' in more && {
          '--schema': `describe the hook, as ${title} requests before it runs one`,
        }),
      },
      examples: `
Every failure denies if ${title} lets hooks deny the event: a config with mistakes, a guard that crashes or hangs, an
unknown event. If the hooks allow, ${title} applies its own rules: Signalbox approves nothing in the place of a person.

Examples:
  signalbox hook export --dialect ${dialect} --config guards/runtime.yaml      the settings to add
  signalbox hook ${dialect} --config guards/runtime.yaml < event.json

Exit codes: those that ${title} reads. More: docs/reference/agents.md`,
      // Even after a signal, the exit code is that of the answer: a denial.
      isServer: true,
      run: async (context, flags) => await answerAgent(context, dialect, flags),
    }),
  ),
  command(server.dialect, {
    about: `be a hook of ${server.title} until stdin ends: read requests from stdin, one per line, and print the answers`,
    options: { '--answer-within <duration>': [answerWithin, { default: '4500ms' }] },
    examples: `
Every failure denies: a guard that crashes or hangs, or a call that takes longer than --answer-within, after which
${server.title} would continue by itself. A config with mistakes ends the command at once, so that ${server.title}
does not start. More: docs/reference/agents.md

Examples:
  signalbox hook export --dialect ${server.dialect} --config guards/runtime.yaml      the settings to add
  signalbox hook ${server.dialect} --config guards/runtime.yaml --answer-within 55s`,
    isServer: true,
    run: async (context, flags) => await serve(context, server.dialect, flags.answerWithin),
  }),
];

export const exportCommand = command('export', {
  about: 'print the settings with which an agent runs the hooks of the config',
  options: {
    '--dialect <name>': [
      'the agent',
      { choices: [...agents, server].map(({ dialect }) => dialect), isRequired: true },
    ],
    '--resident':
      'Claude Code only: a line that asks the process of `agents up` or `serve` with curl, without Node',
    '--http': 'Claude Code only: requests of its own to `signalbox serve`, with the token of `agents token`',
  },
  examples: `
The command line in the settings has absolute paths: export them again after you move Signalbox or the config.
--http lets an event pass if \`signalbox serve\` is not there, in versions of Claude Code before 2.1.295.

Examples:
  signalbox hook export --dialect claude
  signalbox hook export --dialect claude --config guards/runtime.yaml > settings.json
  signalbox hook export --dialect claude --resident
  signalbox hook export --dialect claude --http`,
  run: async (context, { dialect, resident, http }) => {
    const { invocation, terminal, open } = context;
    if ((resident === true || http === true) && dialect !== 'claude')
      throw new RuntimeError('USAGE', '--resident and --http need --dialect claude');
    const { loadInboundServer } = await import('../../runtime/runtime.ts');
    const { settingsFor } = (await loadInboundServer(dialect)) ?? (await requireInbound(dialect));
    const runtime = await open();
    const configs = filesOf(context).flatMap((file) => ['--config', file]);
    const words = [...invocation.program, 'hook', dialect, ...configs];
    const { residentLine } = await import('../resident/shell-line.ts');
    const { agentPath, tokenVariable } = await import('../resident/http.ts');
    const files = filesOf(context);
    const lineOf = (asked: readonly string[], within: string, mayReport: boolean) =>
      residentLine(asked, { dialect, files, within, mayReport, env: invocation.env });
    const listen = http && (await runtime.gateway({ print: () => {} }).describe()).listen;
    const way = {
      ...(resident === true && { lineOf }),
      ...(listen !== undefined && { http: { url: `http://${listen}${agentPath}`, tokenVariable } }),
    };
    terminal.printValue(settingsFor(words, heardPhases(runtime), runtime.agents, way));
    return 0;
  },
});

async function serve(context: CommandContext, dialect: string, within: string) {
  const { loadInboundServer } = await import('../../runtime/runtime.ts');
  const withinMs = await readWithin(within);
  const server = await loadInboundServer(dialect);
  if (server === undefined)
    throw new RuntimeError('USAGE', `${dialect} cannot run Signalbox as a process that stays alive`);
  if (context.invocation.env['SIGNALBOX_OWNER'] !== undefined)
    throw new RuntimeError('USAGE', recursion(dialect));
  // A config with mistakes ends the command before the handshake, so the agent does not start without its guards.
  const runtime = await context.open();
  await answerAll(context, server, { runtime, withinMs });
  return 0 as const;
}

async function answerAll(
  context: CommandContext,
  server: InboundServer,
  { runtime, withinMs }: { readonly runtime: Runtime; readonly withinMs: number },
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
      // A malformed message has no id to answer.
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
