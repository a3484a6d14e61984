import { completeMessage } from '../../hooks/message.ts';
import { Json } from '../../json/json.ts';
import type { StepOutcome } from '../state/step-outcome.ts';
import { readKeptTurn } from '../state/turn-record.ts';
import { forgetContext } from './session-context.ts';
import { type HookedTurn, tellAnswered, toTurn } from './turn-hooks.ts';
import { fireMoments, takeKept } from './turn-moments.ts';

/**
 * Lets the loop begin once more behind an answer, with a message of its own, from what it began with: what hooks made of
 * tools, request and loop held for one. Gives the outcome of a turn that one of them stopped.
 */
export async function reprompt(hooked: HookedTurn, path: string): Promise<StepOutcome | undefined> {
  const { run, place, talk } = hooked;
  const { base, roundsLeft } = talk;
  // Source: chibi, whose loop this is; `call_user` is what a chat here is configured with.
  const text = `[reengaged (fuel: ${roundsLeft}/${place.step.maxRounds}) via call_user. call_user(<message>) to end turn.]`;
  talk.fallback = 'call_user';
  const before = toTurn(hooked);
  talk.model = undefined;
  const turn = {
    ...toTurn(hooked),
    prompt: text,
    system_prompt: base.system,
    tools: base.offered,
    options: base.options,
    messages: [...before.messages, completeMessage({ role: 'user', content: text })],
  };
  const promptLinks = run.links.filter(({ group }) => group.dialect.hearsOwnPrompts === true);
  const entry = await run.journal.step(`${path}/reprompt`, async () => {
    await tellAnswered(hooked);
    const moments = ['prompt', 'tool_list', 'request', 'loop'] as const;
    return Json.from(await fireMoments(hooked, { turn, moments, promptLinks }));
  });
  const kept = readKeptTurn(entry);
  forgetContext(run.session, kept.taken ?? []);
  const stopped = takeKept(hooked, kept);
  if (stopped !== undefined) return stopped;
  talk.asked = { prompt: kept.prompt, original: text };
  // What is withheld stays with the model, unless a hook has written the conversation anew.
  if (kept.isRewritten === true) talk.messages.splice(0, talk.messages.length, ...kept.messages);
  else talk.messages.push(completeMessage({ role: 'user', content: kept.prompt }));
  return undefined;
}
