import type { DecisionTime } from './inbound.ts';

/** The limit of a system for its hook, and the option by which the hook answers before it: what is cut off could pass. */
export function toTimeLimit({ holdMs }: DecisionTime): {
  readonly seconds: number;
  readonly option: readonly string[];
} {
  const seconds = Math.max(USUAL_SECONDS, Math.ceil(holdMs / 1000) + HOOKS_SECONDS);
  return { seconds, option: ['--answer-within', `${seconds - MARGIN_SECONDS}s`] };
}

const USUAL_SECONDS = 600;

/** What hooks may take beside the person. */
const HOOKS_SECONDS = 120;

const MARGIN_SECONDS = 10;
