import { Json } from '../json.ts';
import { completeMessage } from './message.ts';
import type { StepOutcome } from './step-outcome.ts';
import { visible } from './talk.ts';
import { askTurn, type HookedTurn, stoppedBy, stopTurn, toTurn } from './turn-hooks.ts';
import type { Stopped } from './turn-record.ts';

/**
 * Lets the turn go on with a message of its own. Hooks that see such messages like a person's are asked first; gives
 * the outcome of a turn that one of them stopped.
 */
export async function reprompt(
  hooked: HookedTurn,
  path: string,
  text: string,
): Promise<StepOutcome | undefined> {
  const { run, talk } = hooked;
  const links = run.links.filter(({ group }) => group.dialect.hearsOwnPrompts === true);
  let prompt = text;
  if (links.length > 0) {
    const turn = { ...toTurn(hooked), prompt: text };
    const messages = [...visible(talk), completeMessage({ role: 'user', content: text })];
    const event = { hook: 'turn', phase: 'prompt', turn: { ...turn, messages } } as const;
    const entry = await run.journal.step(`${path}/prompt`, async () => {
      const { decision, event: passed } = await askTurn(hooked, event, links);
      const left = passed.phase === 'prompt' ? passed.turn.prompt : text;
      return Json.from({ stopped: stoppedBy(decision), prompt: [...decision.context, left].join('\n') });
    });
    // What this function wrote.
    const kept = entry.value as { readonly stopped?: Stopped; readonly prompt: string };
    if (kept.stopped !== undefined) return stopTurn(hooked, kept.stopped);
    prompt = kept.prompt;
  }
  talk.messages.push(completeMessage({ role: 'user', content: prompt }));
  return undefined;
}
