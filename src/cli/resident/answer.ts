import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isObject, toLossless } from '../../base/json/json.ts';
import type { Inbound, InboundEvent, InboundReply, Runtime } from '../../runtime/runtime.ts';
import type { CommandContext } from '../command.ts';
import type { ExitCode } from '../exit-code.ts';
import { readDuration } from '../input.ts';

/** The systems that start a process for each event. */
export const agents = [
  { dialect: 'claude', title: 'Claude Code' },
  { dialect: 'agentao', title: 'Agentao' },
  { dialect: 'chibi', title: 'chibi', asksForSchema: true },
] as const;

export type Dialect = (typeof agents)[number]['dialect'];

export function isDialect(name: string | undefined): name is Dialect {
  return agents.some(({ dialect }) => dialect === name);
}

/** Answers one event, as its agent runs the command. */
export async function answerAgent(
  context: CommandContext,
  dialect: string,
  {
    schema,
    answerWithin: within,
    onFault = () => {},
  }: {
    readonly schema?: true;
    readonly answerWithin: string;
    readonly onFault?: (error: RuntimeError) => void;
  },
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
    await context.open(file, { ...more, ownsTelemetry: 'hook', writeLog: (lines) => writeLog(lines) });
  const reply = await reach({ ...context, open }, inbound, { dialect, within, onFault });
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

export function heardPhases({ hooks, agents }: Runtime): ReadonlySet<string> {
  return new Set([
    ...hooks
      .list()
      .flatMap(({ hook, phases }) => (hook === null ? guarded : phases.map((phase) => `${hook} ${phase}`))),
    ...(agents.hasApprovals ? ['tool before_execution'] : []),
  ]);
}

const guarded = ['tool before_execution', 'tool after_execution', 'provider before_call'];

export async function requireInbound(dialect: string): Promise<Inbound> {
  const known = inbounds.get(dialect);
  if (known !== undefined) return known;
  const { loadInbound } = await import('../../runtime/runtime.ts');
  const inbound = await loadInbound(dialect);
  if (inbound === undefined) throw new RuntimeError('USAGE', `${dialect} cannot run Signalbox as a hook`);
  inbounds.set(dialect, inbound);
  return inbound;
}

const inbounds = new Map<string, Inbound>();

/** Never throws: every failure becomes an answer that denies. */
async function reach(
  context: CommandContext,
  inbound: Inbound,
  {
    dialect,
    within,
    onFault,
  }: { readonly dialect: string; readonly within: string; readonly onFault: (error: RuntimeError) => void },
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
    onFault(error);
    return fail(
      new RuntimeError(error.code, `signalbox: [${error.code}] ${error.message}`, { hint: error.hint }),
    );
  }
}

export function recursion(dialect: string): string {
  return `\`signalbox hook ${dialect}\` was started by a Signalbox as one of its own hooks`;
}

export async function readWithin(text: string): Promise<number> {
  return await readDuration('--answer-within', text, '4500ms, 55s or 10m');
}

/** Parts of the decision keep the digits of long numbers. Rejects with PROCESS_TIMEOUT after that time. */
export async function judgeWithin(
  { invocation, signal }: Pick<CommandContext, 'invocation' | 'signal'>,
  runtime: Runtime,
  { event, withinMs }: { readonly event: InboundEvent; readonly withinMs: number },
) {
  const late = Promise.withResolvers<never>();
  const stopping = new AbortController();
  const options = { signal: AbortSignal.any([signal, stopping.signal]), withinMs, cwd: invocation.cwd };
  const timer = setTimeout(() => {
    const error = new RuntimeError('PROCESS_TIMEOUT', `the hooks did not decide within ${withinMs} ms`);
    late.reject(error);
    stopping.abort(error);
  }, withinMs).unref();
  // A resident would keep the timer of each event for minutes.
  const judged = runtime.agents.judge(event, options).finally(() => clearTimeout(timer));
  const decision = await Promise.race([judged, late.promise]);
  const [replace, result] = [toLossless(decision.replace), toLossless(decision.result)];
  return { ...decision, replace: isObject(replace) ? replace : null, result };
}
