import type { Timing } from '../../base/time/stopwatch.ts';
import type { Answer, Decision, HookEvent, HookKind, Phase } from '../../contract/hook.ts';
import type { HookContext } from '../../contract/turn.ts';
import type { FilterPort } from '../capability/hook.ts';
import type { Group } from './group.ts';
import type { EventCheck } from './hook-chain.ts';
import type { EventMatch } from './match.ts';
import type { ObserverQueue } from './observer-queue.ts';

/** A native hook as one link of the chain. */
export interface NativeLink {
  readonly name: string;
  readonly dialect: string;
  readonly kind: HookKind;
  readonly phases: readonly Phase[];
  /** Which events of these it hears of; absent: all. */
  readonly matches?: EventMatch | undefined;
  readonly listener: FilterLink['listener'] | FollowerLink['listener'];
}

/** A native hook that is asked and obeyed. */
export interface FilterLink extends NativeLink {
  readonly listener: { readonly mode: 'filter'; readonly port: FilterPort };
}

/** A native hook that nobody waits for. */
export interface FollowerLink extends NativeLink {
  readonly listener:
    | { readonly mode: 'observe'; readonly follower: ObserverQueue }
    | { readonly mode: 'shadow'; readonly follower: ObserverQueue; readonly port: FilterPort };
}

/** Filters that leave the event as it is, so that none of them need wait for another, and whoever is told of it between them. */
export interface FilterBatch {
  readonly batch: readonly (FilterLink | FollowerLink)[];
}

/** All hooks of one foreign dialect as one link of the chain. */
export interface ForeignLink {
  readonly group: Group;
}

export type Link = NativeLink | ForeignLink;

export interface GateOptions {
  readonly call: string;
  readonly signal?: AbortSignal | undefined;
  /** The session and turn in which the event happens. */
  readonly hookContext?: HookContext | undefined;
  /** Says what is wrong with an event that a filter has changed; undefined when nothing is. */
  readonly check?: EventCheck | undefined;
  /**
   * Whether a person has approved this hook's question about the event as it is; the hook then counts as
   * allowing.
   */
  readonly isApproved?: ((hook: string, event: HookEvent) => boolean) | undefined;
  /**
   * Called with a filter's question first, since hooks may answer in a person's place. A modify, or an
   * allow with a hook, answers the question; deny and abort stop the event; anything else leaves the
   * question to a person.
   */
  readonly onAsk?: ((asked: FilterQuestion) => Promise<Decision>) | undefined;
  /** Skips observers and shadows, which get the event another time. */
  readonly filtersOnly?: boolean | undefined;
  /** Called with the name of each hook that is asked or notified. */
  readonly onHear?: ((hook: string) => void) | undefined;
  /** Called with each filter's verdict and how long it took. */
  readonly onAnswer?: ((hook: string, verdict: Answer['verdict'], took: Timing) => void) | undefined;
}

/** A filter's question. */
interface FilterQuestion {
  readonly hook: string;
  readonly reason: string;
  /** The event as the filters before left it. */
  readonly event: HookEvent;
}
