import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { tryParseLossless } from '../../base/json/parse.ts';
import { readLines } from '../../base/text/bytes.ts';
import type { Inbound, InboundEvent, InboundReply, InboundServer, Runtime } from '../../runtime/runtime.ts';
import { type CommandContext, command } from '../command.ts';
import type { ExitCode } from '../exit-code.ts';
import { readDuration } from '../input.ts';
import { filesOf } from './agents.ts';

const agents = [
  { dialect: 'claude', title: 'Claude Code' },
  { dialect: 'agentao', title: 'Agentao' },
  { dialect: 'chibi', title: 'chibi', asksForSchema: true },
] as const;
const server = { dialect: 'picoclaw', title: 'PicoClaw' } as const;

export type Dialect = (typeof agents)[number]['dialect'];

export function isDialect(name: string | undefined): name is Dialect {
  return agents.some(({ dialect }) => dialect === name);
}

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

/** Answers one event, as its agent runs the command. */
export async function answerAgent(
  context: CommandContext,
  dialect: string,
  { schema, answerWithin: within }: { readonly schema?: true; readonly answerWithin: string },
): Promise<ExitCode> {
  const { invocation, terminal } = context;
  invocation.onVerdictCommand();
  const inbound = await requireInbound(dialect);
  if (schema === true) {
    terminal.printJson(inbound.describe?.(await phasesOrAll(context)) ?? {});
    return 0;
  }
  // An agent passes stderr of a denial to its model, so the log is held back and dropped for a denial.
  const held: string[] = [];
  let writeLog = (lines: string): void => void held.push(lines);
  const open: CommandContext['open'] = async (file, more) =>
    await context.open(file, { ...more, writeLog: (lines) => writeLog(lines) });
  const reply = await reach({ ...context, open }, inbound, { dialect, within });
  writeLog = reply.stderr === '' ? (lines) => terminal.stderr.write(lines) : () => {};
  for (const lines of held) writeLog(lines);
  if (reply.document !== undefined) terminal.printJson(reply.document);
  if (reply.stderr !== '') terminal.printStderr(reply.stderr);
  return reply.exitCode;
}

/** Undefined, all phases, if the config has mistakes: each event is then denied with the reason. */
async function phasesOrAll({ open }: CommandContext): Promise<ReadonlySet<string> | undefined> {
  try {
    return heardPhases(await open());
  } catch {
    return undefined;
  }
}

function heardPhases({ hooks, agents }: Runtime): ReadonlySet<string> {
  return new Set([
    ...hooks
      .list()
      .flatMap(({ hook, phases }) => (hook === null ? guarded : phases.map((phase) => `${hook} ${phase}`))),
    ...(agents.hasApprovals ? ['tool before_execution'] : []),
  ]);
}

const guarded = ['tool before_execution', 'tool after_execution', 'provider before_call'];

async function requireInbound(dialect: string): Promise<Inbound> {
  const { loadInbound } = await import('../../runtime/runtime.ts');
  const inbound = await loadInbound(dialect);
  if (inbound === undefined) throw new RuntimeError('USAGE', `${dialect} cannot run Signalbox as a hook`);
  return inbound;
}

/** Never throws: every failure becomes an answer that denies. */
async function reach(
  context: CommandContext,
  inbound: Inbound,
  { dialect, within }: { readonly dialect: string; readonly within: string },
): Promise<InboundReply> {
  const { invocation, input, open } = context;
  let fail = inbound.unreadable;
  try {
    const question = inbound.read(await input.object('stdin', '-'), invocation.env);
    fail = question.toFailure;
    if (question.events.length === 0) return { exitCode: 0, stderr: '' };
    if (invocation.env['SIGNALBOX_OWNER'] !== undefined) {
      throw new RuntimeError('USAGE', recursion(dialect), {
        hint: 'Do not import the settings that run it into the config that it reads.',
      });
    }
    const runtime = await open();
    const withinMs = await readWithin(within);
    const since = performance.now();
    let reply: InboundReply = { exitCode: 0, stderr: '' };
    for (const event of question.events) {
      const leftMs = Math.max(1, Math.floor(withinMs - (performance.now() - since)));
      reply = question.toReply(await judgeWithin(context, runtime, { event, withinMs: leftMs }), event);
      if (reply.exitCode !== 0 || reply.document !== undefined) break;
    }
    return reply;
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    return fail(
      new RuntimeError(error.code, `signalbox: [${error.code}] ${error.message}`, { hint: error.hint }),
    );
  }
}

function recursion(dialect: string): string {
  return `\`signalbox hook ${dialect}\` was started by a Signalbox as one of its own hooks`;
}

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

async function readWithin(text: string): Promise<number> {
  return await readDuration('--answer-within', text, '4500ms, 55s or 10m');
}

/** Rejects with PROCESS_TIMEOUT after that time. */
async function judgeWithin(
  { invocation, signal }: Pick<CommandContext, 'invocation' | 'signal'>,
  runtime: Runtime,
  { event, withinMs }: { readonly event: InboundEvent; readonly withinMs: number },
) {
  const late = AbortSignal.timeout(withinMs);
  const options = { signal: AbortSignal.any([signal, late]), withinMs, cwd: invocation.cwd };
  const tooLate = sleep(withinMs, undefined, { ref: false }).then(() => {
    throw new RuntimeError('PROCESS_TIMEOUT', `the hooks did not decide within ${withinMs} ms`);
  });
  return await Promise.race([runtime.agents.judge(event, options), tooLate]);
}
