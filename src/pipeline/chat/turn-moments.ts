import type { Turn } from '../../contract/turn.ts';
import { type FailedOpen, failuresIn } from '../../dialects/metadata.ts';
import type { Link } from '../../hooks/gate.ts';
import { withPrompt } from '../../hooks/replace-turn.ts';
import { Json } from '../../json/json.ts';
import type { StepOutcome } from '../state/step-outcome.ts';
import { type KeptTurn, type Loop, readKeptTurn, type Stopped } from '../state/turn-record.ts';
import { loopOf, takeLoop } from './loop-control.ts';
import { forgetContext, takeContext } from './session-context.ts';
import { askTurn, type HookedTurn, stoppedBy, stopTurn, tellTurn, toTurn } from './turn-hooks.ts';

/**
 * Takes a turn through its hooks before the first model call: prompt, system prompt, tool list, request, loop. Gives
 * the outcome of a turn that one of them stopped. Done once: what the journal has is not asked again.
 */
export async function beginTurn(hooked: HookedTurn): Promise<StepOutcome | undefined> {
  const { run, place, talk } = hooked;
  if (run.links.length === 0) return undefined;
  const entry = await run.journal.step(`${place.name}/turn`, async () => {
    await tellTurn(hooked, { phase: 'turn_start' });
    return Json.from(await fireMoments(hooked, { turn: toTurn(hooked), moments: beginning }));
  });
  const kept = readKeptTurn(entry);
  forgetContext(run.session, kept.taken ?? []);
  if (kept.stopped === undefined) talk.messages.splice(0, talk.messages.length, ...kept.messages);
  const stopped = takeKept(hooked, kept);
  talk.prompt = kept.prompt;
  talk.asked = { prompt: kept.prompt, original: talk.originalPrompt };
  talk.base = { ...talk.base, system: kept.baseSystem ?? kept.system };
  return stopped;
}

const beginning = ['prompt', 'system_prompt', 'tool_list', 'request', 'loop'] as const;

/** What is fired, and who hears of the prompt if not everybody. */
export interface Firing {
  readonly turn: Turn;
  readonly moments: readonly (typeof beginning)[number][];
  readonly promptLinks?: readonly Link[];
}

/** Asks the hooks of these moments, each given what the last one made of the turn, until one stops it. */
export async function fireMoments(hooked: HookedTurn, firing: Firing): Promise<KeptTurn> {
  let { turn } = firing;
  const { model } = turn;
  let { messages } = turn;
  let baseSystem = turn.system_prompt;
  let loop: Loop = {};
  let taken: readonly string[] = [];
  const failures: FailedOpen[] = [];
  const kept = (stopped?: Stopped): KeptTurn => ({
    system: turn.system_prompt,
    baseSystem,
    prompt: turn.prompt,
    messages: turn.messages,
    isRewritten: turn.messages !== messages,
    tools: turn.tools,
    model: turn.model === model ? undefined : turn.model,
    options: turn.options,
    loop,
    failures,
    taken,
    ...(stopped && { stopped }),
  });
  for (const phase of firing.moments) {
    if (phase === 'prompt' && turn.messages.at(-1)?.role !== 'user') continue;
    const links = phase === 'prompt' ? firing.promptLinks : undefined;
    const { decision, event } = await askTurn(hooked, { hook: 'turn', phase, turn }, links);
    failures.push(...failuresIn(decision.metadata));
    const stopped = stoppedBy(decision);
    if (stopped !== undefined) return kept(stopped);
    if (event.hook === 'turn') turn = event.turn;
    if (phase === 'prompt') {
      const { texts, from } = takeContext(hooked.run.session);
      taken = from;
      turn = withContext(turn, [...texts, ...decision.context]);
      messages = turn.messages;
    }
    if (phase === 'system_prompt') baseSystem = turn.system_prompt;
    if (phase === 'loop') loop = loopOf(decision);
  }
  return kept();
}

/** Goes on with the turn as hooks left it; its messages and prompt are the caller's business. */
export function takeKept(hooked: HookedTurn, kept: KeptTurn): StepOutcome | undefined {
  const { talk } = hooked;
  talk.failedOpen.push(...kept.failures);
  if (kept.stopped !== undefined) return stopTurn(hooked, kept.stopped);
  talk.system = kept.system;
  talk.offered = kept.tools;
  talk.model = kept.model;
  talk.options = kept.options;
  takeLoop(talk, kept.loop);
  return undefined;
}

function withContext(turn: Turn, context: readonly string[]): Turn {
  if (context.length === 0) return turn;
  const prompt = [...context, turn.prompt].join('\n');
  return { ...turn, prompt, messages: withPrompt(turn.messages, prompt) };
}
