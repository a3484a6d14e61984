import type { Decision, HookEvent, TurnEvent } from '../contract/hook.ts';
import type { FinishedCall, Scene, Turn } from '../contract/turn.ts';
import { RuntimeError, toFault } from '../errors.ts';
import { Json } from '../json.ts';
import { type FailedOpen, failuresIn } from '../protocol/metadata.ts';
import { type Link, type Passage, type Passed, passGate } from './gate.ts';
import { withPrompt } from './replace-turn.ts';
import type { RunContext } from './run-context.ts';
import { requireFinished } from './set-down.ts';
import { broken, type StepOutcome } from './step-outcome.ts';
import type { ChatPlace, Talk } from './talk.ts';
import { viewOf, visible } from './talk.ts';
import { type KeptTurn, type Loop, readKeptTurn, type Stopped } from './turn-record.ts';

/** A turn in its place, with what its hooks are told of. */
export interface HookedTurn {
  readonly run: RunContext;
  /** Which of the session it is, from 1. */
  readonly number: number;
  readonly place: ChatPlace;
  readonly talk: Talk;
}

/**
 * Takes a turn through its hooks before the first model call: prompt, system prompt, tool list, request, loop. Gives
 * the outcome of a turn that one of them stopped. Done once: what the journal has is not asked again.
 */
export async function beginTurn(turn: HookedTurn): Promise<StepOutcome | undefined> {
  const { run, place, talk } = turn;
  if (run.links.length === 0) return undefined;
  const entry = await run.journal.step(`${place.name}/turn`, async () => {
    tellTurn(turn, { phase: 'turn_start' });
    return Json.from(await fireBeginning(turn));
  });
  const kept = readKeptTurn(entry);
  talk.failedOpen.push(...kept.failures);
  if (kept.stopped !== undefined) return stopTurn(turn, kept.stopped);
  talk.system = kept.system;
  talk.messages.splice(0, talk.messages.length, ...kept.messages);
  talk.prompt = kept.prompt;
  talk.offered = kept.tools;
  talk.model = kept.model;
  talk.options = kept.options;
  takeLoop(talk, kept.loop);
  return undefined;
}

const beginning = ['prompt', 'system_prompt', 'tool_list', 'request', 'loop'] as const;

async function fireBeginning(hooked: HookedTurn): Promise<KeptTurn> {
  const { run } = hooked;
  let turn = toTurn(hooked);
  const { model } = turn;
  let loop: Loop = {};
  const failures: FailedOpen[] = [];
  const kept = (stopped?: Stopped): KeptTurn => ({
    system: turn.system_prompt,
    prompt: turn.prompt,
    messages: turn.messages,
    tools: turn.tools,
    model: turn.model === model ? undefined : turn.model,
    options: turn.options,
    loop,
    failures,
    ...(stopped && { stopped }),
  });
  for (const phase of beginning) {
    if (phase === 'prompt' && turn.messages.at(-1)?.role !== 'user') continue;
    const { decision, event } = await askTurn(hooked, { hook: 'turn', phase, turn });
    failures.push(...failuresIn(decision.metadata));
    const stopped = stoppedBy(decision);
    if (stopped !== undefined) return kept(stopped);
    if (event.hook === 'turn') turn = event.turn;
    if (phase === 'prompt') turn = withContext(turn, [...run.session.context.splice(0), ...decision.context]);
    if (phase === 'loop') loop = loopOf(decision);
  }
  return kept();
}

function withContext(turn: Turn, context: readonly string[]): Turn {
  if (context.length === 0) return turn;
  const prompt = [...context, turn.prompt].join('\n');
  return { ...turn, prompt, messages: withPrompt(turn.messages, prompt) };
}

/** After the last result of a response. Gives the outcome of a turn that a hook ended. */
export async function endBatch(
  turn: HookedTurn,
  path: string,
  calls: readonly FinishedCall[],
): Promise<StepOutcome | undefined> {
  const { run, talk } = turn;
  if (run.links.length === 0 || calls.length === 0) return undefined;
  const kept = await journalDecision(turn, `${path}/batch`, {
    hook: 'turn',
    phase: 'batch',
    turn: toTurn(turn),
    calls: calls.map((call) => ({ ...call, aliases: run.tools.get(call.name)?.aliases })),
  });
  if (kept.stopped !== undefined) return stopTurn(turn, kept.stopped);
  const last = talk.messages.at(-1);
  if (kept.context.length > 0 && last !== undefined) {
    const content = [last.content, ...kept.context].join('\n');
    talk.messages.splice(-1, 1, { ...last, content });
  }
  takeLoop(talk, kept.loop);
  return undefined;
}

/** What the hooks of a turn's end want. */
export type TurnEnd =
  | { readonly kind: 'end'; readonly context: readonly string[] }
  | { readonly kind: 'go on'; readonly followUp: string }
  | { readonly kind: 'stopped'; readonly outcome: StepOutcome };

/** An answer without tool calls, or the round limit: hooks may make the turn go on. */
export async function endTurn(
  turn: HookedTurn,
  path: string,
  end: 'final_response' | 'max_iterations',
): Promise<TurnEnd> {
  const { run, talk } = turn;
  if (run.links.length === 0) return { kind: 'end', context: [] };
  const response = talk.answer?.message.content ?? '';
  const event = { hook: 'turn', phase: 'stop', turn: toTurn(turn), response, end } as const;
  const kept = await journalDecision(turn, `${path}/stop`, event);
  if (kept.stopped !== undefined) {
    // Of a denied answer nobody gets to see anything.
    if (kept.isDenied && end === 'final_response' && talk.answer !== undefined) {
      talk.withheld.add(talk.answer.message);
    }
    return { kind: 'stopped', outcome: stopTurn(turn, kept.stopped) };
  }
  if (kept.followUp === undefined) return { kind: 'end', context: kept.context };
  talk.stops += 1;
  return { kind: 'go on', followUp: kept.followUp };
}

interface KeptDecision {
  readonly stopped?: Stopped;
  readonly isDenied: boolean;
  readonly failures: readonly FailedOpen[];
  readonly context: readonly string[];
  readonly loop: Loop;
  readonly followUp?: string;
}

async function journalDecision(turn: HookedTurn, path: string, event: TurnEvent): Promise<KeptDecision> {
  const entry = await turn.run.journal.step(path, async () => {
    const { decision } = await askTurn(turn, event);
    const followUp = memberOf(decision, 'follow_up');
    return Json.from({
      stopped: stoppedBy(decision),
      isDenied: decision.verdict === 'deny',
      failures: failuresIn(decision.metadata),
      context: decision.context,
      loop: loopOf(decision),
      ...(typeof followUp === 'string' && { followUp }),
    });
  });
  // This module wrote it.
  const kept = entry.value as KeptDecision;
  turn.talk.failedOpen.push(...kept.failures);
  return kept;
}

/** Tells hooks of a moment; nobody waits for them. `changed` is what the turn has then in the place of its own. */
export function tellTurn(
  turn: HookedTurn,
  moment: DistributiveOmit<Extract<TurnEvent, { phase: Told }>, 'hook' | 'turn'>,
  changed: Partial<Turn> = {},
): void {
  if (turn.run.links.length === 0) return;
  const event = { hook: 'turn', ...moment, turn: { ...toTurn(turn), ...changed } } as const;
  void turn.run.fire(event, passageOf(turn));
}

type Told = 'turn_start' | 'model_asked' | 'model_retried' | 'model_answered' | 'turn_end' | 'error';
type DistributiveOmit<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never;

/** Asks all hooks, or those of some links. Throws ABORTED when the run is set down meanwhile. */
export async function askTurn(turn: HookedTurn, event: HookEvent, links?: readonly Link[]): Promise<Passed> {
  const { run } = turn;
  const passed =
    links === undefined
      ? await run.fire(event, passageOf(turn))
      : await passGate(links, event, passageOf(turn));
  requireFinished(run, passed.decision.error);
  return passed;
}

function passageOf(turn: HookedTurn): Passage {
  const { run, place } = turn;
  const call = `${run.journal.runId}/${place.name}`;
  return { call, scene: sceneOf(turn), signal: place.scope.signal };
}

/** Where the turn is. */
export function sceneOf({ run, number, place, talk }: HookedTurn): Scene {
  const { session, name } = run;
  return {
    session_id: session.id,
    turn_id: `${name}-turn-${number}`,
    agent: name,
    context_name: name,
    round: talk.rounds,
    messages: visible(talk),
    transcript: null,
    fuel: { remaining: talk.roundsLeft, total: place.step.maxRounds },
    stops: talk.stops,
    ...(talk.isLastRound && { isLastRound: true }),
    isResumed: session.isResumed,
    now: new Date().toISOString(),
    host: {},
  };
}

export function toTurn({ run, place, talk }: HookedTurn): Turn {
  return {
    prompt: talk.prompt,
    system_prompt: talk.system,
    messages: visible(talk),
    tools: talk.offered,
    provider_id: place.step.provider,
    model: talk.model ?? run.modelOf(place.step.provider),
    options: talk.options,
  };
}

function takeLoop(talk: Talk, { fallback, fuel, fuelDelta, by }: Loop): void {
  if (fuel !== undefined || fuelDelta !== undefined) talk.fuelSetBy = by;
  if (fallback !== undefined) talk.fallback = fallback;
  if (fuel !== undefined) talk.roundsLeft = fuel;
  if (fuelDelta !== undefined) talk.roundsLeft = Math.max(0, talk.roundsLeft + fuelDelta);
}

function loopOf(decision: Decision): Loop {
  const fallback = memberOf(decision, 'fallback');
  const fuel = memberOf(decision, 'fuel');
  const fuelDelta = memberOf(decision, 'fuel_delta');
  return {
    // What nobody knows ends the turn.
    ...(typeof fallback === 'string' && { fallback: fallback === 'call_agent' ? fallback : 'call_user' }),
    ...(isCount(fuel) && { fuel }),
    ...(typeof fuelDelta === 'number' && Number.isSafeInteger(fuelDelta) && { fuelDelta }),
    ...(decision.hook !== null && { by: decision.hook }),
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function memberOf({ replace }: Decision, key: string): unknown {
  const value = replace?.value;
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

/** A turn goes on behind an allow and a modify only. */
export function stoppedBy({ verdict, hook, reason, abort, metadata }: Decision): Stopped | undefined {
  if (verdict === 'allow' || verdict === 'modify') return undefined;
  const why =
    verdict === 'deny' || verdict === 'abort' ? reason : `its verdict "${verdict}" has no meaning here`;
  return { hook: hook ?? 'a hook', reason: why, isSession: abort === 'session', metadata: metadata.value };
}

/** The outcome of a turn that a hook stopped; of a session that is over, no further turn begins. */
export function stopTurn({ run, talk }: HookedTurn, stopped: Stopped): StepOutcome {
  const { hook, reason, isSession, metadata } = stopped;
  if (isSession) run.session.ended = stopped;
  const error = toFault(new RuntimeError('DENIED', `the turn was ended by hook "${hook}": ${reason}`));
  const view = { ...viewOf(talk, ''), hook, reason, metadata, ...(isSession && { abort: 'session' }) };
  return broken('denied', error, view);
}
