import type { FilterPort } from '../capability/hook.ts';
import type { Answer, Decision, HookEvent, HookKind, Phase } from '../contract/hook.ts';
import type { Scene } from '../contract/turn.ts';
import type { Took } from '../time/stopwatch.ts';
import type { Check } from './chain.ts';
import type { Group } from './group.ts';
import type { Follower } from './observer-queue.ts';

/** A native hook in its place in the chain. */
export interface NativeLink {
  readonly name: string;
  readonly dialect: string;
  readonly kind: HookKind;
  readonly phases: readonly Phase[];
  readonly listener:
    | { readonly mode: 'filter'; readonly port: FilterPort }
    | { readonly mode: 'observe'; readonly follower: Follower }
    | { readonly mode: 'shadow'; readonly follower: Follower; readonly port: FilterPort };
}

/** Hooks of one foreign dialect in their place: together one link of the chain. */
export interface ForeignLink {
  readonly group: Group;
}

export type Link = NativeLink | ForeignLink;

export interface Passage {
  readonly call: string;
  readonly signal?: AbortSignal | undefined;
  /** Where the event happens. */
  readonly scene?: Scene | undefined;
  /** Says what is wrong with an event that a filter has changed; undefined when nothing is. */
  readonly check?: Check | undefined;
  /** Whether a person has answered this hook's question about the event as it stands: it then counts as allowed. */
  readonly hasConsent?: ((hook: string, event: HookEvent) => boolean) | undefined;
  /**
   * Told what a filter asks, before anybody else is: hooks may answer in a person's place. A decision of allow that
   * names its hook, and a modify, answer it; deny and abort stop the event; anything else leaves it asked.
   */
  readonly onAsk?: ((asked: Asked) => Promise<Decision>) | undefined;
  /** Leaves observers and shadows out, which hear of the event another time. */
  readonly filtersOnly?: boolean | undefined;
  /** Told of each hook that is asked or told. */
  readonly onHear?: ((hook: string) => void) | undefined;
  /** Told what each filter answered, and how long it took. */
  readonly onAnswer?: ((hook: string, verdict: Answer['verdict'], took: Took) => void) | undefined;
}

/** A filter's question. */
export interface Asked {
  readonly hook: string;
  readonly reason: string;
  /** As the filters before have left it. */
  readonly event: HookEvent;
}
