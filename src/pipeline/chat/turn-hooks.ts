import type { Decision, HookEvent, TurnEvent } from '../../contract/hook.ts';
import type { FinishedCall, Scene, Turn } from '../../contract/turn.ts';
import { type FailedOpen, failuresIn } from '../../dialects/metadata.ts';
import { RuntimeError, toFault } from '../../errors.ts';
import type { By } from '../../hooks/chain.ts';
import { type Link, type Passage, type Passed, passGate } from '../../hooks/gate.ts';
import { Json } from '../../json/json.ts';
import type { RunContext } from '../state/run-context.ts';
import { broken, type StepOutcome } from '../state/step-outcome.ts';
import { requireFinished } from '../state/suspend.ts';
import type { Loop, Stopped } from '../state/turn-record.ts';
import { loopOf, memberOf, takeLoop } from './loop-control.ts';
import { addText } from './take-results.ts';
import type { ChatPlace, Talk } from './turn-state.ts';
import { viewOf, visible } from './turn-state.ts';

/** A turn in its place, with what its hooks are told of. */
export interface HookedTurn {
  readonly run: RunContext;
  /** Which of the session it is, from 1. */
  readonly number: number;
  readonly place: ChatPlace;
  readonly talk: Talk;
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
    talk.messages.splice(-1, 1, addText(last, kept.context));
  }
  takeLoop(talk, kept.loop);
  return undefined;
}

/** What the hooks of a turn's end want. */
export type TurnEnd =
  | { readonly kind: 'end'; readonly context: readonly string[] }
  | { readonly kind: 'go on'; readonly followUp: string; readonly by: readonly (string | null)[] }
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
  countForces(turn, kept.forcedBy ?? []);
  if (kept.stopped !== undefined) {
    // Of a denied answer nobody gets to see anything.
    if (kept.isDenied && end === 'final_response' && talk.answer !== undefined) {
      talk.withheld.add(talk.answer.message);
    }
    return { kind: 'stopped', outcome: stopTurn(turn, kept.stopped) };
  }
  if (kept.followUp === undefined) return { kind: 'end', context: kept.context };
  return { kind: 'go on', followUp: kept.followUp, by: (kept.forcedBy ?? []).map(({ hook }) => hook) };
}

/** Each system counts what its own hooks have forced. */
function countForces({ run, talk: { forces } }: HookedTurn, forcedBy: readonly Forcing[]): void {
  const systems = new Map(run.links.map(({ group: { dialect } }) => [dialect.name, dialect]));
  for (const [name, { forcesInARow }] of systems) {
    if (forcedBy.some(({ dialect }) => dialect === name)) forces.set(name, (forces.get(name) ?? 0) + 1);
    else if (forcesInARow === true) forces.delete(name);
  }
}

interface KeptDecision {
  readonly stopped?: Stopped;
  readonly isDenied: boolean;
  readonly failures: readonly FailedOpen[];
  readonly context: readonly string[];
  readonly loop: Loop;
  readonly followUp?: string;
  /** Who wants the turn to go on. */
  readonly forcedBy?: readonly Forcing[];
}

type Forcing = Pick<By, 'hook' | 'dialect'>;

async function journalDecision(turn: HookedTurn, path: string, event: TurnEvent): Promise<KeptDecision> {
  const entry = await turn.run.journal.step(path, async () => {
    const { decision, forcedBy } = await askTurn(turn, event);
    const followUp = memberOf(decision, 'follow_up');
    // An answer that the turn goes on from stands, though it is not the last.
    if (typeof followUp === 'string' && event.phase === 'stop' && event.end === 'final_response')
      await tellAnswered(turn);
    return Json.from({
      stopped: stoppedBy(decision),
      isDenied: decision.verdict === 'deny',
      failures: failuresIn(decision.metadata),
      context: decision.context,
      loop: loopOf(decision),
      ...(typeof followUp === 'string' && { followUp, forcedBy }),
    });
  });
  // This module wrote it.
  const kept = entry.value as KeptDecision;
  turn.talk.failedOpen.push(...kept.failures);
  return kept;
}

/**
 * Tells hooks of a moment, and waits for those whose own system does. `changed` is what the turn has then in the place of
 * its own.
 */
export async function tellTurn(
  turn: HookedTurn,
  moment: DistributiveOmit<Extract<TurnEvent, { phase: Told }>, 'hook' | 'turn'>,
  changed: Partial<Turn> = {},
): Promise<void> {
  if (turn.run.links.length === 0) return;
  const event = { hook: 'turn', ...moment, turn: { ...toTurn(turn), ...changed } } as const;
  await turn.run.fire(event, passageOf(turn));
}

/** Tells hooks of an answer without tool calls that stands. */
export async function tellAnswered(turn: HookedTurn): Promise<void> {
  const { answer, asked } = turn.talk;
  const response = answer?.message.content ?? '';
  const about = { phase: 'answered', response, original_prompt: asked.original } as const;
  await tellTurn(turn, about, { prompt: asked.prompt });
}

type Told =
  | 'turn_start'
  | 'answered'
  | 'model_asked'
  | 'model_retried'
  | 'model_answered'
  | 'turn_end'
  | 'error';
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
    stops: 0,
    forces: Object.fromEntries(talk.forces),
    isKept: run.isKept,
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
