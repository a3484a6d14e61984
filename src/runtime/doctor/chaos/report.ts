import type { SourceLocation } from '../../../base/yaml/problem.ts';

/** One filter, at one of its moments, with one fault in the place of its program. */
export interface ChaosCell {
  readonly hook: string;
  readonly dialect: string;
  /** The native phase or the dialect's own point. */
  readonly moment: string;
  readonly fault: string;
  /** Completes “the hook …”. */
  readonly title: string;
  /** The verdict of the whole chain. */
  readonly verdict: string;
  /** Whether the event was stopped: denied, its turn ended, or left to a person. */
  readonly isClosed: boolean;
  /** The documented rule by which the event passed; null when it was stopped, or when no rule lets it pass. */
  readonly rule: string | null;
  readonly ms: number;
}

/** A hook of the config at which there was nothing to prove, and why. */
export interface UntriedHook {
  readonly hook: string;
  readonly why: string;
  /** `never asked` by design; `unproven`: it could not be tried; `unreached`: no event of the config can be what it waits for. */
  readonly state: 'never asked' | 'unproven' | 'unreached';
}

/** What a trial of every filter of a config has shown. */
export interface ChaosReport {
  readonly config: string;
  readonly cells: readonly ChaosCell[];
  /** The faults of the cells. */
  readonly faults: readonly { readonly name: string; readonly title: string }[];
  readonly untried: readonly UntriedHook[];
  /** Where each hook that was tried is declared. */
  readonly places: ReadonlyMap<string, SourceLocation>;
  readonly ms: number;
}
