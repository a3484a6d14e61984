import type { Link } from '../../calls/hooks/gate.ts';
import { withPrompt } from '../../calls/hooks/replace.ts';
import type { Turn } from '../../contract/turn.ts';
import { type FailedOpen, failedOpenIn } from '../../dialects/metadata.ts';
import { findRecord, journalStep } from '../state/record.ts';
import type { RunContext, Session } from '../state/run-context.ts';
import type { StepOutcome } from '../state/step-outcome.ts';
import {
  contextRecord,
  type LoopControl,
  type TakenContext,
  type TurnRecord,
  type TurnStop,
  turnRecord,
} from '../state/turn-record.ts';
import { askTurn, notifyTurn, stopTurn, type TurnContext, toTurn, turnStopOf } from '../turn-hooks.ts';
import { applyLoopControl, loopControlOf } from './turn-state.ts';

/** Runs the turn's hooks before the first model call; journaled. Returns the outcome if one stopped the turn. */
export async function beginTurn(context: TurnContext): Promise<StepOutcome | undefined> {
  const { run, chat, state } = context;
  if (run.links.length === 0) return undefined;
  const step = { name: `${chat.name}/turn`, kind: turnRecord };
  const record = await journalStep(run.journal, step, async () => {
    await notifyTurn(context, { phase: 'turn_start' });
    return await firePhases(context, { turn: toTurn(context), phases: startPhases });
  });
  dropContext(run.session, record.taken ?? []);
  if (record.stopped === undefined) state.messages.splice(0, state.messages.length, ...record.messages);
  const stopped = applyTurnRecord(context, record);
  state.prompt = record.prompt;
  state.modelPrompt = { prompt: record.prompt, original: state.originalPrompt };
  state.base = { ...state.base, system: record.baseSystem ?? record.system };
  return stopped;
}

const startPhases = ['prompt', 'system_prompt', 'tool_list', 'request', 'loop'] as const;

export interface FirePhasesOptions {
  readonly turn: Turn;
  readonly phases: readonly (typeof startPhases)[number][];
  readonly promptLinks?: readonly Link[];
}

export async function firePhases(context: TurnContext, firing: FirePhasesOptions): Promise<TurnRecord> {
  let { turn } = firing;
  const { model } = turn;
  let { messages } = turn;
  let baseSystem = turn.system_prompt;
  let loop: LoopControl = {};
  let taken: readonly string[] = [];
  const failures: FailedOpen[] = [];
  const toRecord = (stopped?: TurnStop): TurnRecord => ({
    system: turn.system_prompt,
    baseSystem,
    prompt: turn.prompt,
    messages: turn.messages,
    isRewritten: turn.messages !== messages,
    tools: turn.tools,
    ...(turn.model !== model && { model: turn.model }),
    options: turn.options,
    loop,
    failures,
    taken,
    ...(stopped && { stopped }),
  });
  for (const phase of firing.phases) {
    if (phase === 'prompt' && turn.messages.at(-1)?.role !== 'user') continue;
    const links = phase === 'prompt' ? firing.promptLinks : undefined;
    const { decision, event } = await askTurn(context, { hook: 'turn', phase, turn }, links);
    failures.push(...failedOpenIn(decision.metadata));
    const stopped = turnStopOf(decision);
    if (stopped !== undefined) return toRecord(stopped);
    if (event.hook === 'turn') turn = event.turn;
    if (phase === 'prompt') {
      const { texts, from } = takeContext(context.run.session);
      taken = from;
      turn = withContext(turn, [...texts, ...decision.context]);
      messages = turn.messages;
    }
    if (phase === 'system_prompt') baseSystem = turn.system_prompt;
    if (phase === 'loop') loop = loopControlOf(decision);
  }
  return toRecord();
}

export function applyTurnRecord(context: TurnContext, record: TurnRecord): StepOutcome | undefined {
  const { state } = context;
  state.failedOpen.push(...record.failures);
  if (record.stopped !== undefined) return stopTurn(context, record.stopped);
  state.system = record.system;
  state.offered = record.tools;
  state.model = record.model;
  state.options = record.options;
  applyLoopControl(state, record.loop);
  return undefined;
}

function withContext(turn: Turn, texts: readonly string[]): Turn {
  if (texts.length === 0) return turn;
  const prompt = [...texts, turn.prompt].join('\n');
  return { ...turn, prompt, messages: withPrompt(turn.messages, prompt) };
}

function takeContext({ context }: Session): TakenContext {
  const taken = context.splice(0);
  return { texts: taken.flatMap(({ texts }) => texts), from: taken.map(({ from }) => from) };
}

export function dropContext({ context }: Session, from: readonly string[]): void {
  const remaining = context.filter((each) => !from.includes(each.from));
  context.splice(0, context.length, ...remaining);
}

/** Journaled, so that a resumed run gives the model the same texts. */
export async function takeExtraContext(run: RunContext, path: string): Promise<readonly string[]> {
  const { journal, session } = run;
  const name = `${path}/beside`;
  const known = findRecord(journal, name, contextRecord);
  // The journaled call was made without extra context.
  if (known === undefined && journal.find(path) !== undefined) return [];
  const late = known === undefined ? run.takeLateContext(session.id) : [];
  if (known === undefined && late.length === 0 && session.context.length === 0) return [];
  const { texts, from } =
    known ??
    (await journalStep(journal, { name, kind: contextRecord }, async () => {
      const taken = takeContext(session);
      return { ...taken, texts: [...taken.texts, ...late] };
    }));
  dropContext(session, from);
  return texts;
}
