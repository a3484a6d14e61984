import type { NewResult } from './new-result.ts';
import type { Announce } from './shared-work.ts';
import type { Claim } from './store.ts';

/** A part of a dataset that one worker judges at a time. Texts are JSON that the store does not read. */
export interface NewChunk {
  /** From 1, in the order of the dataset. */
  readonly number: number;
  /** How many rows it has, as far as that is known without reading it as rows. */
  readonly rows: number;
  /** Where it is. */
  readonly place: string;
}

/** How far the chunks of a run are. */
export interface ChunkProgress {
  readonly chunks: number;
  readonly done: number;
  /** Of the chunks that are done, and of all that are known. */
  readonly doneRows: number;
  readonly rows: number;
  /** The chunk that has failed most often, and why it did the last time. */
  readonly worst:
    | { readonly number: number; readonly failures: number; readonly failure: string }
    | undefined;
}

/** A chunk that is worked on here. */
export interface ChunkClaim extends Claim {
  readonly place: string;
  /** What all chunks of the run are judged with. */
  readonly work: string;
  /** Keeps the results and the tally together, or, when the claim is lost, nothing: false then. */
  end(records: readonly NewResult[], tally: string): Promise<boolean>;
  /** Counts a failure, in words, of whoever tried. */
  fail(failure: string): Promise<void>;
}

/** Runs of suites that many workers share. All reject with STORE_FAILED. */
export interface SuiteChunks {
  /** Who is told of chunks, from now on. */
  announceBy(announce: Announce): void;
  /** Makes the run one of workers with that build, if it is none yet. */
  share(runId: string, shared: { readonly build: string; readonly work: string }): Promise<void>;
  /** Adds chunks, those that are there already left as they are, and tells workers of them. */
  add(runId: string, chunks: readonly NewChunk[]): Promise<void>;
  progress(runId: string): Promise<ChunkProgress>;
  /** Tells workers again of chunks on which nobody works; how many. */
  announceIdle(runId: string): Promise<number>;
  /** The tallies of the chunks that are done, read lazily. */
  tallies(runId: string): AsyncIterable<string>;
  /** Undefined when it is done, held by another, of a run that does not go on, or not there. */
  claim(runId: string, number: number): Promise<ChunkClaim | undefined>;
}
