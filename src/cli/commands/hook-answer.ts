import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import type { Inbound, InboundEvent, InboundReply, Runtime } from '../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../command.ts';
import type { Terminal } from '../terminal.ts';

/** A system whose agents have hooks. */
export interface Agent {
  readonly dialect: string;
  readonly title: string;
  /** It asks a hook what it is, with `--schema`. */
  readonly asksForSchema?: true;
}

/** A command by which an agent of that system has Signalbox for a hook. */
export function addHookAnswer(group: Command, runCommand: RunCommand, agent: Agent): void {
  const { dialect, title, asksForSchema } = agent;
  const command = group
    .command(dialect)
    .description(
      `be a hook of ${title}: read its event on stdin, ask the hooks of the config, answer in its words`,
    )
    .addHelpText('after', answerExamples(agent));
  command.addOption(answerWithin('590s'));
  if (asksForSchema) command.option('--schema', `describe the hook, as ${title} asks before it runs one`);
  command.action(async (own: AnswerFlags, given: Command) => {
    // What the agent reads is the answer, also of one that is told to end: a denial.
    await runCommand(given, async (context) => await answer(context, dialect, own), true);
  });
}

interface AnswerFlags {
  readonly schema?: true;
  readonly answerWithin: string;
}

async function answer(
  context: CommandContext,
  dialect: string,
  { schema, answerWithin: within }: AnswerFlags,
) {
  const { invocation, terminal } = context;
  invocation.onVerdictCommand();
  const inbound = await requireInbound(dialect);
  if (schema === true) {
    terminal.printJson(inbound.describe?.(await phasesOrAll(context)) ?? {});
    return 0;
  }
  // An agent gives its model what a denial writes on stderr: the log waits, and a denial's is dropped.
  const held: string[] = [];
  let writeLog = (lines: string): void => void held.push(lines);
  const open: CommandContext['open'] = async (file, more) =>
    await context.open(file, { ...more, writeLog: (lines) => writeLog(lines) });
  const reply = await reach({ ...context, open }, inbound, { dialect, within });
  writeLog = reply.stderr === '' ? (lines) => terminal.stderr.write(lines) : () => {};
  for (const lines of held) writeLog(lines);
  return give(reply, terminal);
}

/** The phases that hooks of the config hear; undefined, all, where it has mistakes: each event is denied then, and says why. */
async function phasesOrAll({ open }: CommandContext): Promise<ReadonlySet<string> | undefined> {
  try {
    return phasesOf(await open());
  } catch {
    return undefined;
  }
}

function phasesOf({ hooks, agents }: Runtime): ReadonlySet<string> {
  return new Set([
    ...hooks
      .list()
      .flatMap(({ hook, phases }) => (hook === null ? guarded : phases.map((phase) => `${hook} ${phase}`))),
    ...(agents.hasApprovals ? ['tool before_execution'] : []),
  ]);
}

async function requireInbound(dialect: string): Promise<Inbound> {
  const { loadInbound } = await import('../../runtime/runtime.ts');
  const inbound = await loadInbound(dialect);
  if (inbound === undefined) throw new RuntimeError('USAGE', `${dialect} cannot have Signalbox for a hook`);
  return inbound;
}

/** Never throws: whatever fails becomes an answer that denies. */
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
    if (invocation.env['SIGNALBOX_OWNER'] !== undefined) throw recursion(dialect);
    const runtime = await open();
    const withinMs = await requireWithin(within);
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

function recursion(dialect: string): RuntimeError {
  return new RuntimeError(
    'USAGE',
    `\`signalbox hook ${dialect}\` was started by a Signalbox as one of its own hooks`,
    {
      hint: 'Do not import the settings that run it into the config that it reads.',
    },
  );
}

function give({ exitCode, document, stderr }: InboundReply, terminal: Terminal) {
  if (document !== undefined) terminal.printJson(document);
  if (stderr !== '') terminal.printStderr(stderr);
  return exitCode;
}

/** `hook export`. */
export function addHookExport(group: Command, runCommand: RunCommand, dialects: readonly string[]): void {
  group
    .command('export')
    .description('print the settings by which an agent of another system asks the hooks of the config')
    .addOption(new Option('--dialect <name>', 'whose settings').choices(dialects).makeOptionMandatory())
    .addHelpText('after', exportExamples(dialects))
    .action(async ({ dialect }: { readonly dialect: string }, command: Command) => {
      await runCommand(command, async ({ invocation, options, terminal, open }) => {
        const { settingsFor } = await requireExport(dialect);
        const runtime = await open();
        const words = [
          ...invocation.program,
          'hook',
          dialect,
          ...[options.config, ...options.overlays].flatMap((file) => [
            '--config',
            resolve(invocation.cwd, file),
          ]),
        ];
        terminal.printValue(settingsFor(words, phasesOf(runtime), runtime.agents));
        return 0;
      });
    });
}

async function requireExport(dialect: string): Promise<Pick<Inbound, 'settingsFor'>> {
  const { loadInboundServer } = await import('../../runtime/runtime.ts');
  return (await loadInboundServer(dialect)) ?? (await requireInbound(dialect));
}

/** What hooks of other systems are asked at. */
const guarded = ['tool before_execution', 'tool after_execution', 'provider before_call'];

const answerExamples = ({ dialect, title }: Agent) => `
Whatever fails denies, where ${title} can be denied anything: a config with mistakes, a guard that crashes or hangs, an event that
is not known. What the hooks allow is left to ${title}'s own rules: nothing is approved in the place of a person.

Examples:
  signalbox hook export --dialect ${dialect} --config guards/runtime.yaml      the settings to add
  signalbox hook ${dialect} --config guards/runtime.yaml < event.json

Exit codes: those that ${title} reads.`;

const exportExamples = ([dialect = '']: readonly string[]) => `
The command line in them has absolute paths: print them again when Signalbox or the config has moved.

Examples:
  signalbox hook export --dialect ${dialect}
  signalbox hook export --dialect ${dialect} --config guards/runtime.yaml > settings.json`;

/** The time within which an agent has to have its answer. */
export function answerWithin(usual: string): Option {
  return new Option('--answer-within <duration>', 'deny what has not been judged by then').default(usual);
}

/** The milliseconds of that option. Throws USAGE. */
export async function requireWithin(text: string): Promise<number> {
  const { parseDuration } = await import('../../runtime/runtime.ts');
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new RuntimeError('USAGE', `--answer-within takes a duration, not "${text}"`, {
    hint: 'Write it like 4500ms, 55s or 10m.',
  });
}

/** What the hooks of the config, and people, say to an event of an agent. Rejects with PROCESS_TIMEOUT after that time. */
export async function judgeWithin(
  { invocation, signal }: Pick<CommandContext, 'invocation' | 'signal'>,
  runtime: Runtime,
  { event, withinMs }: { readonly event: InboundEvent; readonly withinMs: number },
) {
  const late = AbortSignal.timeout(withinMs);
  const options = { signal: AbortSignal.any([signal, late]), withinMs, cwd: invocation.cwd };
  return await Promise.race([runtime.agents.judge(event, options), tooLate(withinMs)]);
}

async function tooLate(ms: number): Promise<never> {
  await sleep(ms, undefined, { ref: false });
  throw new RuntimeError('PROCESS_TIMEOUT', `it has not been judged within ${ms} ms`);
}
