import type { Breaker } from '../../models/fallback/breaker.ts';
import type { OfferedModel } from '../upstream/upstream.ts';

/** An upstream whose turn it is to answer a call. */
export interface Turn {
  readonly offered: OfferedModel;
  /** Whether it stands in for the one that the model is offered from. */
  readonly isFallback: boolean;
  /** Whether somebody is asked after it; undefined: it is the only one of its model. */
  readonly hasNext: boolean | undefined;
}

/** What a gateway knows of its upstreams' faults, and whom it tells. */
export interface FallbackWatch {
  readonly breaker: Breaker;
  /** Called when a provider has failed and the next one is about to be asked; `why` quotes nothing of an answer. */
  readonly onFallback: (from: string, to: string, why: string) => void;
  /** Called when a provider is left out from now on. */
  readonly onOpen: (id: string) => void;
}
