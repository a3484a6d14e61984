import { RuntimeError, toFault } from '../base/errors.ts';
import { type ChainResult, type GateOptions, type Link, passGate } from '../calls/hooks/gate.ts';
import type { Decision, HookEvent, TurnEvent } from '../contract/hook.ts';
import type { FinishedCall, HookContext, Turn } from '../contract/turn.ts';
import { failedOpenIn } from '../dialects/metadata.ts';
import type { TurnState } from './chat/turn-state.ts';
import {
  appendText,
  applyLoopControl,
  loopControlOf,
  replacedMember,
  roundsLeft,
  viewOf,
  visibleMessages,
} from './chat/turn-state.ts';
import type { ChatStep } from './file/pipeline.ts';
import { journalStep } from './state/record.ts';
import type { RunContext } from './state/run-context.ts';
import { failedStep, type StepOutcome } from './state/step-outcome.ts';
import type { StepContext } from './state/step-scope.ts';
import { requireFinished } from './state/suspension.ts';
import { type TurnDecision, type TurnStop, turnDecisionRecord } from './state/turn-record.ts';

export interface TurnContext {
  readonly run: RunContext;
  readonly number: number;
  readonly chat: StepContext<ChatStep>;
  readonly state: TurnState;
}

/** Call it after the last result of a response. Returns the outcome if a hook ended the turn. */
export async function fireBatch(
  turn: TurnContext,
  path: string,
  calls: readonly FinishedCall[],
): Promise<StepOutcome | undefined> {
  const { run, state } = turn;
  if (run.links.length === 0 || calls.length === 0) return undefined;
  const record = await journalDecision(turn, `${path}/batch`, {
    hook: 'turn',
    phase: 'batch',
    turn: toTurn(turn),
    calls: calls.map((call) => ({ ...call, aliases: run.tools.get(call.name)?.aliases })),
  });
  if (record.stopped !== undefined) return stopTurn(turn, record.stopped);
  const last = state.messages.at(-1);
  if (record.context.length > 0 && last !== undefined) {
    state.messages.splice(-1, 1, appendText(last, record.context));
  }
  applyLoopControl(state, record.loop);
  return undefined;
}

export type TurnEnd =
  | { readonly kind: 'end'; readonly context: readonly string[] }
  | { readonly kind: 'go on'; readonly followUp: string; readonly by: readonly (string | null)[] }
  | { readonly kind: 'stopped'; readonly outcome: StepOutcome };

/** Call it after an answer without tool calls or at the round limit. The hooks may force a further call. */
export async function endTurn(
  turn: TurnContext,
  path: string,
  end: 'final_response' | 'max_iterations',
): Promise<TurnEnd> {
  const { run, state } = turn;
  if (run.links.length === 0) return { kind: 'end', context: [] };
  const response = state.answer?.message.content ?? '';
  const event = { hook: 'turn', phase: 'stop', turn: toTurn(turn), response, end } as const;
  const record = await journalDecision(turn, `${path}/stop`, event);
  countForcedTurns(turn, record.forcedBy ?? []);
  if (record.stopped !== undefined) {
    if (record.isDenied && end === 'final_response' && state.answer !== undefined) {
      state.withheld.add(state.answer.message);
    }
    return { kind: 'stopped', outcome: stopTurn(turn, record.stopped) };
  }
  if (record.followUp === undefined) return { kind: 'end', context: record.context };
  return { kind: 'go on', followUp: record.followUp, by: (record.forcedBy ?? []).map(({ hook }) => hook) };
}

function countForcedTurns(
  { run, state: { forcedTurns } }: TurnContext,
  forcedBy: NonNullable<TurnDecision['forcedBy']>,
): void {
  const systems = new Map(run.links.map(({ group: { dialect } }) => [dialect.name, dialect]));
  for (const [name, { countsForcedTurnsInARow }] of systems) {
    if (forcedBy.some(({ dialect }) => dialect === name))
      forcedTurns.set(name, (forcedTurns.get(name) ?? 0) + 1);
    else if (countsForcedTurnsInARow === true) forcedTurns.delete(name);
  }
}

async function journalDecision(turn: TurnContext, path: string, event: TurnEvent): Promise<TurnDecision> {
  const step = { name: path, kind: turnDecisionRecord };
  const record = await journalStep(turn.run.journal, step, async () => {
    const { decision, forcedBy } = await askTurn(turn, event);
    const followUp = replacedMember(decision, 'follow_up');
    // A continued answer counts as answered, although it is not the last.
    if (typeof followUp === 'string' && event.phase === 'stop' && event.end === 'final_response')
      await notifyAnswered(turn);
    const stopped = turnStopOf(decision);
    return {
      ...(stopped && { stopped }),
      isDenied: decision.verdict === 'deny',
      failures: failedOpenIn(decision.metadata),
      context: decision.context,
      loop: loopControlOf(decision),
      ...(typeof followUp === 'string' && { followUp, forcedBy }),
    };
  });
  turn.state.failedOpen.push(...record.failures);
  return record;
}

/** Waits for the hooks that their dialect awaits. `changed` overrides members of the turn in the event. */
export async function notifyTurn(
  turn: TurnContext,
  moment: DistributiveOmit<Extract<TurnEvent, { phase: NotifiedPhase }>, 'hook' | 'turn'>,
  changed: Partial<Turn> = {},
): Promise<void> {
  if (turn.run.links.length === 0) return;
  const event = { hook: 'turn', ...moment, turn: { ...toTurn(turn), ...changed } } as const;
  await turn.run.fire(event, gateOptionsOf(turn));
}

export async function notifyAnswered(turn: TurnContext): Promise<void> {
  const { answer, modelPrompt } = turn.state;
  const response = answer?.message.content ?? '';
  const about = { phase: 'answered', response, original_prompt: modelPrompt.original } as const;
  await notifyTurn(turn, about, { prompt: modelPrompt.prompt });
}

type NotifiedPhase =
  | 'turn_start'
  | 'answered'
  | 'model_asked'
  | 'model_retried'
  | 'model_answered'
  | 'turn_end'
  | 'error';
type DistributiveOmit<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never;

/** `links` selects hooks; default: all. Throws ABORTED if the run is suspended in the meantime. */
export async function askTurn(
  turn: TurnContext,
  event: HookEvent,
  links?: readonly Link[],
): Promise<ChainResult> {
  const { run } = turn;
  const passed =
    links === undefined
      ? await run.fire(event, gateOptionsOf(turn))
      : await passGate(links, event, gateOptionsOf(turn));
  requireFinished(run, passed.decision.error);
  return passed;
}

function gateOptionsOf(turn: TurnContext): GateOptions {
  const { run, chat } = turn;
  const call = `${run.journal.runId}/${chat.name}`;
  return { call, hookContext: hookContextOf(turn), signal: chat.scope.signal };
}

export function hookContextOf({ run, number, chat, state }: TurnContext): HookContext {
  const { session, name } = run;
  return {
    session_id: session.id,
    turn_id: `${name}-turn-${number}`,
    agent: name,
    context_name: name,
    round: state.rounds,
    messages: visibleMessages(state),
    transcript: null,
    fuel: { remaining: roundsLeft(state), total: chat.step.maxRounds },
    forcedTurns: 0,
    forcedTurnsByDialect: Object.fromEntries(state.forcedTurns),
    isKept: run.isKept,
    ...(state.isLastRound && { isLastRound: true }),
    isResumed: session.isResumed,
    now: new Date().toISOString(),
    host: {},
  };
}

export function toTurn({ run, chat, state }: TurnContext): Turn {
  return {
    prompt: state.prompt,
    system_prompt: state.system,
    messages: visibleMessages(state),
    tools: state.offered,
    provider_id: chat.step.provider,
    model: state.model ?? run.modelOf(chat.step.provider),
    options: state.options,
  };
}

/** Returns undefined for allow and modify. */
export function turnStopOf({ verdict, hook, reason, abort, metadata }: Decision): TurnStop | undefined {
  if (verdict === 'allow' || verdict === 'modify') return undefined;
  const why =
    verdict === 'deny' || verdict === 'abort' ? reason : `its verdict "${verdict}" is not allowed here`;
  return { hook: hook ?? 'a hook', reason: why, isSession: abort === 'session', metadata: metadata.value };
}

/** If the hook ended the session, no further turn begins in it. */
export function stopTurn({ run, state }: TurnContext, stopped: TurnStop): StepOutcome {
  const { hook, reason, isSession, metadata } = stopped;
  if (isSession) run.session.ended = stopped;
  const error = toFault(new RuntimeError('DENIED', `the turn was ended by hook "${hook}": ${reason}`));
  const view = { ...viewOf(state, ''), hook, reason, metadata, ...(isSession && { abort: 'session' }) };
  return failedStep('denied', error, view);
}
