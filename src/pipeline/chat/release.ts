import { type HookedTurn, sceneOf, toTurn } from './turn-hooks.ts';

/**
 * Whether a streamed answer may still be withheld when it is complete, by a guardrail or by a hook of the turn's end: it
 * is then told of in one piece, when it has passed.
 */
export function isReleasedLate(turn: HookedTurn): boolean {
  const { stream, guardrails } = turn.place.step;
  if (stream === undefined) return false;
  return guardrails.some(({ action }) => action === 'enforce') || isAskedAtEnd(turn);
}

function isAskedAtEnd(turn: HookedTurn): boolean {
  const { links } = turn.run;
  if (links.length === 0) return false;
  const scene = sceneOf(turn);
  const about = { hook: 'turn', phase: 'stop', response: '', end: 'final_response' } as const;
  const event = { ...about, turn: toTurn(turn) };
  return links.some(({ group: { dialect, members } }) =>
    dialect.pointsAt(event).some((point) => {
      if (dialect.points[point]?.isAsked !== true) return false;
      const question = { point, payload: dialect.describe(point, event, scene), scene };
      return members.some(
        ({ seat }) => dialect.selects(seat, question) && !dialect.isBackground(seat, point),
      );
    }),
  );
}
